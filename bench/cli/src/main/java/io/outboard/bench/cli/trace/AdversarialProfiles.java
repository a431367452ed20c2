package io.outboard.bench.cli.trace;

import java.util.List;
import java.util.function.LongSupplier;

/**
 * This class generates five traces, each of which is as bad as possible for one thing that strategies do. The table of
 * {@link Profiles} has their parameters; here are the reasons.
 *
 * <ul>
 *   <li>{@code fragmenting} leaves 50,000 holes that can't merge, all of sizes that a two-level allocator keeps in one
 *       list. Then it requests a granule less than the smallest hole, or a granule more than the largest. For the
 *       latter size, the list is long and holds nothing that fits.
 *   <li>{@code sawtooth} fills 10,000 slots and empties all but 16 of them in random order, again and again: all free
 *       blocks merge, and are divided anew.
 *   <li>{@code two-sizes} has 10,000 holes of two sizes that can't merge, and requests 10,000 blocks of the smaller
 *       size, then of the larger, in turn. A smaller hole is too small for the larger size, and what the smaller size
 *       leaves of a larger hole is a granule too small for either. So half of the holes are of no use in each turn.
 *   <li>{@code list-borders} only has sizes at which a list of a two-level allocator begins, and sizes a granule below
 *       and above: an error by one in rounding a size up or down shows here.
 *   <li>{@code equal-hashes} frees and allocates 1024 blocks whose offsets, multiplied by the golden ratio, have equal
 *       low bits; the golden ratio is the usual multiplier of hash tables. Each time it takes the block that is the
 *       oldest, which would be the last of its slot's chain. The block table ({@code io.outboard.tlsf.BlockTable})
 *       draws half of its multiplier at random, so these blocks don't share a slot there. The trace works for
 *       strategies that place blocks one behind the other in a new region, which all but buddies do.
 * </ul>
 *
 * <p>Granules here are the default's 256 bytes. Thread-safety: safe for any number of threads.
 */
final class AdversarialProfiles {

    static final List<String> NAMES = List.of("fragmenting", "sawtooth", "two-sizes", "list-borders", "equal-hashes");

    private static final long GRANULE = 256;

    /**
     * The size of separators and targets, which is more than {@code pooled} serves from slabs; separators in slabs
     * would separate nothing.
     */
    private static final long SMALL = 32 * GRANULE;

    private static final int HOLES = 50_000;

    /**
     * The least hole, at which a list 32 granules wide begins: holes have from 1024 to 1054 granules, requests 1023 or
     * 1055.
     */
    private static final long LEAST_HOLE = 1024;

    private static final long LARGEST_HOLE = 1054;
    private static final int PROBES = 1_000;

    private static final int TOOTH = 10_000;
    private static final int VALLEY = 16;

    private static final int TWO_SIZES = 10_000;
    private static final long SMALLER = 1024 * GRANULE;
    private static final long LARGER = 2 * SMALLER - GRANULE;

    private static final int BORDER_SLOTS = 10_000;

    /** The first list more than a granule wide begins at 64 granules; blocks have up to 4 MiB. */
    private static final int LEAST_BORDER_LOG2 = 6;

    private static final int MOST_BORDER_LOG2 = 13;
    private static final int LISTS_LOG2 = 5;

    private static final int EQUAL_HASHES = 1_024;

    /**
     * The number of equal bits. The table has up to four slots for each of the 2048 blocks, which take 13 bits; the
     * rest is for tables with more slots.
     */
    private static final int EQUAL_BITS = 15;

    private AdversarialProfiles() {}

    static Trace generate(final String name, final int operations, final int variant) {
        return switch (name) {
            case "fragmenting" -> fragmenting(operations, new SplitMix64(6L + variant));
            case "sawtooth" -> sawtooth(operations, new SplitMix64(7L + variant));
            case "two-sizes" -> twoSizes(operations, new SplitMix64(8L + variant));
            case "list-borders" -> listBorders(operations, new SplitMix64(9L + variant));
            default -> equalHashes(operations, new SplitMix64(10L + variant));
        };
    }

    /** Uses slots for the holes, for the blocks that separate them, and for the requests, in this order. */
    private static Trace fragmenting(final int operations, final SplitMix64 random) {
        final OperationList list = new OperationList(operations);
        final long[] liveBytes = new long[2 * HOLES + PROBES];
        for (int block = 0; block < 2 * HOLES && list.size() < operations; block++) {
            final int slot = block % 2 == 0 ? block / 2 : HOLES + block / 2;
            liveBytes[slot] = block % 2 == 0 ? GRANULE * random.uniform(LEAST_HOLE, LARGEST_HOLE) : SMALL;
            list.add(Trace.allocation(slot, liveBytes[slot]));
        }
        for (int hole = 0; hole < HOLES && list.size() < operations; hole++) {
            list.add(Trace.free(hole, liveBytes[hole]));
        }
        while (list.size() < operations) {
            final int slot = 2 * HOLES + (int) random.below(PROBES);
            if (liveBytes[slot] == 0) {
                liveBytes[slot] = GRANULE * (random.below(2) == 0 ? LEAST_HOLE - 1 : LARGEST_HOLE + 1);
                list.add(Trace.allocation(slot, liveBytes[slot]));
            } else {
                list.add(Trace.free(slot, liveBytes[slot]));
                liveBytes[slot] = 0;
            }
        }
        return new Trace("fragmenting", liveBytes.length, Profiles.REGION_BYTES, list.toArray());
    }

