package io.outboard.bench.measure.pool.isolated;

import io.outboard.bench.cli.isolated.Replay;
import io.outboard.bench.cli.isolated.Target;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.pool.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The class runs several threads on one pool; each repeats the trace in slots of its own. */
final class Throughput {

    private static final int ROUNDS = 5;
    private static final long WARM_MILLIS = Passes.shorter(1_000);
    private static final long ROUND_MILLIS = Passes.shorter(500);

    /** The number of operations between two checks of the clock. */
    private static final int CHUNK = 1_000;

    private final Pool pool;
    private final Trace trace;
    private final int threads;
    private final int[] slotsLeft;
    private volatile boolean over;

    Throughput(final Pool pool, final Trace trace, final int threads) {
        this.pool = pool;
        this.trace = trace;
        this.threads = threads;
        this.slotsLeft = Replay.slotsLeft(trace);
    }

    /** Returns the operations a second of all threads together, the median of the rounds. */
    double operationsASecond() throws InterruptedException {
        final ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            round(executor, WARM_MILLIS);
            final double[] rounds = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                rounds[i] = round(executor, ROUND_MILLIS);
            }
            Arrays.sort(rounds);
            return rounds[ROUNDS / 2];
        } finally {
            over = true;
            executor.shutdown();
        }
    }

    private double round(final ExecutorService executor, final long millis) throws InterruptedException {
        over = false;
        final List<Callable<Double>> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            workers.add(this::work);
        }
        final List<Future<Double>> results = new ArrayList<>();
        for (final Callable<Double> worker : workers) {
            results.add(executor.submit(worker));
        }
        TimeUnit.MILLISECONDS.sleep(millis);
        over = true;
        double sum = 0;
        for (final Future<Double> result : results) {
            try {
                sum += result.get();
            } catch (final ExecutionException e) {
                throw new IllegalStateException("a thread failed: " + e.getCause(), e);
            }
        }
        if (pool.statistics().liveBlocks() != 0) {
            throw new IllegalStateException("nothing must be in use when all has been freed");
        }
        return sum;
    }

    /** Returns one thread's operations a second, without the frees at the end. */
    private double work() {
        final PoolTarget target = new PoolTarget(pool, false, trace.slots());
        final long[] operations = trace.operations();
        final long start = System.nanoTime();
        long done = 0;
        int next = 0;
        while (!over) {
            final int end = Math.min(next + CHUNK, operations.length);
            Replay.part(target, operations, next, end);
            done += end - next;
            next = end;
            if (next == operations.length) {
                Replay.drain(target, slotsLeft);
                next = 0;
            }
        }
        final double seconds = (System.nanoTime() - start) / 1e9;
        freeAll(target, next);
        if (target.failures() > 0) {
            throw new IllegalStateException("the pool must have memory for all threads");
        }
        return done / seconds;
    }

    /** Frees the blocks that are in use after that many operations. */
    private void freeAll(final Target target, final int operationsDone) {
        final boolean[] full = new boolean[trace.slots()];
        for (int i = 0; i < operationsDone; i++) {
            final long operation = trace.operations()[i];
            full[Trace.slot(operation)] = !Trace.isFree(operation);
        }
        for (int slot = 0; slot < full.length; slot++) {
            if (full[slot] && target.wasServed(slot)) {
                target.free(slot);
            }
        }
    }
}
