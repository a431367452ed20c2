package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import org.junit.jupiter.api.Test;

class ProgressTest {

    private long now;

    private Progress progress(final long work, final int searches) {
        return new Progress(work, searches, () -> now, null);
    }

    private void passSeconds(final long seconds) {
        now += Duration.ofSeconds(seconds).toNanos();
    }

    @Test
    void shouldEstimateFromWorkAndNotFromSteps() {
        final Progress progress = progress(1_000, 0);

        passSeconds(1);
        progress.step(10);
        passSeconds(19);
        progress.step(190);

        assertEquals(Optional.of(Duration.ofSeconds(80)), progress.left());
    }

    @Test
    void shouldPromiseNothingBeforeAnythingIsDone() {
        final Progress progress = progress(1_000, 0);
        passSeconds(5);

        assertEquals(Optional.empty(), progress.left());
    }

    @Test
    void shouldPromiseNothingWhileNobodyKnowsHowLongASearchTakes() {
        final Progress progress = progress(1_000, 2);
        progress.beginSearch();
        passSeconds(5);
        assertEquals(Optional.empty(), progress.left());

        progress.endSearch();
        passSeconds(10);
        progress.step(500);

        // The other half of the work and another search are left.
        assertEquals(Optional.of(Duration.ofSeconds(10 + 5)), progress.left());

        progress.beginSearch();
        passSeconds(2);

        assertEquals(Optional.of(Duration.ofSeconds(10 + 3)), progress.left());

        passSeconds(100);

        assertEquals(Optional.of(Duration.ofSeconds(10)), progress.left());
    }

    /** During a step that takes minutes, the bar only shows that time goes by. */
    @Test
    void shouldShowMoreThanOnceASecondThatTimeGoesBy() throws Exception {
        final BlockingQueue<String> shown = new LinkedBlockingQueue<>();
        final ProgressBarConsumer terminal = new ProgressBarConsumer() {
            @Override
            public int getMaxRenderedLength() {
                return 80;
            }

            @Override
            public void accept(final String line) {
                shown.add(line);
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
        final AtomicLong seconds = new AtomicLong();

        try (Progress progress = new Progress(
                1_000, 0, () -> seconds.get() * 1_000_000_000L, new ProgressBarBuilder().setConsumer(terminal))) {
            progress.stage("tlsf");
            for (long second = 1; second <= 3; second++) {
                seconds.set(second);
                final String awaited = String.format(Locale.ROOT, " in 0:%02d, ? left  tlsf", second);
                String line = "";
                while (!line.contains(awaited)) {
                    line = shown.poll(30, TimeUnit.SECONDS);
                    assertNotNull(line, "nothing more is shown");
                }
            }
        }
    }

    @Test
    void shouldNameTheStrategyAndTheStepAndMoveEverySecond() {
        final Progress progress = progress(1_000, 0);
        progress.stage("tlsf");
        progress.pass("pass 2 of 5: warm-up");
        passSeconds(62);
        progress.step(500);

        assertEquals("[=====     ]  50 % in 1:02, 1:02 left  tlsf, pass 2 of 5: warm-up", progress.line(80));

        passSeconds(1);
        progress.stage("bitmask");

        assertEquals("[=====     ]  50 % in 1:03, 1:03 left  bitmask", progress.line(80));
        assertEquals("[=====     ]  50 % in 1:03", progress.line(26));
    }
}
