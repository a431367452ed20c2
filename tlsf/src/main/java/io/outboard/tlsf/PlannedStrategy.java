package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StepwiseStrategy;
import io.outboard.core.StrategyOptions;
import java.util.Objects;

/**
 * This strategy is {@link TlsfStrategy} that follows a {@link Plan} while a program does what the plan has.
 *
 * <p>The algorithm is TLSF with a hint; the rule is ours. Requests are counted from {@link #step} on:
 *
 * <ol>
 *   <li>A request of the size that the plan has next gets the plan's place, cut out of the free block that it lies in.
 *       If another block has the place, or a part of it, TLSF chooses another place, and the next request is compared
 *       with the plan as before.
 *   <li>With the first request of another size the program deviates: TLSF serves that request and all that follow,
 *       until {@link #step}. Blocks that have been placed by plan are in use as any others are, and may be freed in any
 *       order.
 * </ol>
 *
 * <p>So a request is refused only if TLSF refuses it with the same blocks in use; a region of the plan's size serves a
 * program that keeps to the plan, whatever TLSF alone would need. TLSF alone would have placed the blocks otherwise,
 * so it may serve a program that deviates where this strategy refuses, or refuse where this strategy serves: no
 * strategy can follow a plan and rule that out.
 *
 * <p>The free block that has the place is found from a block in use: the plan says which block lies before the place
 * then, and from that one it is few blocks in order of address. If that block was freed earlier than planned, the
 * search starts at the one before it in the plan, and so on. After {@value #MOST_STEPS} blocks in all, the place counts
 * as taken. Where nothing is in use any more, requests aren't counted anew: that takes {@link #step}.
 *
 * <p>Thread-safety, cost and errors as of {@link TlsfStrategy}; 16 host bytes more for each block of the plan, which
 * all strategies that follow it share.
 */
public final class PlannedStrategy extends SegregatedStrategy implements StepwiseStrategy {

    /** The bound of {@link #holding}, as the search of TLSF has one. */
    private static final int MOST_STEPS = 64;

    private final Plan plan;
    private final int[] records;

    /**
     * The record behind the last of a block: no request is equal to that, so the strategy stays there until the next
     * step.
     */
    private final int deviated;

    /** The record of the block that the plan has next. */
    private int next;

    /** The record {@link #next} was before the last allocation. */
    private int nextBefore;

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
        deviated = Plan.RECORD_INTS * plan.blocks();
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
     * Tells whether all requests since the step's start have been those of the plan.
     *
     * @return false once one had another size, or there were more than the plan has
     */
    public boolean followsPlan() {
        return next < deviated;
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
    }

    @Override
    public void takeBack(final long address) {
        freeLast(address);
        next = nextBefore;
    }

    @Override
    protected long place(final long size) {
        return placeAligned(size, 0);
    }

    @Override
    protected long placeAligned(final long size, final long alignmentMask) {
        final int record = next;
        final boolean planned = records[record + Plan.SIZE] == size;
        if (planned) {
            final int start = records[record + Plan.OFFSET];
            final int block = padding(start, alignmentMask) == 0 ? holding(record, start, size) : BlockTable.NONE;
            if (block != BlockTable.NONE) {
                return noted(record, true, take(block, start - table().start(block), (int) size));
            }
        }
        return noted(record, planned, alignmentMask == 0 ? super.place(size) : super.placeAligned(size, alignmentMask));
    }

    /** Takes a block by way of the address: a block that is held isn't found as what is in use before another. */
    @Override
    public long allocateByHandle(final long sizeBytes) {
        final long address = allocate(sizeBytes);
        return address == NO_SPACE ? NO_SPACE : nameByHandle(address);
    }

    /** Notes a request, unless it was refused: then it hasn't happened. */
    private long noted(final int record, final boolean planned, final long start) {
        if (start != NO_SPACE) {
            nextBefore = record;
            next = planned ? record + Plan.RECORD_INTS : deviated;
        }
        return start;
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
