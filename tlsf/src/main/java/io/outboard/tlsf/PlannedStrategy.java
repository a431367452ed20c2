package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StepwiseStrategy;
import io.outboard.core.StrategyOptions;
import java.util.Objects;

/**
 * This strategy is {@link TlsfStrategy} that follows a {@link Plan} while a program does about what the plan has.
 *
 * <p>The algorithm is TLSF with a hint; the rule is ours. That what repeats gets its place by plan, and the rest by an
 * allocator beside it, is also the idea of STAlloc (2025). Requests are counted from {@link #step} on:
 *
 * <ol>
 *   <li>A request that {@link Plan#fits} the plan's next block gets the block's place, cut out of the free block that
 *       it lies in.
 *   <li>Any other request is looked for near by in the plan, see {@link PlanDeviations}: so the blocks that a step
 *       leaves out are skipped. If one of them is found, the request gets the place of that one.
 *   <li>A request that isn't found is <em>unexpected</em>, and so is one whose place is taken. Of the free blocks that
 *       have room, it gets one that the plan doesn't need soon: the smallest of those in whose place none of the next
 *       {@value #HORIZON} planned blocks lies, or else the one in whose place the first such block comes last.
 *   <li>Once too many requests are unexpected, the program is lost: TLSF serves all that follows, until {@link #step}.
 * </ol>
 *
 * <p>Blocks that have been placed by plan are in use as any others are, and may be freed in any order. A request is
 * refused only if TLSF refuses it with the same blocks in use; a region of the plan's size serves a program that keeps
 * to the plan, whatever TLSF alone would need. TLSF alone would have placed the blocks otherwise, so it may serve a
 * program that deviates where this strategy refuses, or refuse where this strategy serves: no strategy can follow a
 * plan and rule that out.
 *
 * <p>The free block that has the place is found from a block in use: the plan says which block lies before the place
 * then, and from that one it is few blocks in order of address. If that block was freed earlier than planned, the
 * search starts at the one before it in the plan, and so on. After {@value #MOST_STEPS} blocks in all, the place counts
 * as taken. Where nothing is in use any more, requests aren't counted anew: that takes {@link #step}.
 *
 * <p>Thread-safety, cost and errors as of {@link TlsfStrategy}, but an unexpected request compares up to {@value
 * #CANDIDATES} free places with {@value #HORIZON} planned ones at most, which takes some microseconds. 16 host bytes
 * more for each block of the plan, which all strategies that follow it share.
 */
public final class PlannedStrategy extends SegregatedStrategy implements StepwiseStrategy {

    /** The bound of {@link #holding}, as the search of TLSF has one. */
    private static final int MOST_STEPS = 64;

    /** How many planned blocks an unexpected one must not hinder. */
    private static final int HORIZON = 1024;

    /** How many places of an unexpected block are compared. */
    private static final int CANDIDATES = 32;

    private final Plan plan;
    private final int[] records;

    /** The record behind the last of a block: no request fits it, so a strategy that is lost stays there. */
    private final int last;

    /** The record of the block that the plan has next. */
    private int next;

    /** The record {@link #next} was before the last allocation. */
    private int nextBefore;

    private final PlanDeviations deviations;

    /** The free blocks that are compared for an unexpected request, and where in each it would start. */
    private final int[] candidates = new int[CANDIDATES];

    private final long[] candidateStarts = new long[CANDIDATES];

    /**
     * Makes a strategy over a region, all of it free, at the start of a step.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule; of
     *     one that is smaller than the plan's, TLSF serves those requests whose places lie behind it
     * @param options granule and table size
     * @param plan what to follow
     * @throws IllegalArgumentException if the region is outside of these bounds, or the granule isn't the plan's
     */
    public PlannedStrategy(final Region region, final StrategyOptions options, final Plan plan) {
        super(region, checked(options, Objects.requireNonNull(plan, "plan")), new TwoLevelLists(options));
        this.plan = plan;
        records = plan.records();
        last = Plan.RECORD_INTS * plan.blocks();
        deviations = new PlanDeviations(records, last);
    }

    /**
     * Tells the plan that the strategy follows.
     *
     * @return the plan
     */
    public Plan plan() {
        return plan;
    }

    /**
     * Tells whether the plan has a next block, and the program does about what the plan has.
     *
     * @return false once the plan is at its end, or the program is lost, until the next step
     */
    public boolean followsPlan() {
        return next < last;
    }

    /** Counts the plan's bytes, too, though all strategies that follow the plan share them. */
    @Override
    public long hostBytes() {
        return super.hostBytes() + 16 + (long) Integer.BYTES * records.length;
    }

    @Override
    public void step() {
        next = 0;
        nextBefore = 0;
        deviations.clear();
    }

    @Override
    public void takeBack(final long address) {
        freeLast(address);
        if (next != nextBefore + Plan.RECORD_INTS || deviations.isLost()) {
            deviations.takeBack();
        }
        next = nextBefore;
    }

    @Override
    protected long place(final long size) {
        return placeAligned(size, 0);
    }

    @Override
    protected long placeAligned(final long size, final long alignmentMask) {
        final int record = next;
        if (!Plan.fits(size, records[record + Plan.SIZE])) {
            return placeDeviating(size, alignmentMask);
        }
        final long start = placeAt(record, size, alignmentMask);
        if (start != NO_SPACE) {
            // A refused request hasn't happened.
            nextBefore = record;
            next = record + Plan.RECORD_INTS;
        }
        return start;
    }

