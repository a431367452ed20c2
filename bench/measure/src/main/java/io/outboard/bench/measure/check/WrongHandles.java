package io.outboard.bench.measure.check;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.core.InvalidAddressException;

/**
 * The class makes calls with handles that name no block in use: old ones, made-up ones and addresses. The model decides
 * whether a handle names a block. Each call must be refused with an exception and must change nothing. Confined to one
 * thread.
 */
final class WrongHandles {

    private static final long LOWER_HALF = (1L << Integer.SIZE) - 1;
    private static final int CALLS = 5;
    private static final int SOURCES = 12;

    private final CheckedStrategy checked;
    private final BlockNames names;
    private final SplitMix64 random;
    private long refused;

    WrongHandles(final CheckedStrategy checked, final SplitMix64 random) {
        this.checked = checked;
        this.random = random;
        names = checked.names();
    }

    /** Returns how many calls were refused. */
    long refused() {
        return refused;
    }

    /** Draws a handle, and makes one call with it unless it names a block. */
    void run() {
        final int source = (int) random.below(SOURCES);
        final int call = (int) random.below(CALLS);
        final long handle = anyHandle(source);
        if (!names.hasHandles() || names.isHandle(handle)) {
            return;
        }
        final long address = isOld(source) ? names.old().addressOf(handle) : OldHandles.NONE;
        try {
            switch (call) {
                case 0 -> names.handled().retireByHandle(handle);
                case 1 -> names.handled().addressOf(handle);
                case 2 -> names.handled().sizeByHandle(handle);
                case 3 -> names.handled().nameByAddress(handle);
                default -> names.handled().freeByHandle(handle);
            }
        } catch (final InvalidAddressException wrong) {
            if (address != OldHandles.NONE && wrong.address() != address) {
                throw new ViolationException("the exception names " + CheckedStrategy.hex(wrong.address())
                        + " in place of " + CheckedStrategy.hex(address) + ", for " + BlockNames.hex(handle));
            }
            refused++;
            checked.checkCounters();
            if (checked.inUse().size() != 0) {
                checked.checkSize(any(checked.inUse()));
            }
            return;
        }
        throw new ViolationException("call " + call + " accepts the wrong " + BlockNames.hex(handle));
    }

    /** Returns whether a source gives handles that named a block, whose address is known. */
    private static boolean isOld(final int source) {
        return source < 5;
    }

    private long anyHandle(final int source) {
        final int number = (int) random.below(1 << 16);
        switch (source) {
            case 0, 1:
                return names.old().any(number);
            case 2, 3, 4:
                final long usedAgain = names.old().anyUsedAgain(number);
                return usedAgain == OldHandles.NONE ? names.old().any(number) : usedAgain;
            case 5, 6:
                // The handle has the upper half of one handle and the lower half of another.
                return (anyHeld() & ~LOWER_HALF) | (anyHeld() & LOWER_HALF);
            case 7:
                return anyHeld() ^ (1L << random.below(Long.SIZE));
            case 8:
                return anyHeld() + ((random.below(9) - 4) << (random.below(2) == 0 ? 0 : Integer.SIZE));
            case 9:
                return checked.inUse().size() == 0 ? anyLong() : addressOf(checked.inUse());
            case 10:
                if (checked.retired().size() == 0) {
                    return anyLong();
                }
                return random.below(2) == 0
                        ? addressOf(checked.retired())
                        : checked.handle(any(checked.retired())) << (random.below(2) == 0 ? 0 : Integer.SIZE);
            default:
                return anyLong();
        }
    }

    /** Returns a handle that names a block or did. */
    private long anyHeld() {
        final SlotList inUse = checked.inUse();
        final int slot = inUse.size() == 0 ? 0 : any(inUse);
        return slot != 0 && names.isHeld(slot)
                ? names.handle(slot)
                : names.old().any((int) random.below(1 << 16));
    }

    /** Returns a number of any magnitude; half of the numbers are negative. */
    private long anyLong() {
        final long magnitude = random.next() >>> random.below(Long.SIZE);
        return random.below(2) == 0 ? magnitude : -1 - magnitude;
    }

    private long addressOf(final SlotList slots) {
        return checked.addressOf(checked.model().start(any(slots)));
    }

    private int any(final SlotList slots) {
        return slots.get((int) random.below(slots.size()));
    }
}
