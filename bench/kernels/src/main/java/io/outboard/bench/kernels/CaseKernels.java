package io.outboard.bench.kernels;

import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.core.Region;
import java.util.Map;

/** The class knows which kernels a case launches in a run, and measures how long they take. Confined to one thread. */
final class CaseKernels {

    /** How often a thread repeats a request that failed: with ten thousand threads, a million requests. */
    static final int REPEATS = 100;

    /** The number of parts in which {@link TestKind#FILL} is timed. */
    static final int PARTS = 12;

    /** The time of the first run above which only one more run follows. */
    private static final double LONG_RUN_US = 1e6;

    /**
     * The times are those of one run, in microseconds.
     *
     * @param freeUs NaN where there is only one kernel
     * @param others further times of a test, by key
     */
    record Times(double allocateUs, double freeUs, Map<String, Double> others) {

        Times(final double allocateUs, final double freeUs) {
            this(allocateUs, freeUs, Map.of());
        }

        double other(final String key) {
            return others.getOrDefault(key, Double.NaN);
        }

        double totalUs() {
            return allocateUs + (Double.isNaN(freeUs) ? 0 : freeUs);
        }

        boolean isLong() {
            return totalUs() > LONG_RUN_US;
        }
    }

    private final KernelCase work;
    private final KernelLauncher launcher;
    private final Region blocks;

    CaseKernels(final KernelCase work, final KernelLauncher launcher, final Region blocks) {
        this.work = work;
        this.launcher = launcher;
        this.blocks = blocks;
    }

    /** Launches kernels that check, which aren't timed, where a test's timed kernels can't be checked themselves. */
    void check(final BenchHeap heap) {
        if (work.test() == TestKind.ADF || work.test() == TestKind.ACD) {
            launcher.launch(work.test() == TestKind.ADF ? "checkFused" : "checkCycle", work.iterations());
            launcher.synchronize();
            heap.resetUnlessFreed();
        }
    }

    /** Does one run; with {@code check}, checks are made between its kernels. */
    Times run(final BenchHeap heap, final boolean check) {
        return switch (work.test()) {
            case AD, MIX -> allocateAndRelease(check);
            case OOM -> exhaust(check);
            case FILL -> fill(heap, check);
            case ADF -> oneKernel("fused");
            case ACD -> oneKernel("cycle");
            case P -> manyLaunches(check);
            case CHURN, REGISTERS -> throw new IllegalStateException("test=" + work.test() + " isn't done in runs");
        };
    }

    private Times allocateAndRelease(final boolean check) {
        final double allocateUs = timed("allocate", 1);
        if (check) {
            checkBlocks("checkFill", "checkRead");
        }
        return new Times(allocateUs, timed("release", 1));
    }

    private Times oneKernel(final String kernel) {
        return new Times(timed(kernel, work.iterations()), Double.NaN);
    }

    /** Times several launches, in each of which threads draw anew; blocks held at the end are freed, untimed. */
    private Times manyLaunches(final boolean check) {
        final double us = launcher.timed(work.iterations(), () -> {
            for (int i = 0; i < work.iterations(); i++) {
                launcher.launch("probability", i);
                if (check) {
                    launcher.launch("checkFill", i);
                    launcher.launch("checkRead", i);
                }
            }
        });
        launcher.launch("release", 1);
        launcher.synchronize();
        BenchDevice.clear(blocks);
        return new Times(us, Double.NaN);
    }

    /**
     * Allocates until each thread's first null, and then repeats the requests that failed, to see what a null costs.
     */
    private Times exhaust(final boolean check) {
        launcher.prepare("exhaust", "hopeless", "releaseChains");
        final double allocateUs = timed("exhaust", 1);
        final double hopelessUs = timed("hopeless", REPEATS);
        if (check) {
            checkBlocks("checkFillChains", "checkReadChains");
        }
        return new Times(allocateUs, timed("releaseChains", 1), Map.of("hopelessUs", hopelessUs));
    }

    /** Fills a fresh heap, whether earlier runs freed their blocks or not. */
    private Times fill(final BenchHeap heap, final boolean check) {
        heap.reset();
        BenchDevice.clear(blocks);
        final int rounds = partRounds(work);
        double allocateUs = 0;
        double firstUs = Double.NaN;
        double lastUs = Double.NaN;
        for (int done = 0; done < work.iterations(); done += rounds) {
            lastUs = timed("grow", Math.min(rounds, work.iterations() - done));
            firstUs = done == 0 ? lastUs : firstUs;
            allocateUs += lastUs;
        }
        if (check) {
            checkBlocks("checkFillChains", "checkReadChains");
        }
        return new Times(
                allocateUs, timed("releaseChains", 1), Map.of("firstRoundsUs", firstUs, "lastRoundsUs", lastUs));
    }

    /** Returns how many rounds of {@link TestKind#FILL} are timed together. */
    static int partRounds(final KernelCase work) {
        return Math.max(1, work.iterations() / PARTS);
    }

    private void checkBlocks(final String fill, final String read) {
        launcher.launch(fill, 1);
        launcher.launch(read, 1);
        launcher.synchronize();
    }

    private double timed(final String kernel, final long iterations) {
        return launcher.timed(1, () -> launcher.launch(kernel, iterations));
    }
}