    /** Takes a block by way of the address: a block that is held isn't found as what is in use before another. */
    @Override
    public long allocateByHandle(final long sizeBytes) {
        final long address = allocate(sizeBytes);
        return address == NO_SPACE ? NO_SPACE : nameByHandle(address);
    }

    private long placeDeviating(final long size, final long alignmentMask) {
        final boolean isLost = deviations.isLost();
        final int record = isLost ? Plan.NO_BLOCK : deviations.find(next, size);
        final long start;
        if (isLost) {
            start = placeByTlsf(size, alignmentMask);
        } else if (deviations.isLikely(next, record)) {
            start = placeAt(record, size, alignmentMask);
        } else {
            start = placeUnexpected(size, alignmentMask);
        }
        if (start != NO_SPACE) {
            nextBefore = next;
            next = deviations.note(next, record);
        }
        return start;
    }

    /** Takes the place of a record, or another one if that is taken. */
    private long placeAt(final int record, final long size, final long alignmentMask) {
        final int start = records[record + Plan.OFFSET];
        final int block = padding(start, alignmentMask) == 0 ? holding(record, start, size) : BlockTable.NONE;
        return block == BlockTable.NONE
                ? placeUnexpected(size, alignmentMask)
                : take(block, start - table().start(block), (int) size);
    }

    private long placeByTlsf(final long size, final long alignmentMask) {
        return alignmentMask == 0 ? super.place(size) : super.placeAligned(size, alignmentMask);
    }

    private long placeUnexpected(final long size, final long alignmentMask) {
        int count = 0;
        int steps = MOST_STEPS;
        final FreeLists lists = lists();
        for (int list = lists.findNonEmpty(lists.listHolding(size));
                list != FreeLists.NO_LIST && steps > 0;
                list = lists.findNonEmpty(list + 1)) {
            final int head = lists.head(list);
            for (int block = lists.next(head); block != head && steps > 0; block = lists.next(block)) {
                count = addCandidates(block, size, alignmentMask, count);
                steps--;
            }
        }
        // Above all planned places there may be one that no list above has shown.
        final int end = lists.before(BlockTable.NONE);
        if (lists.isFree(end)) {
            count = addCandidates(end, size, alignmentMask, Math.min(count, CANDIDATES - 2));
        }
        if (count == 0) {
            return placeByTlsf(size, alignmentMask);
        }
        keepLeastPlanned(size, count);
        final int block = candidates[0];
        final long padding = candidateStarts[0] - start(block);
        return canCut(padding, size(block) - padding - size)
                ? take(block, (int) padding, (int) size)
                : placeByTlsf(size, alignmentMask);
    }

    /** Adds the lowest and the highest place of a free block for a request, if any; answers how many are there. */
    private int addCandidates(final int block, final long size, final long alignmentMask, final int count) {
        final long low = start(block) + padding(start(block), alignmentMask);
        final long most = start(block) + size(block) - size;
        if (low > most || count == CANDIDATES) {
            return count;
        }
        candidates[count] = block;
        candidateStarts[count] = low;
        final long high = low + (most - low & ~alignmentMask);
        if (high == low || count + 1 == CANDIDATES) {
            return count + 1;
        }
        candidates[count + 1] = block;
        candidateStarts[count + 1] = high;
        return count + 2;
    }

    /** Removes candidates in the order in which planned blocks need their places, as long as there is another one. */
    private void keepLeastPlanned(final long size, final int count) {
        int left = count;
        final int end = last - next > HORIZON * Plan.RECORD_INTS ? next + HORIZON * Plan.RECORD_INTS : last;
        for (int record = next; record < end && left > 1; record += Plan.RECORD_INTS) {
            final long from = records[record + Plan.OFFSET];
            final long to = from + records[record + Plan.SIZE];
            for (int i = left - 1; i >= 0 && left > 1; i--) {
                if (candidateStarts[i] < to && from < candidateStarts[i] + size) {
                    left--;
                    System.arraycopy(candidates, i + 1, candidates, i, left - i);
                    System.arraycopy(candidateStarts, i + 1, candidateStarts, i, left - i);
                }
            }
        }
    }

    /**
     * Finds the free block that has all of a record's place, and that tables have room to cut; none if there is no
     * such block, or it is far.
     */
    private int holding(final int record, final int start, final long size) {
        final BlockTable table = table();
        int steps = MOST_STEPS;
        int before = record;
        int block = BlockTable.NONE;
        while (records[before + Plan.BEFORE] != Plan.NO_BLOCK) {
            block = table.find(records[before + Plan.BEFORE]);
            if (block != BlockTable.NONE) {
                break;
            }
            if (--steps == 0) {
                return BlockTable.NONE;
            }
            before = Plan.RECORD_INTS * records[before + Plan.NUMBER_BEFORE];
        }
        // The block after the fence is the first one.
        block = table.after(block);
        while (block != BlockTable.NONE && start(block) + size(block) <= start) {
            block = --steps == 0 ? BlockTable.NONE : table.after(block);
        }
        if (block == BlockTable.NONE || !table.isFree(block)) {
            return BlockTable.NONE;
        }
        final long padding = start - start(block);
        final long rest = size(block) - size - padding;
        return padding >= 0 && rest >= 0 && canCut(padding, rest) ? block : BlockTable.NONE;
    }

    private static StrategyOptions checked(final StrategyOptions options, final Plan plan) {
        if (options.granuleBytes() != plan.granuleBytes()) {
            throw new IllegalArgumentException(
                    "granuleBytes=" + options.granuleBytes() + " must be the plan's, " + plan.granuleBytes());
        }
        return options;
    }
}
