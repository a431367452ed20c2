package io.outboard.tlsf;

/**
 * This class knows where in its plan a program is that deviates from it: how many requests were unexpected, and which
 * of the planned blocks it may have skipped.
 *
 * <p>A request that doesn't fit the plan's next block may be one more than planned, or be that of a later block, if
 * those between are missing. What follows tells: if the next block comes after all, nothing was missing. So the plan
 * goes on behind a block that was found only after as many requests in a row have been found there as its distance
 * asks for:
 *
 * <pre>
 *   found from the next block    requests in a row
 *   1 block away                 1
 *   {@value #NEAR} blocks away at most        2
 *   {@value #WINDOW} blocks away at most       4, of which the first is unexpected
 * </pre>
 *
 * <p>Blocks that were skipped are looked at, too, if they are as near: they may have been skipped wrongly.
 *
 * <p>Thread-safety: confined to one thread. Cost: up to {@value #WINDOW} records in each direction are looked at.
 */
final class PlanDeviations {

    /** How many blocks away a request is looked for. */
    private static final int WINDOW = 64;

    /** How many blocks away a request gets the place of the block that it fits at once. */
    private static final int NEAR = 4;

    private static final int FEW_IN_A_ROW = 2;
    private static final int MANY_IN_A_ROW = 4;

    /** How many requests that aren't unexpected make up for one that is. */
    private static final int MATCHES = 4;

    /** The unexpected requests, less what others make up for, with which a program isn't lost yet. */
    private static final int MOST_UNEXPECTED = 16;

    /** The state of a program that hasn't deviated. */
    private static final State NONE = new State();

    private final int[] records;
    private final int last;
    private final State now = new State();
    private final State before = new State();

    /** What {@link #takeBack} puts back. Records are as in {@link Plan}. */
    private static final class State {

        /** {@link #MATCHES} for each unexpected request, less one for each other since, but not less than 0. */
        private int debt;

        /** The record that was next when {@link #debt} was counted last. */
        private int countedAt;

        /** The first record of those that were skipped last. */
        private int skipped;

        /** The record behind those that were skipped last. */
        private int skippedEnd;

        /** The record that would be next if those before were skipped; of use while {@link #otherAt} is the next. */
        private int other;

        private int otherAt = Plan.NO_BLOCK;

        /** How many requests in a row have been found before {@link #other}. */
        private int inARow;

        private void set(final State from) {
            debt = from.debt;
            countedAt = from.countedAt;
            skipped = from.skipped;
            skippedEnd = from.skippedEnd;
            other = from.other;
            otherAt = from.otherAt;
            inARow = from.inARow;
        }
    }

    /** Makes the deviations of a program that hasn't deviated; {@code last} is the record behind the last block's. */
    PlanDeviations(final int[] records, final int last) {
        this.records = records;
        this.last = last;
    }

    /** Forgets all, at the start of a step. */
    void clear() {
        now.set(NONE);
    }

    /** Puts back what was known before {@link #note}. */
    void takeBack() {
        now.set(before);
    }

    /** Tells whether too many requests were unexpected. */
    boolean isLost() {
        return now.debt > MATCHES * MOST_UNEXPECTED;
    }

    /**
     * Finds the record that a request has, or {@link Plan#NO_BLOCK}.
     *
     * @param next the record that the plan has next, which the request doesn't fit
     * @param size granules
     */
    int find(final int next, final long size) {
        if (now.otherAt == next) {
            for (int away = 0; away <= NEAR * Plan.RECORD_INTS; away += Plan.RECORD_INTS) {
                if (away < last - now.other && fits(now.other + away, size)) {
                    return now.other + away;
                }
            }
        }
        for (int away = Plan.RECORD_INTS; away <= WINDOW * Plan.RECORD_INTS; away += Plan.RECORD_INTS) {
            if (away < last - next && fits(next + away, size)) {
                return next + away;
            }
            final int behind = next - away;
            if (behind >= now.skipped && behind < now.skippedEnd && fits(behind, size)) {
                return behind;
            }
        }
        return Plan.NO_BLOCK;
    }

    private boolean fits(final int record, final long size) {
        return Plan.fits(size, records[record + Plan.SIZE]);
    }

    /** Tells whether a request is to get the place of a record that was found for it. */
    boolean isLikely(final int next, final int record) {
        return record != Plan.NO_BLOCK
                && (Math.abs(record - next) <= NEAR * Plan.RECORD_INTS || isFoundAgain(next, record));
    }

    private boolean isFoundAgain(final int next, final int record) {
        return now.otherAt == next && record >= now.other && record - now.other <= NEAR * Plan.RECORD_INTS;
    }

    /** Notes the record of a request, or {@link Plan#NO_BLOCK}; answers the record that the plan has next. */
    int note(final int next, final int record) {
        before.set(now);
        if (isLost()) {
            return next;
        }
        if (!isLikely(next, record)) {
            final int others = Math.max(0, next - now.countedAt) / Plan.RECORD_INTS;
            now.debt = Math.max(0, now.debt - others) + MATCHES;
            now.countedAt = next;
        }
        if (isLost()) {
            return last;
        }
        return record != Plan.NO_BLOCK && goesOnBehind(next, record) ? record + Plan.RECORD_INTS : next;
    }

    private boolean goesOnBehind(final int next, final int record) {
        now.inARow = isFoundAgain(next, record) ? now.inARow + 1 : 1;
        now.other = record + Plan.RECORD_INTS;
        now.otherAt = next;
        final int away = Math.abs(record - next) / Plan.RECORD_INTS - now.inARow + 1;
        if (now.inARow < (away <= 1 ? 1 : away <= NEAR ? FEW_IN_A_ROW : MANY_IN_A_ROW)) {
            return false;
        }
        if (record < next) {
            now.skipped = record + Plan.RECORD_INTS;
        } else {
            // What was skipped just before may be where the program is, too.
            now.skipped = next - now.skippedEnd <= NEAR * Plan.RECORD_INTS ? now.skipped : next;
            now.skippedEnd = record;
        }
        now.countedAt += record - next;
        now.otherAt = Plan.NO_BLOCK;
        return true;
    }
}
