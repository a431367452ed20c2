package io.outboard.service;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** This class waits for what other processes and threads bring about. */
final class Await {

    private static final long MOST_NANOS = 20_000_000_000L;

    private Await() {}

    /** Waits for the condition, and fails after a time that is long for any machine. */
    static void until(final BooleanSupplier condition, final Supplier<?> state) {
        final long end = System.nanoTime() + MOST_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + MOST_NANOS + " ns: " + state.get());
            }
            LockSupport.parkNanos(200_000);
        }
    }
}
