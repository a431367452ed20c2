package io.outboard.bench.measure.check;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.SlabStrategy;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;

/**
 * A strategy is wrapped together with a model of the blocks that it has handed out. Each call goes to the strategy, and
 * its answer is compared with what the model allows. If they disagree, a {@link ViolationException} says what is wrong.
 *
 * <p>Callers name blocks by slots of the model; {@link BlockNames} knows the name that the strategy has for a block.
 * Confined to one thread. In addition to the strategy's own time, an operation takes one or two binary searches among
 * the blocks; after an answer of {@link Strategy#NO_SPACE} the model looks for free space that would have fitted.
 */
final class CheckedStrategy {

    private static final long MOST_HANDLES = 1L << 48;

    private final Strategy strategy;
    private final StrategyRules rules;
    private final IntervalModel model;
    private final int maxBlocks;
    private final long address;
    private final int granuleLog2;
    private final long firstGranule;

    private final int[] positions = new int[IntervalModel.MOST_SLOTS];
    private final SlotList inUse = new SlotList(positions);
    private final SlotList retired = new SlotList(positions);
    private final BlockNames names;
    private final long[] handles = new long[IntervalModel.MOST_SLOTS];
    /**
     * For each slot of a retired block, whether it was a block in use before; tails and parts of free blocks had no
     * address of their own, so they can't be restored.
     */
    private final boolean[] restorable = new boolean[IntervalModel.MOST_SLOTS];

    private long digest;

    /** {@code strategy} is new, and {@code maxBlocks} is the number of blocks that its tables hold. */
    CheckedStrategy(final Strategy strategy, final StrategyRules rules, final int maxBlocks) {
        this.strategy = strategy;
        this.rules = rules;
        this.maxBlocks = maxBlocks;
        address = strategy.region().address();
        granuleLog2 = Long.numberOfTrailingZeros(strategy.granuleBytes());
        firstGranule = address >>> granuleLog2;
        model = new IntervalModel(strategy.region().sizeBytes() >>> granuleLog2);
        names = new BlockNames(strategy, model, inUse);
    }

    Strategy strategy() {
        return strategy;
    }

    StrategyRules rules() {
        return rules;
    }

    IntervalModel model() {
        return model;
    }

    /** Returns the names of the blocks in use. */
    BlockNames names() {
        return names;
    }

    /** Returns the slots of the blocks in use. */
    SlotList inUse() {
        return inUse;
    }

    /** Returns the slots of the retired blocks. */
    SlotList retired() {
        return retired;
    }

    /** Returns a number that depends on every answer so far. */
    long digest() {
        return digest;
    }

    long addressOf(final long start) {
        return address + (start << granuleLog2);
    }

    long bytes(final long granules) {
        return granules << granuleLog2;
    }

    private long granulesFor(final long sizeBytes) {
        return ((sizeBytes - 1) >>> granuleLog2) + 1;
    }

