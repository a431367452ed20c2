package io.outboard.bench.measure.check;

import io.outboard.core.SlabStrategy;
import io.outboard.core.Strategy;
import java.util.Arrays;

/**
 * The check compares all that a strategy shows with the model: the blocks, the largest free block, and the data of each
 * block in use and each retired one. It also checks that free neighbours are merged, if the strategy merges them.
 * O(blocks) with a binary search for each. Confined to one thread.
 */
final class WholeCheck {

    private final CheckedStrategy checked;
    private final Strategy strategy;
    private final StrategyRules rules;
    private final IntervalModel model;
    private final BuddyTree buddies;

    private final int[] slots = new int[IntervalModel.MOST_SLOTS];
    private int slotCount;

    private long[] starts = new long[64];
    private long[] sizes = new long[64];
    private boolean[] free = new boolean[64];
    private int blocks;

    WholeCheck(final CheckedStrategy checked) {
        this.checked = checked;
        strategy = checked.strategy();
        rules = checked.rules();
        model = checked.model();
        buddies = new BuddyTree(rules.buddySystems(), Math.max(1, rules.buddyStep()), model.granules());
    }

    /** Throws if anything differs. */
    void run() {
        checked.checkCounters();
        slotCount = model.slotsInOrder(slots);
        if (!rules.merges() && rules.buddyStep() == 0) {
            // A walk shows a slab as a single block in this mode, so nothing may keep free neighbours apart.
            walk(true);
            checkFreeNeighbours();
            checkFree();
        }
        walk(false);
        compareWithModel();
        if (rules.merges()) {
            checkFreeNeighbours();
        }
        if (rules.buddyStep() != 0) {
            buddies.check(starts, sizes, free, blocks);
        }
        for (int i = 0; i < checked.inUse().size(); i++) {
            checked.checkSize(checked.inUse().get(i));
        }
        for (int i = 0; i < checked.retired().size(); i++) {
            checked.checkRetired(checked.retired().get(i));
        }
    }

    /** Collects the blocks that a walk shows; they must leave no gap. */
    private void walk(final boolean undivided) {
        blocks = 0;
        if (undivided) {
            SlabStrategy.forEachUndivided(strategy, this::keep);
        } else {
            strategy.forEachBlock(this::keep);
        }
        final long end = blocks == 0 ? 0 : starts[blocks - 1] + sizes[blocks - 1];
        if (end != model.granules()) {
            throw new ViolationException("the walk ends at granule " + end + " of " + model.granules());
        }
    }

    private void keep(final long address, final long sizeBytes, final boolean isFree) {
        if (blocks == starts.length) {
            starts = Arrays.copyOf(starts, 2 * blocks);
            sizes = Arrays.copyOf(sizes, 2 * blocks);
            free = Arrays.copyOf(free, 2 * blocks);
        }
        final long end = blocks == 0 ? 0 : starts[blocks - 1] + sizes[blocks - 1];
        final long granuleBytes = strategy.granuleBytes();
        if (address != checked.addressOf(end) || sizeBytes <= 0 || (sizeBytes & (granuleBytes - 1)) != 0) {
            throw new ViolationException("the walk shows " + sizeBytes + " bytes at " + CheckedStrategy.hex(address)
                    + " where a block begins at " + CheckedStrategy.hex(checked.addressOf(end)));
        }
        starts[blocks] = end;
        sizes[blocks] = sizeBytes / granuleBytes;
        free[blocks] = isFree;
        blocks++;
    }

    private void compareWithModel() {
        int taken = 0;
        for (int block = 0; block < blocks; block++) {
            final long next = taken < slotCount ? model.start(slots[taken]) : model.granules();
            if (free[block]) {
                if (starts[block] + sizes[block] > next) {
                    throw new ViolationException(
                            "the walk shows " + describe(block) + " as free, but granule " + next + " is taken");
                }
            } else if (next != starts[block] || taken == slotCount || model.size(slots[taken++]) != sizes[block]) {
                throw new ViolationException("the walk shows " + describe(block) + " as taken, but that is none");
            }
        }
        if (taken != slotCount) {
            throw new ViolationException("the walk shows " + taken + " blocks that are taken, of " + slotCount);
        }
    }

    private void checkFreeNeighbours() {
        for (int block = 1; block < blocks; block++) {
            if (free[block - 1] && free[block]) {
                throw new ViolationException(describe(block) + " and the one in front of it are free and not merged");
            }
        }
    }

    private void checkFree() {
        for (int block = 0; block < blocks; block++) {
            final int before = model.lastFrom(starts[block]);
            final long gapStart = model.start(before) + model.size(before);
            if (free[block]
                    && (starts[block] < gapStart
                            || starts[block] + sizes[block] > gapStart + model.roomBehind(before))) {
                throw new ViolationException(
                        "with slabs undivided, the walk shows " + describe(block) + " as free, which isn't all free");
            }
        }
    }

    /** Returns whether another strategy shows the same blocks. */
    boolean showsTheSameAs(final Strategy other) {
        walk(false);
        final int[] at = {0};
        final boolean[] same = {true};
        other.forEachBlock((address, sizeBytes, isFree) -> {
            final int block = at[0]++;
            same[0] &= block < blocks
                    && checked.addressOf(starts[block]) == address
                    && checked.bytes(sizes[block]) == sizeBytes
                    && free[block] == isFree;
        });
        return same[0] && at[0] == blocks;
    }

    private String describe(final int block) {
        return "the block of " + sizes[block] + " granules at granule " + starts[block];
    }
}
