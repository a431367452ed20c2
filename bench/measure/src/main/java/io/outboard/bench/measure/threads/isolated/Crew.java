package io.outboard.bench.measure.threads.isolated;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * A crew is the threads of a workload, the same ones in each round, together with others that never stop and with
 * threads that launch kernels. Confined to one thread, the command's, which only waits.
 */
final class Crew implements AutoCloseable {

    /** The time between two samples of the held bytes by the waiting thread. */
    private static final long LOOK_MILLIS = 5;

    /** The seconds after a round's end when it counts as hanging. */
    private static final long PATIENCE_SECONDS = 60;

    private final Supply supply;
    private final Workload workload;
    private final UnaryOperator<Blocks> wrapper;
    private final ExecutorService executor;
    private final Blocks[] blocks;
    private final Thread[] others;
    private final Launchers launchers;
    private volatile boolean closed;

    /**
     * The outcome of a round.
     *
     * @param operations of all workers together
     * @param opsPerSecond likewise
     * @param gcBytesPerOp garbage an operation
     * @param cpuNsPerOp core time an operation
     */
    record Outcome(long operations, double opsPerSecond, double gcBytesPerOp, double cpuNsPerOp) {}

    private record Work(Workload.Tally tally, double seconds) {}

    /**
     * {@code wrapper} wraps each worker's blocks; {@code otherThreads} and {@code launchers} run until the crew is
     * closed.
     */
    Crew(
            final Supply supply,
            final Workload workload,
            final int otherThreads,
            final Launchers launchers,
            final UnaryOperator<Blocks> wrapper) {
        this.supply = supply;
        this.workload = workload;
        this.wrapper = wrapper;
        this.launchers = launchers;
        executor = Executors.newFixedThreadPool(workload.workers());
        blocks = new Blocks[workload.workers()];
        others = new Thread[otherThreads];
        for (int i = 0; i < otherThreads; i++) {
            others[i] = new Thread(this::spin, "other-" + i);
            others[i].setDaemon(true);
            others[i].start();
        }
    }

    /** Keeps a core busy without a pause, as a program's other threads do that compute. */
    private void spin() {
        while (!closed) {
            // The condition's volatile read is the work.
        }
    }

    /**
     * Lets all workers work for a while, and frees nothing. Where other programs have the cores, a short round may be
     * over before a worker has done anything. Such a round says nothing about what is measured, so it is repeated with
     * a longer time.
     *
     * @param look runs every few milliseconds, and at the end
     * @throws IllegalStateException if a worker failed, or none did anything in a minute
     */
    Outcome run(final long millis, final Runnable look) throws InterruptedException {
        for (long longer = millis; ; longer *= 2) {
            final Outcome outcome = round(longer, look);
            if (outcome.opsPerSecond() > 0) {
                return outcome;
            }
            if (longer > TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS)) {
                throw new IllegalStateException("no thread did anything in a round of " + longer + " ms");
            }
        }
    }

    private Outcome round(final long millis, final Runnable look) throws InterruptedException {
        final Round round = new Round();
        final List<Future<Work>> results = new ArrayList<>();
        for (int i = 0; i < workload.workers(); i++) {
            final int worker = i;
            results.add(executor.submit(() -> work(worker, round)));
        }
        final long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = millis; left > 0 && !round.isOver(); ) {
            TimeUnit.MILLISECONDS.sleep(Math.min(left, LOOK_MILLIS));
            look.run();
            left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        }
        round.end();
        final Outcome outcome = sum(results);
        look.run();
        return outcome;
    }

    private static Outcome sum(final List<Future<Work>> results) throws InterruptedException {
        double opsPerSecond = 0;
        long operations = 0;
        long garbageBytes = 0;
        long cpuNs = 0;
        for (final Future<Work> result : results) {
            try {
                final Work work = result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                opsPerSecond += work.tally.operations / work.seconds;
                operations += work.tally.operations;
                garbageBytes += work.tally.garbageBytes;
                cpuNs += work.tally.cpuNs;
            } catch (final ExecutionException e) {
                throw new IllegalStateException("a thread failed: " + e.getCause(), e);
            } catch (final TimeoutException e) {
                throw new IllegalStateException("a thread must end its round within " + PATIENCE_SECONDS + " s", e);
            }
        }
        final double count = Math.max(1, operations);
        return new Outcome(operations, opsPerSecond, garbageBytes / count, cpuNs / count);
    }

    private Work work(final int worker, final Round round) throws InterruptedException {
        if (blocks[worker] == null) {
            // The worker's own thread makes its blocks, so that what it writes to lies apart from what others write to.
            blocks[worker] = wrapper.apply(supply.blocks());
        }
        final Workload.Tally tally = new Workload.Tally();
        final Meter meter = new Meter();
        try {
            meter.start();
            final long start = System.nanoTime();
            workload.work(worker, blocks[worker], round, tally);
            final double seconds = (System.nanoTime() - start) / 1e9;
            // Workers that start threads count the time of those threads themselves, without the time of starting them.
            if (!workload.metersItself()) {
                meter.stop(tally);
            }
            return new Work(tally, seconds);
        } finally {
            // The round ends for the other workers, too, if this one failed.
            round.end();
        }
    }

    /**
     * Frees all blocks in use.
     *
     * @throws IllegalStateException if blocks are in use nevertheless
     */
    void freeAll() {
        final Blocks all = wrapper.apply(supply.blocks());
        workload.forEachLeft(all::free);
        if (supply.liveBlocks() != 0) {
            throw new IllegalStateException("liveBlocks=" + supply.liveBlocks() + " must be 0 when all has been freed");
        }
    }

    @Override
    public void close() {
        closed = true;
        executor.shutdownNow();
        launchers.close();
    }
}
