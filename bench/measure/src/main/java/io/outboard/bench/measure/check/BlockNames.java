package io.outboard.bench.measure.check;

import io.outboard.core.HandleStrategy;
import io.outboard.core.Strategy;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The class knows whether each block in use is named by its address or by a handle, makes the calls that need the name,
 * and checks that the strategy agrees with the name. Confined to one thread. Each call is O(1), except {@link
 * #isHandle}, and makes no garbage.
 */
final class BlockNames {

    private final Strategy strategy;

    /** The strategy, if it has handles; null if not. */
    private final @Nullable HandleStrategy handled;

    private final IntervalModel model;
    private final SlotList inUse;

    /** For each slot, the handle that names its block, or {@link OldHandles#NONE}. */
    private final long[] handles = new long[IntervalModel.MOST_SLOTS];

    /**
     * For each slot, the latest handle of its block, kept while an address names the block: a new handle has to be the
     * same one.
     */
    private final long[] everHandles = new long[IntervalModel.MOST_SLOTS];

    private final OldHandles old = new OldHandles();
    private long operations;

    /** {@code inUse} lists the slots of blocks in use; others add and remove slots, too. */
    BlockNames(final Strategy strategy, final IntervalModel model, final SlotList inUse) {
        this.strategy = strategy;
        handled = strategy instanceof HandleStrategy handles ? handles : null;
        this.model = model;
        this.inUse = inUse;
        Arrays.fill(handles, OldHandles.NONE);
        Arrays.fill(everHandles, OldHandles.NONE);
    }

    /** Returns the handles that named blocks before. */
    OldHandles old() {
        return old;
    }

    /** Returns how many calls, such as allocations and frees, named a block by its handle. */
    long operations() {
        return operations;
    }

    /** Returns whether the strategy has handles; without handles, no block is held. */
    boolean hasHandles() {
        return handled != null;
    }

    /** Returns the strategy as one that has handles. */
    HandleStrategy handled() {
        return Objects.requireNonNull(handled);
    }

    /** Returns whether a handle names a block in use. */
    boolean isHeld(final int slot) {
        return handles[slot] != OldHandles.NONE;
    }

    /** Returns the handle of a block that is held. */
    long handle(final int slot) {
        return handles[slot];
    }

    private long address(final int slot) {
        return strategy.region().address() + model.start(slot) * strategy.granuleBytes();
    }

    /** Records that a block was allocated by handle. */
    void hold(final int slot, final long handle) {
        operations++;
        if (handle < 0) {
            throw new ViolationException("handle=" + handle + " must not be negative");
        }
        final long before = everHandles[slot];
        if (before != OldHandles.NONE && before != handle) {
            throw new ViolationException(hex(handle) + " isn't " + hex(before) + ", which the same block had before");
        }
        handles[slot] = handle;
        everHandles[slot] = handle;
        old.isUsed(handle);
    }

    /** Names a block by a handle, in place of its address. */
    void toHandle(final int slot) {
        hold(slot, handled().nameByHandle(address(slot)));
        check(slot);
    }

    /** Names a block by its address, and returns whether a handle had named the block. */
    boolean toAddress(final int slot) {
        if (!isHeld(slot)) {
            return false;
        }
        operations++;
        final long address = handled().nameByAddress(handles[slot]);
        if (address != address(slot)) {
            throw new ViolationException("nameByAddress answers " + CheckedStrategy.hex(address) + " for "
                    + hex(handles[slot]) + " of the block at " + CheckedStrategy.hex(address(slot)));
        }
        end(slot);
        check(slot);
        return true;
    }

    void free(final int slot) {
        if (isHeld(slot)) {
            operations++;
            handled().freeByHandle(handles[slot]);
            end(slot);
        } else {
            strategy.free(address(slot));
        }
        everHandles[slot] = OldHandles.NONE;
    }

    /** Retires a block, and returns what the strategy returns. */
    long retire(final int slot) {
        final long retired;
        if (isHeld(slot)) {
            operations++;
            retired = handled().retireByHandle(handles[slot]);
            end(slot);
        } else {
            retired = strategy.retire(address(slot));
        }
        everHandles[slot] = OldHandles.NONE;
        return retired;
    }

    private void end(final int slot) {
        old.add(handles[slot], address(slot));
        handles[slot] = OldHandles.NONE;
    }

    /** Asks the strategy about a block in use by the block's name, and compares the answers with the model. */
    void check(final int slot) {
        final long sizeBytes = model.size(slot) * strategy.granuleBytes();
        final long answer;
        if (isHeld(slot)) {
            final long address = handled().addressOf(handles[slot]);
            if (address != address(slot)) {
                throw new ViolationException("addressOf answers " + CheckedStrategy.hex(address) + " for "
                        + hex(handles[slot]) + " of " + describe(slot));
            }
            answer = handled().sizeByHandle(handles[slot]);
        } else {
            answer = strategy.sizeOf(address(slot));
        }
        if (answer != sizeBytes) {
            throw new ViolationException(
                    (isHeld(slot) ? "sizeByHandle" : "sizeOf") + " answers " + answer + " bytes of " + describe(slot));
        }
    }

    /** Returns whether an address names a block in use. */
    boolean isAddress(final long address) {
        final long offset = address - strategy.region().address();
        if (offset < 0 || (offset & (strategy.granuleBytes() - 1)) != 0) {
            return false;
        }
        final int slot = model.startingAt(offset / strategy.granuleBytes());
        return slot != IntervalModel.NONE && inUse.contains(slot) && !isHeld(slot);
    }

    /** Returns whether a number is the handle of a block in use. O(blocks in use). */
    boolean isHandle(final long handle) {
        for (int i = 0; i < inUse.size(); i++) {
            if (handles[inUse.get(i)] == handle && handle != OldHandles.NONE) {
                return true;
            }
        }
        return false;
    }

    private String describe(final int slot) {
        return "the block of " + model.size(slot) + " granules at granule " + model.start(slot);
    }

    static String hex(final long anyHandle) {
        return "handle 0x" + Long.toHexString(anyHandle);
    }
}
