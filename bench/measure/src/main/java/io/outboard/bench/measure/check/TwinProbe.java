package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.core.BlockTableFullException;
import io.outboard.core.HandleStrategy;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;

/**
 * The probe does the same operations on a strategy in which nothing is in use any more and on a new one: all answers
 * have to be the same. Confined to one thread.
 */
final class TwinProbe {

    private static final int BLOCKS = 64;
    private static final long FULL = -2;

    private final Strategy old;
    private final Strategy fresh;
    private final Load load;
    private final SplitMix64 random;
    private final long granuleBytes;

    private final long[] addresses = new long[BLOCKS];
    private int count;

    TwinProbe(final Strategy old, final Strategy fresh, final Load load, final SplitMix64 random) {
        this.old = old;
        this.fresh = fresh;
        this.load = load;
        this.random = random;
        granuleBytes = old.granuleBytes();
    }

    /** Runs the operations, and throws if the two differ; nothing is in use afterwards. */
    void run(final int operations) {
        for (int i = 0; i < operations; i++) {
            if (count == 0 || (count < BLOCKS && random.below(5) < 3)) {
                allocate();
            } else {
                change((int) random.below(count), (int) random.below(8));
            }
        }
        while (count > 0) {
            free((int) random.below(count));
        }
        compare("freeBytes", old.freeBytes(), fresh.freeBytes());
        compare(
                "largestFreeBlockBytes",
                Statistics.of(old).largestFreeBlockBytes(),
                Statistics.of(fresh).largestFreeBlockBytes());
    }

    /** Allocates a block, sometimes by handle. The blocks' addresses have to be the same; their handles may differ. */
    private void allocate() {
        final long sizeBytes = load.sizeBytes(granuleBytes);
        final long alignmentBytes = random.below(4) == 0 ? load.alignmentBytes(granuleBytes) : 1;
        final boolean byHandle = alignmentBytes == 1 && random.below(2) == 0;
        final long address = byHandle ? allocateByHandle(old, sizeBytes) : allocate(old, sizeBytes, alignmentBytes);
        compare(
                "allocate",
                address,
                byHandle ? allocateByHandle(fresh, sizeBytes) : allocate(fresh, sizeBytes, alignmentBytes));
        if (address >= 0) {
            addresses[count++] = address;
        }
    }

    private static long allocate(final Strategy strategy, final long sizeBytes, final long alignmentBytes) {
        try {
            return strategy.allocate(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException full) {
            return FULL;
        }
    }

    /** Allocates by handle, or by address if the strategy has no handles. */
    private static long allocateByHandle(final Strategy strategy, final long sizeBytes) {
        if (!(strategy instanceof HandleStrategy handles)) {
            return allocate(strategy, sizeBytes, 1);
        }
        try {
            final long handle = handles.allocateByHandle(sizeBytes);
            return handle == Strategy.NO_SPACE ? Strategy.NO_SPACE : handles.nameByAddress(handle);
        } catch (final BlockTableFullException full) {
            return FULL;
        }
    }

    private void change(final int index, final int kind) {
        final long address = addresses[index];
        final long sizeBytes = old.sizeOf(address);
        compare("sizeOf", sizeBytes, fresh.sizeOf(address));
        switch (kind) {
            case 0 -> {
                final long newSizeBytes = 1 + random.below(sizeBytes);
                compare("trim", trim(old, address, newSizeBytes), trim(fresh, address, newSizeBytes));
            }
            case 1 -> {
                final long newSizeBytes = sizeBytes + granuleBytes;
                compare(
                        "extend",
                        old.extend(address, newSizeBytes) ? 1 : 0,
                        fresh.extend(address, newSizeBytes) ? 1 : 0);
            }
            case 2 -> {
                drop(index);
                compare("release", old.release(old.retire(address)), fresh.release(fresh.retire(address)));
            }
            case 3 -> {
                drop(index);
                freeByHandle(old, address);
                freeByHandle(fresh, address);
            }
            default -> free(index);
        }
    }

    private static void freeByHandle(final Strategy strategy, final long address) {
        if (strategy instanceof HandleStrategy handles) {
            handles.freeByHandle(handles.nameByHandle(address));
        } else {
            strategy.free(address);
        }
    }

    private static long trim(final Strategy strategy, final long address, final long newSizeBytes) {
        try {
            strategy.trim(address, newSizeBytes);
            return strategy.sizeOf(address);
        } catch (final BlockTableFullException full) {
            return FULL;
        }
    }

    private void free(final int index) {
        final long address = drop(index);
        old.free(address);
        fresh.free(address);
    }

    private long drop(final int index) {
        final long address = addresses[index];
        addresses[index] = addresses[--count];
        return address;
    }

    private static void compare(final String what, final long ofOld, final long ofFresh) {
        if (ofOld != ofFresh) {
            throw new ViolationException(what + " answers " + ofOld
                    + " though nothing was in use before, where a new strategy answers " + ofFresh);
        }
    }
}