    /**
     * Allocates a block.
     *
     * @param alignmentBytes a power of two, or 0 to ask for none
     * @param wantsHandle whether a handle should name the block, if the strategy has handles
     * @return false if there was no room, in the region or in the tables
     */
    boolean allocate(final long sizeBytes, final long alignmentBytes, final boolean wantsHandle) {
        final long size = rules.blockSize(granulesFor(sizeBytes));
        final boolean byHandle = wantsHandle && names.hasHandles();
        final boolean heldAtOnce = byHandle && alignmentBytes == 0;
        final long name;
        try {
            name = heldAtOnce ? names.handled().allocateByHandle(sizeBytes) : place(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException full) {
            checkFull();
            return false;
        }
        note(name);
        final long alignmentMask = alignmentBytes == 0 ? 0 : (alignmentBytes - 1) >>> granuleLog2;
        if (name == Strategy.NO_SPACE) {
            checkRefusal(size, alignmentMask);
            checkCounters();
            return false;
        }
        final long answer = heldAtOnce ? names.handled().addressOf(name) : name;
        if ((answer & (strategy.granuleBytes() - 1)) != 0
                || (alignmentBytes != 0 && (answer & (alignmentBytes - 1)) != 0)) {
            throw new ViolationException(
                    hex(answer) + " isn't aligned, for " + sizeBytes + " bytes aligned to " + alignmentBytes);
        }
        final int slot = take((answer - address) >> granuleLog2, sizeMade(size, name, heldAtOnce), "allocate");
        inUse.add(slot);
        if (heldAtOnce) {
            names.hold(slot, name);
        } else if (byHandle) {
            names.toHandle(slot);
        }
        checkSize(slot);
        checkCounters();
        return true;
    }

    /** Asks the strategy only where there may be two answers: a wrong block has no size. */
    private long sizeMade(final long size, final long name, final boolean isHandle) {
        if (rules.buddySystems() == 1) {
            return size;
        }
        final long actualBytes = isHandle ? names.handled().sizeByHandle(name) : strategy.sizeOf(name);
        return rules.sizeMade(size, actualBytes >>> granuleLog2);
    }

    private long place(final long sizeBytes, final long alignmentBytes) {
        return alignmentBytes == 0 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
    }

    private void checkRefusal(final long size, final long alignmentMask) {
        if (size > model.freeGranules()) {
            return;
        }
        // Free lists by powers of two are the coarsest: a free block of twice the size plus padding is in a list whose
        // every block is large enough.
        final long ample = alignmentMask <= model.granules() ? 2 * (size + alignmentMask) : Long.MAX_VALUE;
        final boolean wrong = switch (rules.search()) {
            case EXACT -> model.fits(size, alignmentMask, firstGranule);
            case BOUNDED ->
                model.gaps() <= StrategyRules.SEARCHED
                        ? model.fits(size, alignmentMask, firstGranule)
                        : model.fits(ample, 0, firstGranule);
            case AMPLE -> model.fits(ample, 0, firstGranule);
            case BOUNDED_BY_LARGEST -> ample <= model.largestGap() && largestFreeGranules() >= ample;
            case LARGEST -> alignmentMask == 0 && size <= model.largestGap() && largestFreeGranules() >= size;
        };
        if (wrong) {
            throw new ViolationException("no space for " + size + " granules, alignment mask " + alignmentMask
                    + " granules, though the largest gap has " + model.largestGap() + " and " + model.gaps()
                    + " are free");
        }
    }

    private long largestFreeGranules() {
        return Statistics.of(strategy).largestFreeBlockBytes() >>> granuleLog2;
    }

    /** Frees a block in use. */
    void free(final int slot) {
        names.free(slot);
        inUse.remove(slot);
        model.remove(slot);
        checkCounters();
    }

    /** Retires a block in use. */
    void retire(final int slot) {
        final long handle = names.retire(slot);
        inUse.remove(slot);
        addRetired(slot, handle, true);
        checkCounters();
    }

    /** Releases a retired block. */
    void release(final int slot) {
        final long sizeBytes = strategy.release(handles[slot]);
        if (sizeBytes != bytes(model.size(slot))) {
            throw new ViolationException("release answers " + sizeBytes + " bytes of " + describe(slot));
        }
        retired.remove(slot);
        model.remove(slot);
        checkCounters();
    }

    /** Restores a retired block, or releases it if no block in use had its address. */
    void restore(final int slot) {
        if (!restorable[slot]) {
            release(slot);
            return;
        }
        final long restored = strategy.restore(handles[slot]);
        if (restored != addressOf(model.start(slot))) {
            throw new ViolationException("restore answers " + hex(restored) + " for " + describe(slot));
        }
        retired.remove(slot);
        inUse.add(slot);
        checkSize(slot);
        checkCounters();
    }

    /** Cuts the tail off a block in use. */
    void trim(final int slot, final long newSizeBytes) {
        final boolean held = names.toAddress(slot);
        trimByAddress(slot, newSizeBytes);
        hold(slot, held);
    }

    private void trimByAddress(final int slot, final long newSizeBytes) {
        final long start = addressOf(model.start(slot));
        try {
            strategy.trim(start, newSizeBytes);
        } catch (final BlockTableFullException full) {
            checkFull();
            return;
        }
        final long sizeBytes = strategy.sizeOf(start);
        final long oldBytes = bytes(model.size(slot));
        final boolean kept = sizeBytes == oldBytes && oldBytes <= rules.keptBytes();
        final long newSize = rules.blockSize(granulesFor(newSizeBytes));
        if (!kept && sizeBytes != bytes(rules.sizeMade(newSize, sizeBytes >>> granuleLog2))) {
            throw new ViolationException(
                    "trim to " + newSizeBytes + " leaves " + sizeBytes + " bytes of " + describe(slot));
        }
        resize(slot, sizeBytes >>> granuleLog2, "trim");
        note(sizeBytes);
        checkCounters();
    }

    /** Cuts the tail off a block in use, and retires the tail. */
    void retireTail(final PartRetiringStrategy parts, final int slot, final long newSizeBytes) {
        final boolean held = names.toAddress(slot);
        retireTailByAddress(parts, slot, newSizeBytes);
        hold(slot, held);
    }

    private void retireTailByAddress(final PartRetiringStrategy parts, final int slot, final long newSizeBytes) {
        final long start = model.start(slot);
        final long oldSize = model.size(slot);
        final long tail;
        try {
            tail = parts.retireTail(addressOf(start), newSizeBytes);
        } catch (final BlockTableFullException full) {
            checkFull();
            return;
        }
        if (tail != PartRetiringStrategy.NO_TAIL) {
            final long newSize = rules.blockSize(granulesFor(newSizeBytes));
            resize(slot, newSize, "retireTail");
            addRetired(take(start + newSize, oldSize - newSize, "retireTail"), tail, false);
        }
        checkSize(slot);
        checkCounters();
    }

    /** Makes a block in use longer, if there is room behind it. */
    void extend(final int slot, final long newSizeBytes) {
        final boolean held = names.toAddress(slot);
        final long size = model.size(slot);
        final long newSize = rules.blockSize(granulesFor(newSizeBytes));
        final boolean granted = strategy.extend(addressOf(model.start(slot)), newSizeBytes);
        note(granted ? 1 : 0);
        if (granted) {
            resize(slot, sizeMade(newSize, addressOf(model.start(slot)), false), "extend");
        } else if (newSize == size || (rules.merges() && newSize - size <= model.roomBehind(slot))) {
            throw new ViolationException("extend to " + newSizeBytes + " bytes isn't granted to " + describe(slot)
                    + " with " + model.roomBehind(slot) + " free granules behind it");
        }
        checkSize(slot);
        checkCounters();
        hold(slot, held);
    }

    /** Names a block in use by its address if a handle names it, and by a handle otherwise, if the strategy has any. */
    void rename(final int slot) {
        hold(slot, !names.toAddress(slot) && names.hasHandles());
        checkCounters();
    }

    private void hold(final int slot, final boolean byHandle) {
        if (byHandle) {
            names.toHandle(slot);
            note(names.handle(slot));
        }
    }

    /** Records a part of a free block that was retired. */
    int addRetiredPart(final long partAddress, final long sizeBytes, final long handle) {
        final int slot = take((partAddress - address) >> granuleLog2, sizeBytes >>> granuleLog2, "retireFree");
        addRetired(slot, handle, false);
        return slot;
    }

    /** Records that a retired block was divided into two. */
    int divide(final int slot, final long keptBytes, final long restHandle) {
        final long kept = keptBytes >>> granuleLog2;
        final long rest = model.size(slot) - kept;
        resize(slot, kept, "splitRetired");
        final int restSlot = take(model.start(slot) + kept, rest, "splitRetired");
        addRetired(restSlot, restHandle, false);
        checkRetired(slot);
        return restSlot;
    }

    /** Records that two retired blocks were joined. */
    void join(final int slot, final int nextSlot) {
        final long size = model.size(slot) + model.size(nextSlot);
        retired.remove(nextSlot);
        model.remove(nextSlot);
        resize(slot, size, "joinRetired");
        checkRetired(slot);
    }

    long handle(final int slot) {
        return handles[slot];
    }

    private void addRetired(final int slot, final long handle, final boolean canBeRestored) {
        if (handle < 0 || handle >= MOST_HANDLES) {
            throw new ViolationException("retired=" + handle + " must be from 0 to 2^48 - 1, of " + describe(slot));
        }
        handles[slot] = handle;
        restorable[slot] = canBeRestored;
        retired.add(slot);
        checkRetired(slot);
    }

    /** Checks a retired block under the name that the strategy knows; two blocks with the same name can't both pass. */
    void checkRetired(final int slot) {
        final long handle = handles[slot];
        if (strategy.retiredAddress(handle) != addressOf(model.start(slot))
                || strategy.retiredBytes(handle) != bytes(model.size(slot))) {
            throw new ViolationException(
                    "retired=" + handle + " has the address " + hex(strategy.retiredAddress(handle)) + " and "
                            + strategy.retiredBytes(handle) + " bytes, but is " + describe(slot));
        }
    }

    /** Compares the size of a block in use, as the strategy has it, with the model. */
    void checkSize(final int slot) {
        names.check(slot);
    }

    void checkCounters() {
        if (strategy.freeBytes() != bytes(model.freeGranules()) || strategy.liveBlocks() != model.blocks()) {
            throw new ViolationException("freeBytes=" + strategy.freeBytes() + " and liveBlocks="
                    + strategy.liveBlocks() + " must be " + bytes(model.freeGranules()) + " and " + model.blocks());
        }
    }

    /** Checks, after the strategy said that its tables are full, that they can be full and that nothing changed. */
    void checkFull() {
        note(maxBlocks);
        checkCounters();
        long blocks = model.blocks() + (long) model.gaps() + 2;
        if (!rules.merges()) {
            final long[] count = {StrategyRules.MOST_NEW_BLOCKS};
            SlabStrategy.forEachUndivided(strategy, (start, sizeBytes, free) -> count[0]++);
            blocks = count[0];
        }
        if (!rules.hasTable() || blocks <= maxBlocks) {
            throw new ViolationException("maxBlocks=" + maxBlocks + " are said to be in the tables, with "
                    + model.blocks() + " blocks and " + model.gaps() + " gaps");
        }
    }

    private int take(final long start, final long size, final String what) {
        final int slot = model.add(start, size);
        if (slot == IntervalModel.NONE) {
            throw new ViolationException(what + " takes " + size + " granules from " + start
                    + " on, which aren't all free, or not all in the region of " + model.granules());
        }
        return slot;
    }

    private void resize(final int slot, final long newSize, final String what) {
        if (!model.resize(slot, newSize)) {
            throw new ViolationException(
                    what + " to " + newSize + " granules takes more than is free behind " + describe(slot));
        }
    }

    private void note(final long answer) {
        digest = Long.rotateLeft(digest, 5) * 0x9E3779B97F4A7C15L + answer;
    }

    private String describe(final int slot) {
        return "the block of " + model.size(slot) + " granules at granule " + model.start(slot);
    }

    static String hex(final long anyAddress) {
        return "address 0x" + Long.toHexString(anyAddress);
    }
}
