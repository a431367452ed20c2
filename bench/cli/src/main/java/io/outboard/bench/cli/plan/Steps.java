package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.tlsf.Plan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/** This class makes the step to plan out of recorded steps. Safe for any number of threads. */
final class Steps {

    /** The limit of the table of {@link #common}, a byte for four pairs of blocks: 64 MiB. */
    private static final long MOST_PAIRS = 1 << 28;

    private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})-([0-9]{1,9})");

    private Steps() {}

    /**
     * Makes a step of some operations of a trace. Blocks that were allocated before aren't part of the step.
     *
     * @param range the number of the first operation, a minus sign, and that of the operation behind the last
     * @throws WrongUseException if the range isn't one of the trace, or has no allocation
     */
    static Trace cut(final Trace trace, final String range) {
        final Matcher matcher = RANGE.matcher(range);
        if (!matcher.matches()
                || Integer.parseInt(matcher.group(1)) >= Integer.parseInt(matcher.group(2))
                || Integer.parseInt(matcher.group(2)) > trace.operationCount()) {
            throw new WrongUseException(
                    "--operations=" + range + " must be two numbers as in 0-100, the first less than"
                            + " the second, and that at most " + trace.operationCount());
        }
        final int from = Integer.parseInt(matcher.group(1));
        final int to = Integer.parseInt(matcher.group(2));
        final BitSet live = new BitSet();
        final LongStream.Builder kept = LongStream.builder();
        for (int i = from; i < to; i++) {
            final long operation = trace.operations()[i];
            final int slot = Trace.slot(operation);
            if (!Trace.isFree(operation) || live.get(slot)) {
                live.set(slot, !Trace.isFree(operation));
                kept.add(operation);
            }
        }
        final long[] operations = kept.build().toArray();
        if (operations.length == 0) {
            throw new WrongUseException("--operations=" + range + " must have an allocation");
        }
        return new Trace(trace.name() + " " + range, trace.slots(), trace.regionBytes(), operations);
    }

    /**
     * Makes a step whose plan has room for deviations: each block is larger by so many percent, rounded up to bytes,
     * and lives as long as its neighbours that fit its place. Where one block of several such in a row is missing, the
     * others get the places of those before them.
     */
    static Trace withSlack(final Trace step, final double percent, final long granuleBytes) {
        if (percent == 0) {
            return step;
        }
        final Blocks blocks = Blocks.of(step, granuleBytes);
        final int[] ends = blocks.ends.clone();
        final long[] bytes = new long[ends.length];
        for (int block = 0; block < ends.length; block++) {
            bytes[block] = blocks.bytes[block] + (long) Math.ceil(blocks.bytes[block] * percent / 100);
            if (block > 0 && Blocks.fit(blocks.bytes[block - 1], blocks.bytes[block], granuleBytes)) {
                ends[block - 1] = Math.max(ends[block - 1], blocks.ends[block]);
                ends[block] = Math.max(ends[block], blocks.ends[block - 1]);
            }
        }
        return new Blocks(bytes, ends).toTrace(step);
    }

    /**
     * Makes a step of the blocks that all steps have: the longest common subsequence of their allocations, where blocks
     * are equal that fit one place of a plan. Each block has its largest size, and its longest life.
     *
     * @throws WrongUseException if the steps have no block in common, or too many blocks
     */
    static Trace common(final List<Trace> steps, final long granuleBytes) {
        Blocks common = Blocks.of(steps.get(0), granuleBytes);
        for (final Trace step : steps.subList(1, steps.size())) {
            common = common.with(Blocks.of(step, granuleBytes), granuleBytes);
        }
        if (common.bytes.length == 0) {
            throw new WrongUseException("--common must go with steps that have blocks in common");
        }
        return common.toTrace(steps.get(0));
    }

    /** The blocks of a step in the order of their allocations. */
    private static final class Blocks {

        private final long[] bytes;

        /** For each: the number of the first block that is allocated after its life, or the number of all blocks. */
        private final int[] ends;

        private Blocks(final long[] bytes, final int[] ends) {
            this.bytes = bytes;
            this.ends = ends;
        }

        static Blocks of(final Trace step, final long granuleBytes) {
            final Lifetimes lifetimes = Lifetimes.of(step, granuleBytes);
            final long[] bytes = new long[lifetimes.count()];
            Arrays.setAll(bytes, lifetimes::bytes);
            final int[] ends = new int[lifetimes.count()];
            Arrays.setAll(ends, lifetimes::end);
            return new Blocks(bytes, ends);
        }

        Blocks with(final Blocks other, final long granuleBytes) {
            final List<int[]> pairs = pairs(other, granuleBytes);
            final long[] most = new long[pairs.size()];
            final int[] last = new int[pairs.size()];
            int[] behind = behind(pairs, 0, bytes.length);
            int[] otherBehind = behind(pairs, 1, other.bytes.length);
            for (int i = 0; i < most.length; i++) {
                final int[] pair = pairs.get(i);
                most[i] = Math.max(bytes[pair[0]], other.bytes[pair[1]]);
                last[i] = Math.max(behind[ends[pair[0]]], otherBehind[other.ends[pair[1]]]);
            }
            return new Blocks(most, last);
        }

        /** Returns for each block the number of the first pair that has it or a later one. */
        private static int[] behind(final List<int[]> pairs, final int side, final int count) {
            final int[] behind = new int[count + 1];
            int pair = 0;
            for (int block = 0; block <= count; block++) {
                while (pair < pairs.size() && pairs.get(pair)[side] < block) {
                    pair++;
                }
                behind[block] = pair;
            }
            return behind;
        }

        /** Returns the longest common subsequence as pairs of block numbers. */
        private List<int[]> pairs(final Blocks other, final long granuleBytes) {
            final int rows = bytes.length;
            final int columns = other.bytes.length;
            if ((long) rows * columns > MOST_PAIRS) {
                throw new WrongUseException("--common must go with steps of few blocks, at most 16384 each, not " + rows
                        + " and " + columns);
            }
            // For each pair: whether the longest subsequence of what begins there has it, or else leaves its row out.
            final BitSet taken = new BitSet(rows * columns);
            final BitSet skipsRow = new BitSet(rows * columns);
            int[] below = new int[columns + 1];
            for (int row = rows - 1; row >= 0; row--) {
                final int[] lengths = new int[columns + 1];
                for (int column = columns - 1; column >= 0; column--) {
                    final int at = row * columns + column;
                    if (fit(bytes[row], other.bytes[column], granuleBytes)) {
                        taken.set(at);
                        lengths[column] = below[column + 1] + 1;
                    } else {
                        skipsRow.set(at, below[column] >= lengths[column + 1]);
                        lengths[column] = Math.max(below[column], lengths[column + 1]);
                    }
                }
                below = lengths;
            }
            final List<int[]> pairs = new ArrayList<>();
            int row = 0;
            int column = 0;
            while (row < rows && column < columns) {
                final int at = row * columns + column;
                if (taken.get(at)) {
                    pairs.add(new int[] {row++, column++});
                } else if (skipsRow.get(at)) {
                    row++;
                } else {
                    column++;
                }
            }
            return pairs;
        }

        private static boolean fit(final long bytes, final long otherBytes, final long granuleBytes) {
            final long size = (bytes - 1) / granuleBytes + 1;
            final long other = (otherBytes - 1) / granuleBytes + 1;
            return Plan.fits(Math.min(size, other), Math.max(size, other));
        }

        Trace toTrace(final Trace like) {
            final LongStream.Builder operations = LongStream.builder();
            final List<List<Integer>> ending = new ArrayList<>();
            for (int i = 0; i <= bytes.length; i++) {
                ending.add(new ArrayList<>());
            }
            for (int block = 0; block < bytes.length; block++) {
                ending.get(block).forEach(ended -> operations.add(Trace.free(ended, bytes[ended])));
                operations.add(Trace.allocation(block, bytes[block]));
                ending.get(ends[block]).add(block);
            }
            ending.get(bytes.length).forEach(ended -> operations.add(Trace.free(ended, bytes[ended])));
            return new Trace(
                    like.name(),
                    bytes.length,
                    like.regionBytes(),
                    operations.build().toArray());
        }
    }
}
