package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.trace.Trace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A deviation is a way in which a step differs from the recorded one. Some blocks are drawn at random, and each of
 * these deviates. Safe for any number of threads.
 */
enum Deviation {
    AS_RECORDED("as recorded", 0),
    ONE_LARGER("one block 2 % larger", 0, Kind.LARGER),
    ONE_EXTRA("one block of 4 KiB more", 0, Kind.EXTRA),
    ONE_MISSING("one block missing", 0, Kind.MISSING),
    TENTH_LARGER("a tenth: 2 % larger", 0.1, Kind.LARGER),
    TENTH_EXTRA("a tenth: 4 KiB more", 0.1, Kind.EXTRA),
    TENTH_MISSING("a tenth: missing", 0.1, Kind.MISSING),
    TENTH_MIXED("a tenth: one of these", 0.1, Kind.LARGER, Kind.EXTRA, Kind.MISSING),
    TENTH_RESIZED("a tenth: half to double", 0.1, Kind.RESIZED),
    HALF_RESIZED("half: half to double", 0.5, Kind.RESIZED);

    /** What happens to a block. */
    private enum Kind {
        LARGER,
        EXTRA,
        MISSING,
        RESIZED
    }

    private static final long EXTRA_BYTES = 4096;

    /** The part of a block by which it is larger: 2 %. */
    private static final long LARGER_PART = 50;

    private final String text;
    private final double share;

    /** A list that nobody can change, which its type doesn't tell. */
    @SuppressWarnings("ImmutableEnumChecker")
    private final List<Kind> kinds;

    /** Makes a deviation of a share of the blocks, but of one at least. Without kinds nothing deviates. */
    Deviation(final String text, final double share, final Kind... kinds) {
        this.text = text;
        this.share = share;
        this.kinds = List.of(kinds);
    }

    /** Returns what deviates, for a person. */
    String text() {
        return text;
    }

    /** Makes a step that deviates from the recorded one. Blocks that are more live until a random operation. */
    Trace of(final Trace step, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final @Nullable Kind[] drawn = draw(step, random);
        final long[] operations = step.operations();
        final long[] bytesInSlot = new long[step.slots()];
        final Map<Integer, List<Integer>> extraSlotsByEnd = new HashMap<>();
        final List<Long> made = new ArrayList<>();
        int block = 0;
        int slots = step.slots();
        for (int i = 0; i < operations.length; i++) {
            for (final int slot : extraSlotsByEnd.getOrDefault(i, List.of())) {
                made.add(Trace.free(slot, EXTRA_BYTES));
            }
            final int slot = Trace.slot(operations[i]);
            if (Trace.isFree(operations[i])) {
                if (bytesInSlot[slot] != 0) {
                    made.add(Trace.free(slot, bytesInSlot[slot]));
                }
                continue;
            }
            final @Nullable Kind kind = drawn[block++];
            if (kind == Kind.EXTRA) {
                extraSlotsByEnd
                        .computeIfAbsent(i + 1 + random.nextInt(operations.length - i), end -> new ArrayList<>())
                        .add(slots);
                made.add(Trace.allocation(slots++, EXTRA_BYTES));
            }
            bytesInSlot[slot] = deviating(kind, Trace.bytes(operations[i]), random);
            if (bytesInSlot[slot] != 0) {
                made.add(Trace.allocation(slot, bytesInSlot[slot]));
            }
        }
        return new Trace(
                step.name(),
                slots,
                step.regionBytes(),
                made.stream().mapToLong(Long::longValue).toArray());
    }

    /** Returns the size of a block; 0 if it is missing. */
    private static long deviating(final @Nullable Kind kind, final long bytes, final SplittableRandom random) {
        if (kind == Kind.LARGER) {
            return bytes + (bytes + LARGER_PART - 1) / LARGER_PART;
        }
        if (kind == Kind.RESIZED) {
            return Math.max(1, (long) (bytes * (0.5 + 1.5 * random.nextDouble())));
        }
        return kind == Kind.MISSING ? 0 : bytes;
    }

    /** Draws what happens to each block of a step, null for nothing. */
    private @Nullable Kind[] draw(final Trace step, final SplittableRandom random) {
        final int blocks = (int) Arrays.stream(step.operations())
                .filter(operation -> !Trace.isFree(operation))
                .count();
        final @Nullable Kind[] drawn = new @Nullable Kind[blocks];
        int left = kinds.isEmpty() ? 0 : Math.max(1, (int) (share * blocks));
        while (left > 0) {
            final int block = random.nextInt(blocks);
            if (drawn[block] == null) {
                drawn[block] = kinds.get(left % kinds.size());
                left--;
            }
        }
        return drawn;
    }
}
