package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * A thread's blocks lie in numbered slots, and are replaced by its random choices. Confined to one thread at a time.
 */
final class Slots {

    private final long[] addresses;
    private final Draws draws;

    Slots(final ThreadSettings settings, final int seed) {
        addresses = new long[settings.liveBlocks()];
        draws = new Draws(settings, addresses.length, seed + 1L);
    }

    /**
     * Frees the block in a random slot, if there is one, and allocates into the slot; repeats this {@code times} times.
     *
     * @return operations
     */
    long replace(final Blocks blocks, final int times) {
        long operations = 0;
        for (int i = 0; i < times; i++) {
            final long draw = draws.next();
            final int slot = Draws.slot(draw);
            final long old = addresses[slot];
            if (old != Blocks.NO_BLOCK) {
                // The slot is emptied before the free: if the free throws, nobody frees the block a second time.
                addresses[slot] = Blocks.NO_BLOCK;
                blocks.free(old);
                operations++;
            }
            addresses[slot] = blocks.allocate(Draws.bytes(draw));
            operations++;
        }
        return operations;
    }

    void forEachLeft(final LongConsumer address) {
        for (final long left : addresses) {
            if (left != Blocks.NO_BLOCK) {
                address.accept(left);
            }
        }
        Arrays.fill(addresses, Blocks.NO_BLOCK);
    }
}
