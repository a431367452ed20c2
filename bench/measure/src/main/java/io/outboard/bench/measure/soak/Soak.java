package io.outboard.bench.measure.soak;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.pool.PoolStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A soak runs threads that use one pool until time is over or something is wrong. Confined to one thread, which reads
 * the pool's statistics meanwhile.
 *
 * @param <B> a block
 */
final class Soak<B> {

    private static final long LOOK_MILLIS = 2;
    private static final int STEPS_A_LOOK = 32;

    /** The seconds after the end of the time when a thread that hasn't ended counts as hanging. */
    private static final long PATIENCE_SECONDS = 60;

    private final SoakSettings settings;
    private final Session.Shared<B> shared;
    private final SoakClock clock;
    private final AtomicReferenceArray<@Nullable B> exchange;
    private final List<String> violations = new ArrayList<>();
    private volatile boolean over;
    private long operations;
    private long peakHeldBytes;
    private long peakLimboBytes;

    /**
     * The result of a soak says what was found.
     *
     * @param settings what it did
     * @param seconds how long it took
     * @param operations allocations and frees
     * @param peakLiveBytes the most bytes in use at once, as requested
     * @param peakHeldBytes the most bytes that the pool held
     * @param heldBytes the bytes that the pool held when all blocks were freed
     * @param peakLimboBytes the most bytes in limbo
     * @param synchronizations how often the pool waited for the device
     * @param violations what was wrong, one line each
     */
    record Result(
            SoakSettings settings,
            double seconds,
            long operations,
            long peakLiveBytes,
            long peakHeldBytes,
            long heldBytes,
            long peakLimboBytes,
            long synchronizations,
            List<String> violations) {

        double heldOverLive() {
            return peakLiveBytes == 0 ? Double.NaN : (double) peakHeldBytes / peakLiveBytes;
        }

        JsonLine json() {
            return new JsonLine()
                    .put("reusePolicy", settings.policy().name())
                    .put("strategy", settings.strategy())
                    .put("device", settings.device() < 0 ? "simulated" : String.valueOf(settings.device()))
                    .put("threads", (long) settings.threads())
                    .put("limitBytes", settings.limitBytes())
                    .put("seconds", seconds, 1)
                    .put("operations", operations)
                    .put("peakLiveBytes", peakLiveBytes)
                    .put("peakHeldBytes", peakHeldBytes)
                    .put("heldBytes", heldBytes)
                    .put("peakLimboBytes", peakLimboBytes)
                    .put("heldOverLive", heldOverLive(), 3)
                    .put("synchronizations", synchronizations)
                    .put("violations", (long) violations.size())
                    .put("firstViolation", violations.isEmpty() ? null : violations.get(0));
        }
    }

    Soak(final SoakSettings settings, final Session.Shared<B> shared, final SoakClock clock) {
        this.settings = settings;
        this.shared = shared;
        this.clock = clock;
        this.exchange = new AtomicReferenceArray<>(2 * settings.threads());
    }

    /** Runs the soak; {@code progress} hears from time to time how many seconds have passed. */
    Result run(final LongConsumer progress) throws InterruptedException {
        final long start = clock.nowNs();
        final ExecutorService executor = Executors.newFixedThreadPool(settings.threads());
        try {
            final List<Future<Long>> results = new ArrayList<>();
            for (int i = 0; i < settings.threads(); i++) {
                final long seed = i + 1L;
                results.add(executor.submit(() -> work(seed)));
            }
            final long lengthNs = (long) (settings.seconds() * 1e9);
            while (!over && clock.nowNs() - start < lengthNs) {
                TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
                look();
                progress.accept(TimeUnit.NANOSECONDS.toSeconds(clock.nowNs() - start));
            }
            over = true;
            final boolean ended = results.stream().map(this::join).reduce(true, Boolean::logicalAnd);
            look();
            final PoolStatistics last = ended ? finish(executor) : shared.statistics();
            return new Result(
                    settings,
                    (clock.nowNs() - start) / 1e9,
                    operations,
                    shared.peakLiveBytes(),
                    peakHeldBytes,
                    last.heldBytes(),
                    peakLimboBytes,
                    last.synchronizations(),
                    List.copyOf(violations));
        } finally {
            over = true;
            executor.shutdownNow();
        }
    }

    private void look() {
        final PoolStatistics now = shared.statistics();
        peakHeldBytes = Math.max(peakHeldBytes, now.heldBytes());
        peakLimboBytes = Math.max(peakLimboBytes, now.limboBytes());
    }

    private long work(final long seed) {
        final SoakThread<B> thread = new SoakThread<>(shared.open(), exchange, seed);
        try {
            while (!over) {
                final long now = clock.nowNs();
                for (int i = 0; i < STEPS_A_LOOK; i++) {
                    thread.step(now);
                }
            }
            thread.freeAll();
            return thread.operations();
        } finally {
            // The other threads must end as well when this one failed.
            over = true;
        }
    }

    private boolean join(final Future<Long> result) {
        try {
            operations += result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            return true;
        } catch (final ExecutionException e) {
            violations.add(String.valueOf(e.getCause()));
        } catch (final TimeoutException e) {
            violations.add("a thread must end within " + PATIENCE_SECONDS + " s, and waits for something");
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            violations.add("interrupted");
        }
        return false;
    }

    /** Frees the blocks left between threads, and lets all memory be returned; the statistics are from in between. */
    private PoolStatistics finish(final ExecutorService executor) throws InterruptedException {
        final Future<PoolStatistics> last = executor.submit(() -> {
            final Session<B> session = shared.open();
            for (int i = 0; i < exchange.length(); i++) {
                final B left = exchange.getAndSet(i, null);
                if (left != null) {
                    session.free(left);
                    operations++;
                }
            }
            final PoolStatistics statistics = shared.statistics();
            shared.end();
            return statistics;
        });
        try {
            return last.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (final ExecutionException e) {
            violations.add(String.valueOf(e.getCause()));
        } catch (final TimeoutException e) {
            violations.add("giving all back must end within " + PATIENCE_SECONDS + " s");
        }
        return shared.statistics();
    }
}