    private static Trace sawtooth(final int operations, final SplitMix64 random) {
        final OperationList list = new OperationList(operations);
        final long[] liveBytes = new long[TOOTH];
        // The slots from index full on are empty, in the order in which they were freed.
        final int[] order = new int[TOOTH];
        for (int slot = 0; slot < TOOTH; slot++) {
            order[slot] = slot;
        }
        int full = 0;
        while (list.size() < operations) {
            for (; full < TOOTH && list.size() < operations; full++) {
                final int slot = order[full];
                liveBytes[slot] = random.logUniform(8, 22);
                list.add(Trace.allocation(slot, liveBytes[slot]));
            }
            while (full > VALLEY && list.size() < operations) {
                final int drawn = (int) random.below(full);
                final int slot = order[drawn];
                order[drawn] = order[--full];
                order[full] = slot;
                list.add(Trace.free(slot, liveBytes[slot]));
            }
        }
        return new Trace("sawtooth", TOOTH, Profiles.REGION_BYTES, list.toArray());
    }

    /** Uses slots for the holes, for the blocks that separate them, and for the requests of a turn, in this order. */
    private static Trace twoSizes(final int operations, final SplitMix64 random) {
        final OperationList list = new OperationList(operations);
        final long[] holeBytes = new long[TWO_SIZES];
        for (int block = 0; block < 2 * TWO_SIZES && list.size() < operations; block++) {
            final int hole = block / 2;
            if (block % 2 == 0) {
                holeBytes[hole] = random.below(2) == 0 ? SMALLER : LARGER;
            }
            list.add(
                    block % 2 == 0
                            ? Trace.allocation(hole, holeBytes[hole])
                            : Trace.allocation(TWO_SIZES + hole, SMALL));
        }
        for (int hole = 0; hole < TWO_SIZES && list.size() < operations; hole++) {
            list.add(Trace.free(hole, holeBytes[hole]));
        }
        for (boolean larger = false; list.size() < operations; larger = !larger) {
            final long bytes = larger ? LARGER : SMALLER;
            for (int i = 0; i < TWO_SIZES && list.size() < operations; i++) {
                list.add(Trace.allocation(2 * TWO_SIZES + i, bytes));
            }
            final int first = (int) random.below(TWO_SIZES);
            for (int i = 0; i < TWO_SIZES && list.size() < operations; i++) {
                list.add(Trace.free(2 * TWO_SIZES + (first + i) % TWO_SIZES, bytes));
            }
        }
        return new Trace("two-sizes", 3 * TWO_SIZES, Profiles.REGION_BYTES, list.toArray());
    }

    private static Trace listBorders(final int operations, final SplitMix64 random) {
        final LongSupplier sizes = () -> {
            final int level = (int) random.uniform(LEAST_BORDER_LOG2, MOST_BORDER_LOG2);
            final long border = (1L << level) + (random.below(1 << LISTS_LOG2) << (level - LISTS_LOG2));
            return GRANULE * (border + random.uniform(-1, 1));
        };
        return Profiles.toggle("list-borders", BORDER_SLOTS, Profiles.REGION_BYTES, operations, random, sizes);
    }

    /**
     * Uses slots for the blocks with equal hashes, and for the blocks that fill the room between them, in this order. A
     * freed block leaves a hole of exactly its size between two blocks that stay, so it returns to its offset.
     */
    private static Trace equalHashes(final int operations, final SplitMix64 random) {
        final OperationList list = new OperationList(operations);
        final int wanted = (int) random.below(1 << EQUAL_BITS);
        long end = 0;
        for (int block = 0; block < EQUAL_HASHES && list.size() + 2 <= operations; block++) {
            long start = end + SMALL / GRANULE;
            while ((hash(start) & ((1 << EQUAL_BITS) - 1)) != wanted) {
                start++;
            }
            list.add(Trace.allocation(EQUAL_HASHES + block, GRANULE * (start - end)));
            list.add(Trace.allocation(block, SMALL));
            end = start + SMALL / GRANULE;
        }
        for (int block = 0; list.size() + 2 <= operations; block = (block + 1) % EQUAL_HASHES) {
            list.add(Trace.free(block, SMALL));
            list.add(Trace.allocation(block, SMALL));
        }
        return new Trace("equal-hashes", 2 * EQUAL_HASHES, Profiles.REGION_BYTES, list.toArray());
    }

    /** Returns the block table's hash if its multiplier were the golden ratio (Knuth, vol. 3, section 6.4). */
    static int hash(final long startGranules) {
        final int high = (int) ((startGranules * 0x9E3779B97F4A7C15L) >>> 32);
        return high ^ (high >>> 10) ^ (high >>> 20);
    }
}
