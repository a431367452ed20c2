package examples;

import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;

/** This program uses a pool. Packages of this project never come first in a leak's stack, so it is in another. */
public final class Program {

    private Program() {}

    public static DeviceBuffer buffer(final Pool pool, final long sizeBytes) {
        return pool.buffer(sizeBytes);
    }

    /** Returns the address and loses the buffer. */
    public static long address(final DeviceBuffer buffer) {
        return buffer.address();
    }
}
