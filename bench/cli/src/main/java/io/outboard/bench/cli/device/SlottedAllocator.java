package io.outboard.bench.cli.device;

import io.outboard.cuda.driver.CudaFailureException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * This base class has the slots, and the order of closing, that all driver allocators share. The check of a slot costs
 * a nanosecond, a call of the driver a thousand.
 */
abstract class SlottedAllocator implements DriverAllocator {

    private final boolean[] inUse;
    private final Deque<Runnable> undoSteps = new ArrayDeque<>();

    SlottedAllocator(final int slots) {
        if (slots <= 0) {
            throw new IllegalArgumentException("slots=" + slots + " must be > 0");
        }
        inUse = new boolean[slots];
    }

    @Override
    public final int allocate(final int slot, final long sizeBytes) {
        if (inUse[slot]) {
            throw new IllegalStateException("slot=" + slot + " must be free");
        }
        final int code = allocateInto(slot, sizeBytes);
        inUse[slot] = code == 0;
        return code;
    }

    @Override
    public final int free(final int slot) {
        if (!inUse[slot]) {
            throw new IllegalStateException("slot=" + slot + " must be in use");
        }
        final int code = freeFrom(slot);
        inUse[slot] = code != 0;
        return code;
    }

    @Override
    public final void close() {
        RuntimeException failure = null;
        for (int slot = 0; slot < inUse.length; slot++) {
            if (inUse[slot]) {
                // The slot counts as free whatever the code says: there is no second try.
                inUse[slot] = false;
                final int code = freeFrom(slot);
                failure = code == 0 ? failure : joined(failure, new CudaFailureException(name(), code, codeName(code)));
            }
        }
        while (!undoSteps.isEmpty()) {
            try {
                undoSteps.pop().run();
            } catch (final RuntimeException e) {
                failure = joined(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Remembers how to undo what was just done. The steps run in reverse order, once, on close or after a failed open.
     */
    final void onClose(final Runnable undoStep) {
        undoSteps.push(undoStep);
    }

    final void check(final String call, final int code) {
        if (code != 0) {
            throw new CudaFailureException(call, code, codeName(code));
        }
    }

    abstract int allocateInto(int slot, long sizeBytes);

    abstract int freeFrom(int slot);

    private static RuntimeException joined(final @Nullable RuntimeException first, final RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
