package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Strategy;

/** Retires, divides and joins parts of free blocks, as a pool does that moves memory. Confined to one thread. */
final class FreeParts {

    private final CheckedStrategy checked;
    private final PartRetiringStrategy strategy;
    private final IntervalModel model;
    private final SplitMix64 random;

    private long shown;
    private long chosenBlock;
    private long chosenAddress;
    private long chosenBytes;

    /** {@code strategy} is the one that {@code checked} wraps. */
    FreeParts(final CheckedStrategy checked, final PartRetiringStrategy strategy, final SplitMix64 random) {
        this.checked = checked;
        this.random = random;
        this.strategy = strategy;
        model = checked.model();
    }

    /** Retires a part of one free block, and may divide the part and join it again. O(blocks). */
    void retire() {
        final long least = 1 + random.below(Math.max(1, model.largestGap()));
        shown = 0;
        strategy.forEachFree(
                checked.bytes(least), (block, address, sizeBytes) -> see(least, block, address, sizeBytes));
        if (shown == 0) {
            if (checked.rules().merges() && model.fits(least, 0, 0)) {
                throw new ViolationException("forEachFree shows no block of " + least + " granules, but there is one");
            }
            return;
        }
        final long granules = chosenBytes / strategy.granuleBytes();
        final long skipped = random.below(2) == 0 ? 0 : random.below(granules);
        final long taken = random.below(4) == 0 ? granules - skipped : 1 + random.below(granules - skipped);
        final long address = chosenAddress + checked.bytes(skipped);
        final long handle = strategy.retireFree(chosenBlock, address, checked.bytes(taken));
        if (handle == Strategy.NO_SPACE) {
            checked.checkFull();
            return;
        }
        final int slot = checked.addRetiredPart(address, checked.bytes(taken), handle);
        checked.checkCounters();
        if (taken > 1) {
            divide(slot, 1 + random.below(taken - 1));
        }
    }

    /**
     * Checks a free block that the strategy shows, and may choose it; every block that is shown has the same chance.
     */
    private void see(final long least, final long block, final long address, final long sizeBytes) {
        final long start = (address - strategy.region().address()) / strategy.granuleBytes();
        final long size = sizeBytes / strategy.granuleBytes();
        final int before = model.lastFrom(start);
        final long gapStart = model.start(before) + model.size(before);
        final long room = model.roomBehind(before);
        final boolean inGap = start >= gapStart && start + size <= gapStart + room;
        if (size < least || !inGap || (checked.rules().merges() && size != room)) {
            throw new ViolationException("forEachFree shows " + size + " granules at granule " + start
                    + " for at least " + least + ", where " + room + " are free from " + gapStart + " on");
        }
        shown++;
        if (random.below(shown) == 0) {
            chosenBlock = block;
            chosenAddress = address;
            chosenBytes = sizeBytes;
        }
    }

    private void divide(final int slot, final long kept) {
        final long rest = strategy.splitRetired(checked.handle(slot), checked.bytes(kept));
        if (rest == Strategy.NO_SPACE) {
            checked.checkFull();
            return;
        }
        final int restSlot = checked.divide(slot, checked.bytes(kept), rest);
        checked.checkCounters();
        if (random.below(2) == 0) {
            strategy.joinRetired(checked.handle(slot), rest);
            checked.join(slot, restSlot);
            checked.checkCounters();
        }
    }
}
