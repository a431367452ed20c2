package io.outboard.bench.cli.picture;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import java.util.Arrays;

/**
 * A picture holds where a strategy put the blocks of a trace. For each block it has the operations between which the
 * block was in use, its place, and who allocated it; for some moments it has what was free. Its peak is the moment at
 * which the blocks in use take most memory.
 *
 * <p>Thread-safety: confined to one thread. Cost: 20 host bytes a block; a pass over the trace, in which the strategy
 * is asked for its largest free block at most {@value #MOST_MOMENTS} times.
 */
public final class Picture {

    static final int MOST_MOMENTS = 1000;

    /** The limit of a region, so that offsets in granules fit 32 bits. */
    private static final long MOST_REGION_BYTES = 1L << 40;

    private static final int NONE = -1;

    final Trace trace;
    final String strategy;
    final long granuleBytes;
    final long regionBytes;

    /**
     * For each block: the operation that allocated it; the operation that freed it, or the number of operations; its
     * offset and its size in granules.
     */
    final int[] starts;

    final int[] ends;
    final int[] offsets;
    final int[] sizes;

    /** For each block: who allocated it, as an index in the table of those known. */
    final int[] owners;

    final Owners known;

    /** For each operation the nanoseconds since the first one; empty if the file has no times. */
    final long[] nanos;

    /** The first operation after which the blocks in use take most memory, and how much. */
    final int peak;

    final long peakBytes;

    /** The number of allocations that found no memory. */
    final long failures;

    /** For each moment: the operation before it, the free bytes, and the bytes of the largest free block. */
    final double[] moments;

    final double[] free;
    final double[] largestFree;

    /**
     * Replays a trace once.
     *
     * @param trace the trace
     * @param owners who made its allocations, as far as that is known
     * @param provider makes the strategy
     * @param options of the strategy
     * @param regionBytes size of the region, {@code 0 < regionBytes}
     * @throws WrongUseException if the strategy can't divide such a region
     */
    public Picture(
            final Trace trace,
            final Owners owners,
            final StrategyProvider provider,
            final StrategyOptions options,
            final long regionBytes) {
        if (regionBytes > MOST_REGION_BYTES) {
            throw new WrongUseException("--region=" + regionBytes + " must be <= 1TiB, as far as a picture reaches");
        }
        this.trace = trace;
        this.regionBytes = regionBytes;
        strategy = provider.name();
        granuleBytes = options.granuleBytes();
        final Region region = VirtualMemorySource.region(regionBytes);
        final Strategy target = create(provider, region, options);
        final long[] operations = trace.operations();
        final int most = (int) Arrays.stream(operations)
                .filter(operation -> !Trace.isFree(operation))
                .count();
        final int[] started = new int[most];
        final int[] ended = new int[most];
        final int[] placed = new int[most];
        final int[] sized = new int[most];
        final int[] owned = new int[most];
        final int[] blockOf = new int[trace.slots()];
        Arrays.fill(blockOf, NONE);
        final int every = (operations.length + MOST_MOMENTS - 1) / MOST_MOMENTS;
        final int count = operations.length / every;
        moments = new double[count];
        free = new double[count];
        largestFree = new double[count];
        int blocks = 0;
        int allocations = 0;
        long used = 0;
        long mostUsed = 0;
        int mostUsedAt = 0;
        for (int i = 0; i < operations.length; i++) {
            final int slot = Trace.slot(operations[i]);
            if (!Trace.isFree(operations[i])) {
                final long address = target.allocate(Trace.bytes(operations[i]));
                blockOf[slot] = NONE;
                if (address != Strategy.NO_SPACE) {
                    started[blocks] = i;
                    ended[blocks] = operations.length;
                    placed[blocks] = (int) ((address - region.address()) / granuleBytes);
                    sized[blocks] = (int) (target.sizeOf(address) / granuleBytes);
                    owned[blocks] = owners.owner(allocations);
                    used += sized[blocks];
                    blockOf[slot] = blocks++;
                }
                allocations++;
            } else if (blockOf[slot] != NONE) {
                ended[blockOf[slot]] = i;
                used -= sized[blockOf[slot]];
                target.free(region.address() + (placed[blockOf[slot]] & 0xFFFFFFFFL) * granuleBytes);
            }
            if (used > mostUsed) {
                mostUsed = used;
                mostUsedAt = i;
            }
            if ((i + 1) % every == 0 && i / every < count) {
                moments[i / every] = i;
                free[i / every] = target.freeBytes();
                largestFree[i / every] = Statistics.of(target).largestFreeBlockBytes();
            }
        }
        failures = (long) most - blocks;
        starts = Arrays.copyOf(started, blocks);
        ends = Arrays.copyOf(ended, blocks);
        offsets = Arrays.copyOf(placed, blocks);
        sizes = Arrays.copyOf(sized, blocks);
        this.owners = Arrays.copyOf(owned, blocks);
        known = owners;
        nanos = owners.nanos();
        peak = mostUsedAt;
        peakBytes = mostUsed * granuleBytes;
    }

    private static Strategy create(
            final StrategyProvider provider, final Region region, final StrategyOptions options) {
        try {
            return provider.create(region, options);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(
                    "--region=" + region.sizeBytes() + " must suit " + provider.name() + ": " + e.getMessage());
        }
    }
}
