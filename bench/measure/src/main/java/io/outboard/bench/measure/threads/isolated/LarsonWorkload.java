package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;

/** Threads end and leave their blocks to successors; see {@code ThreadProfile.LARSON}. */
final class LarsonWorkload extends Workload {

    /**
     * The replacements after which a thread ends: a thread's start, some 60 microseconds, is then a hundredth of its
     * time, and threads still start and end a hundred times a second. Larson and Krishnan's program has 100 rounds of
     * 5000.
     */
    private static final int REPLACEMENTS_A_THREAD = 50_000;

    private final List<Slots> slots = new ArrayList<>();

    LarsonWorkload(final ThreadSettings settings) {
        for (int i = 0; i < settings.threads(); i++) {
            slots.add(new Slots(settings, i));
        }
    }

    @Override
    int workers() {
        return slots.size();
    }

    /** Starts one thread after the other; the worker's own thread does nothing else. */
    @Override
    void work(final int worker, final Blocks blocks, final Round round, final Tally tally) throws InterruptedException {
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        while (!round.isOver()) {
            final Thread successor =
                    new Thread(() -> live(slots.get(worker), blocks, round, tally), "larson-" + worker);
            successor.setUncaughtExceptionHandler((thread, thrown) -> {
                failure.set(thrown);
                round.end();
            });
            successor.start();
            successor.join();
        }
        final Throwable thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException(thrown.getMessage(), thrown);
        }
    }

    private static void live(final Slots own, final Blocks blocks, final Round round, final Tally tally) {
        final Meter meter = new Meter();
        meter.start();
        long operations = 0;
        for (int i = 0; i < REPLACEMENTS_A_THREAD && !round.isOver(); i += CHUNK) {
            operations += own.replace(blocks, CHUNK);
        }
        meter.stop(tally);
        tally.operations += operations;
    }

    @Override
    boolean metersItself() {
        return true;
    }

    @Override
    void forEachLeft(final LongConsumer address) {
        slots.forEach(own -> own.forEachLeft(address));
    }
}
