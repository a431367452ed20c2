package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Strategy;

/**
 * The class makes calls that a strategy must refuse with an exception and that must change nothing. Confined to one
 * thread.
 */
final class WrongCalls {

    private static final int REMEMBERED = 16;
    private static final int ADDRESS_CALLS = 7;
    private static final int SIZE_CALLS = 7;
    private static final int SIZE_CALLS_WITHOUT_A_BLOCK = 3;
    private static final int SOURCES = 11;

    private final CheckedStrategy checked;
    private final Strategy strategy;
    private final IntervalModel model;
    private final BlockNames names;
    private final SplitMix64 random;
    private final long[] freed = new long[REMEMBERED];
    private int freedCount;

    WrongCalls(final CheckedStrategy checked, final SplitMix64 random) {
        this.checked = checked;
        this.random = random;
        strategy = checked.strategy();
        model = checked.model();
        names = checked.names();
    }

    /** Remembers the address of a block that is about to be freed. */
    void remember(final int slot) {
        freed[freedCount++ % REMEMBERED] = checked.addressOf(model.start(slot));
    }

    /**
     * Makes one call with an address that names no block in use: no block starts there, or a handle names the block.
     */
    void wrongAddress() {
        final long address = anyAddress((int) random.below(SOURCES));
        final int call = (int) random.below(ADDRESS_CALLS);
        if (names.isAddress(address)) {
            return;
        }
        try {
            switch (call) {
                case 0 -> strategy.retire(address);
                case 1 -> strategy.trim(address, 1);
                case 2 -> strategy.extend(address, Long.MAX_VALUE);
                case 3 -> strategy.sizeOf(address);
                case 4 -> retireTail(address, 1);
                case 5 -> nameByHandle(address);
                default -> strategy.free(address);
            }
        } catch (final InvalidAddressException refused) {
            if (refused.address() != address) {
                throw new ViolationException("the exception names " + CheckedStrategy.hex(refused.address())
                        + " in place of " + CheckedStrategy.hex(address));
            }
            checked.checkCounters();
            return;
        }
        throw new ViolationException("call " + call + " accepts the wrong " + CheckedStrategy.hex(address));
    }

    // A strategy that can't retire tails gets a similar call instead.

    private void retireTail(final long address, final long newSizeBytes) {
        if (strategy instanceof PartRetiringStrategy parts) {
            parts.retireTail(address, newSizeBytes);
        } else {
            strategy.trim(address, newSizeBytes);
        }
    }

    private void nameByHandle(final long address) {
        if (names.hasHandles()) {
            names.handled().nameByHandle(address);
        } else {
            strategy.sizeOf(address);
        }
    }

    private void allocateByHandle(final long sizeBytes) {
        if (names.hasHandles()) {
            names.handled().allocateByHandle(sizeBytes);
        } else {
            strategy.allocate(sizeBytes);
        }
    }

    private long anyAddress(final int source) {
        final SlotList inUse = checked.inUse();
        final SlotList retired = checked.retired();
        final long granuleBytes = strategy.granuleBytes();
        final long regionBytes = strategy.region().sizeBytes();
        final long anywhere = strategy.region().address() + random.below(regionBytes);
        switch (source) {
            case 0, 1:
                return retired.size() == 0 ? anywhere : startOf(retired);
            case 2, 3:
                return freedCount == 0 ? anywhere : freed[(int) random.below(Math.min(freedCount, REMEMBERED))];
            case 4:
                if (inUse.size() == 0) {
                    return anywhere;
                }
                final int slot = inUse.get((int) random.below(inUse.size()));
                return checked.addressOf(model.start(slot)) + random.below(checked.bytes(model.size(slot)));
            case 5:
                return anywhere & -granuleBytes;
            case 6:
                return strategy.region().address() + (regionBytes & -granuleBytes) + random.below(granuleBytes);
            case 7:
                return strategy.region().address() - 1 - random.below(granuleBytes);
            case 8:
                // Granules are numbered in 32 bits, so a number repeats at this distance.
                final long around = granuleBytes << Integer.SIZE;
                return (inUse.size() == 0 ? anywhere : startOf(inUse)) + (random.below(2) == 0 ? around : -around);
            case 9:
                return inUse.size() == 0 ? anywhere : startOf(inUse);
            default:
                return random.below(2) == 0 ? anywhere : -1 - (random.next() >>> random.below(Long.SIZE));
        }
    }

    private long startOf(final SlotList slots) {
        return checked.addressOf(model.start(slots.get((int) random.below(slots.size()))));
    }

    /** Makes one call with a size or an alignment that is out of its range. */
    void wrongSize() {
        final SlotList inUse = checked.inUse();
        final long negative = -random.below(Long.MAX_VALUE);
        final int slot = inUse.size() == 0 ? 0 : inUse.get((int) random.below(inUse.size()));
        // A call with the address of a block that a handle names is refused for the address, whatever the size.
        final boolean hasBlock = slot != 0 && !names.isHeld(slot);
        final int call = (int) random.below(hasBlock ? SIZE_CALLS : SIZE_CALLS_WITHOUT_A_BLOCK);
        final long address = checked.addressOf(model.start(slot));
        final long sizeBytes = checked.bytes(model.size(slot));
        if (call == SIZE_CALLS - 1 && checked.rules().blockSize(model.size(slot) - 1) == model.size(slot)) {
            return;
        }
        try {
            switch (call) {
                case 0 -> strategy.allocate(negative);
                case 1 -> strategy.allocate(1, random.below(2) == 0 ? negative : 3L << random.below(60));
                case 2 -> allocateByHandle(negative);
                case 3 -> strategy.trim(address, random.below(2) == 0 ? negative : sizeBytes + 1);
                case 4 -> retireTail(address, random.below(2) == 0 ? negative : sizeBytes + 1);
                case 5 -> strategy.extend(address, negative);
                default -> strategy.extend(address, sizeBytes - strategy.granuleBytes());
            }
        } catch (final InvalidAddressException wrong) {
            throw new ViolationException("a wrong size is answered with " + wrong.getMessage());
        } catch (final IllegalArgumentException refused) {
            checked.checkCounters();
            return;
        }
        throw new ViolationException("call " + call + " accepts a wrong size");
    }
}
