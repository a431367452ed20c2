package io.outboard.bench.cli.tail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.tail.TailComparison.Row;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TailComparisonTest {

    private static final int MAX_BLOCKS = 1 << 18;
    private static final String ISOLATED = "io.outboard.bench.cli.isolated.IsolatedTail";

    private final Trace trace = Profiles.named("mid", 30_000);

    @Test
    void shouldMeasureAsManyOperationsOfBoth() {
        final List<Row> rows = measure(250_001, trace.regionBytes());

        assertEquals(
                List.of("tlsf", "nothing"), rows.stream().map(Row::strategy).toList());
        assertEquals(List.of("nothing", "tlsf"), rows.stream().map(Row::beside).toList());
        for (final Row row : rows) {
            assertEquals(250_001, row.latencies().histogram().getTotalCount());
            assertEquals(0, row.failures());
            assertTrue(row.seconds() > 0);
        }
    }

    /** A loop that calls no allocator takes only the time of the clock, which is subtracted. */
    @Test
    void shouldTakeLessTimeForNothing() {
        final List<Row> rows = measure(1_000_000, trace.regionBytes());

        final double nothing = rows.get(1).latencies().percentile(Percentile.P50);
        assertTrue(nothing < rows.get(0).latencies().percentile(Percentile.P50), nothing + " ns");
    }

    @Test
    void shouldCountRefusalsAndLeaveTheirFreesOut() {
        final List<Row> rows = measure(100_000, trace.peakLiveBytes() / 2);

        assertTrue(rows.get(0).failures() > 0);
        assertTrue(rows.get(0).latencies().histogram().getTotalCount() < 100_000);
        assertEquals(100_000, rows.get(1).latencies().histogram().getTotalCount());
    }

    /** The trace is repeated in a region that has no room for blocks left from the round before. */
    @Test
    void shouldFreeWhatIsLeftAtTheEndOfARound() {
        final Trace open = new Trace(
                "open", 2, 1, new long[] {Trace.allocation(0, 700 << 10), Trace.allocation(1, 4096), Trace.free(1, 4096)
                });

        final List<Row> rows =
                new TailComparison(open, 200_000).measure("tlsf", MAX_BLOCKS, 1 << 20, new Progress(200_000));

        assertEquals(0, rows.get(0).failures());
        assertEquals(133_333, rows.get(0).allocations());
        assertEquals(200_000, rows.get(0).latencies().histogram().getTotalCount());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "nothing"})
    void shouldMakeNoGarbage(final String strategy) {
        final TailBench bench =
                Isolation.open(TailBench.class, ISOLATED, strategy, trace, MAX_BLOCKS, trace.regionBytes());
        final Latencies latencies = new Latencies(0);
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        bench.run(100_000, latencies, latencies);
        final long before = threads.getCurrentThreadAllocatedBytes();

        bench.run(300_000, latencies, latencies);

        final long garbage = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(garbage < 10_000, garbage + " bytes");
    }

    private List<Row> measure(final int operations, final long regionBytes) {
        try (Progress progress = new Progress(operations)) {
            return new TailComparison(trace, operations).measure("tlsf", MAX_BLOCKS, regionBytes, progress);
        }
    }
}
