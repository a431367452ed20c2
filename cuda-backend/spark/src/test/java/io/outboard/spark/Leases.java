package io.outboard.spark;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The class helps tests with a real lender. */
final class Leases {

    static final long UNIT = 2L << 20;

    private static final long MOST_NANOS = 60_000_000_000L;

    private Leases() {}

    static void assume() {
        assumeTrue(
                Runtime.version().feature() >= 22
                        && System.getProperty("os.name").equals("Linux"),
                "skipped, needs Linux and JDK 22 or newer");
    }

    /** Waits for a condition that other processes and threads bring about. */
    static void until(final BooleanSupplier condition, final Supplier<?> state) {
        final long end = System.nanoTime() + MOST_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + MOST_NANOS + " ns: " + state.get());
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
