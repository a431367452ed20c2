package io.outboard.core.spi;

import io.outboard.core.ByteSize;
import io.outboard.core.Strategy;

/**
 * This class has the text that {@code toString} of any strategy answers. It is public for strategies in other modules,
 * not for applications.
 */
public final class Descriptions {

    private Descriptions() {}

    /**
     * Writes a strategy as a person reads it. The call is confined to the strategy's thread.
     *
     * @param strategy any
     * @return one line, such as {@code TlsfStrategy[[0x10000000000..0x10004000000), 64MiB; in use 1MiB, free 63MiB,
     *     granule 256 bytes]}
     */
    public static String of(final Strategy strategy) {
        final long usableBytes = strategy.region().sizeBytes() & -strategy.granuleBytes();
        return strategy.getClass().getSimpleName() + "[" + strategy.region() + "; in use "
                + ByteSize.text(usableBytes - strategy.freeBytes()) + ", free " + ByteSize.text(strategy.freeBytes())
                + ", granule " + ByteSize.text(strategy.granuleBytes()) + "]";
    }
}
