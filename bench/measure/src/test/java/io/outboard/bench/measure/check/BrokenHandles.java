package io.outboard.bench.measure.check;

import io.outboard.core.HandleStrategy;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Strategy;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The class wraps the handles of a broken strategy, with the faults that concern handles. The class knows the layout of
 * TLSF's handles.
 */
final class BrokenHandles {

    private static final long START = 0xFFFF_FFFFL;

    private final HandleStrategy strategy;
    private final Fault fault;
    private final Predicate<Fault> shows;
    private final Set<Long> held = new HashSet<>();
    private final Set<Long> known = new HashSet<>();

    /** The addresses of blocks that had a handle before and are named by their addresses now. */
    private final Set<Long> left = new HashSet<>();

    /** {@code shows} says whether a call has this fault. */
    BrokenHandles(final HandleStrategy strategy, final Fault fault, final Predicate<Fault> shows) {
        this.strategy = strategy;
        this.fault = fault;
        this.shows = shows;
    }

    long allocate(final long sizeBytes) {
        if (shows.test(Fault.NO_SPACE_BY_HANDLE)) {
            return Strategy.NO_SPACE;
        }
        final long handle = strategy.allocateByHandle(sizeBytes);
        if (handle == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        held(handle);
        return handle;
    }

    private void held(final long handle) {
        held.add(handle);
        known.add(handle);
    }

    void free(final long handle) {
        if (held.contains(handle) && shows.test(Fault.FREE_BY_HANDLE_DOES_NOTHING)) {
            return;
        }
        try {
            strategy.freeByHandle(handle);
            held.remove(handle);
        } catch (final InvalidAddressException e) {
            refuse(handle, e);
        }
    }

    long retire(final long handle) {
        if (held.contains(handle) && shows.test(Fault.RETIRE_BY_HANDLE_RETIRES_ANOTHER)) {
            held.remove(handle);
            strategy.freeByHandle(handle);
            return strategy.retire(strategy.allocate(1));
        }
        try {
            final long retired = strategy.retireByHandle(handle);
            held.remove(handle);
            return retired;
        } catch (final InvalidAddressException e) {
            return refuse(handle, e);
        }
    }

    long addressOf(final long handle) {
        try {
            if (fault == Fault.HANDLE_NAMES_NOTHING_LATER && held.size() > 1 && shows.test(fault)) {
                throw new InvalidAddressException(handle, "void");
            }
            return strategy.addressOf(handle)
                    + (shows.test(Fault.HANDLE_AT_ANOTHER_ADDRESS) ? strategy.granuleBytes() : 0);
        } catch (final InvalidAddressException e) {
            return refuse(handle, e);
        }
    }

    long sizeOf(final long handle) {
        try {
            return strategy.sizeByHandle(handle)
                    + (shows.test(Fault.HANDLE_OF_ANOTHER_SIZE) ? strategy.granuleBytes() : 0);
        } catch (final InvalidAddressException e) {
            return refuse(handle, e);
        }
    }

    long nameByHandle(final long address) {
        final long handle = strategy.nameByHandle(address);
        final boolean again = left.remove(address);
        held(handle);
        if (shows.test(Fault.HANDLE_NEGATIVE)) {
            return -2;
        }
        return again && shows.test(Fault.HANDLE_OTHER_EACH_TIME) ? handle + 1 : handle;
    }

    long nameByAddress(final long handle) {
        try {
            final long address = strategy.nameByAddress(handle);
            held.remove(handle);
            left.add(address);
            // With fewer blocks, the comparison with a new strategy might find the fault instead.
            final boolean wrong = strategy.liveBlocks() > 64 && shows.test(Fault.NAMED_BY_ANOTHER_ADDRESS);
            return address + (wrong ? strategy.granuleBytes() : 0);
        } catch (final InvalidAddressException e) {
            return refuse(handle, e);
        }
    }

    /** Tells that the block that starts there, if there is one, is no more. */
    void forget(final long address) {
        left.remove(address);
    }

    /** Frees the block that a handle names and that starts there, if there is one. */
    boolean freeHeldAt(final long address) {
        for (final long handle : held) {
            if (strategy.addressOf(handle) == address) {
                strategy.freeByHandle(handle);
                held.remove(handle);
                return true;
            }
        }
        return false;
    }

    /** Refuses a handle that names nothing, or does what the fault says. */
    private long refuse(final long handle, final InvalidAddressException e) {
        final boolean taken = switch (fault) {
            case OLD_HANDLE_TAKEN -> known.contains(handle);
            case OLD_HANDLE_OF_A_RECORD_IN_USE_TAKEN -> known.contains(handle) && hasHeld(~START, handle);
            case OLD_HANDLE_OF_A_START_IN_USE_TAKEN -> known.contains(handle) && hasHeld(START, handle);
            case HANDLE_OF_A_BLOCK_BY_ADDRESS_TAKEN -> known.contains(handle) && isInUse(e.address());
            case ADDRESS_TAKEN_AS_HANDLE -> isInUse(handle);
            case MADE_UP_HANDLE_TAKEN -> !known.contains(handle) && hasHeld(~START, handle);
            default -> false;
        };
        if (taken) {
            return strategy.region().address();
        }
        if (fault == Fault.OTHER_ADDRESS_NAMED_BY_HANDLE) {
            throw new InvalidAddressException(e.address() + 1, "");
        }
        if (fault == Fault.WRONG_HANDLE_FREES) {
            strategy.allocate(1);
        }
        if (fault == Fault.WRONG_HANDLE_NAMES_ANOTHER && held.size() == 1) {
            strategy.nameByAddress(held.iterator().next());
        }
        throw e;
    }

    private boolean hasHeld(final long mask, final long handle) {
        return held.stream().anyMatch(other -> (other & mask) == (handle & mask));
    }

    private boolean isInUse(final long address) {
        try {
            return strategy.sizeOf(address) > 0;
        } catch (final InvalidAddressException e) {
            return false;
        }
    }
}
