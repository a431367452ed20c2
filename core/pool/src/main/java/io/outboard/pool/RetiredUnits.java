package io.outboard.pool;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import java.util.Objects;

/**
 * Units of a region's free blocks, retired so that nobody is handed them while the source takes the memory away that is behind
 * them. Then those without memory are holes, and the others are free again: which ones is the region's word, whatever failed.
 *
 * <p>{@link #add} and {@link #settle} need the main lane's lock; the source is called without it.
 */
final class RetiredUnits {

    private final Part region;
    private final GrowableRegion growable;

    /** What names the retired blocks. */
    private final long[] blocks;

    /** Where they are: the strategy isn't asked without the lock. */
    private final long[] addresses;

    private int count;

    /**
     * There is room for all from the first.
     *
     * @param most no more than so many, and no more than holes may be
     * @param filled holes that aren't any more then
     */
    RetiredUnits(final Part region, final long most, final int filled) {
        this.region = region;
        growable = Objects.requireNonNull(region.growable);
        final int room = (int) Math.min(most, region.holes.room(filled));
        blocks = new long[room];
        addresses = new long[room];
    }

    /** Retires units that have memory until there are as many as there is room for; none of {@code spared}. How many there are. */
    int add(final Region spared) {
        final long unitBytes = growable.unitBytes();
        region.strategy.retireFree(
                unitBytes,
                (blocks.length - count) * unitBytes,
                new Region(region.taken.address(), growable.endBytes()),
                spared,
                block -> blocks[count++] = block);
        for (int i = 0; i < count; i++) {
            addresses[i] = region.strategy.retiredAddress(blocks[i]);
        }
        return count;
    }

    int count() {
        return count;
    }

    long[] addresses() {
        return addresses;
    }

    private void addHole(final int i) {
        try {
            region.holes.add(addresses[i], blocks[i]);
        } catch (final OutOfMemoryError ignored) {
            // These addresses are never used again: there are others, and no memory is lost.
        }
    }

    /** How many have no memory any more. */
    int settle() {
        int taken = 0;
        for (int i = 0; i < count; i++) {
            if (growable.hasMemory(addresses[i])) {
                region.strategy.release(blocks[i]);
            } else {
                taken++;
                addHole(i);
            }
        }
        count = 0;
        return taken;
    }
}
