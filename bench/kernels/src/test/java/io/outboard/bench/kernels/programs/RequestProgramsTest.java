package io.outboard.bench.kernels.programs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.bench.cli.report.JsonLine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This class tests the parts of programs that measure requests alone, without a GPU. */
class RequestProgramsTest {

    @ParameterizedTest
    @CsvSource({"T10240, 10240", "T1k, 1024", "T100k, 102400", "T1M, 1048576"})
    void shouldReadNumbersOfThreads(final String name, final long threads) {
        assertEquals(threads, ThreadCounts.parse(name));
    }

    @Test
    void shouldTakeMediansOfWhatFollowsTheFirstRunAndTheCheck() {
        final Queue<double[]> times = new ArrayDeque<>(
                List.of(new double[] {90, 10}, new double[] {1, 9}, new double[] {2, 1}, new double[] {3, 2}));
        final List<Integer> leftAtCheck = new ArrayList<>();

        final RequestRuns runs = new RequestRuns(3, times::remove, () -> leftAtCheck.add(times.size()));

        final JsonLine json = new JsonLine();
        runs.putTimes(json, 10);
        assertAll(
                () -> assertEquals(List.of(3), leftAtCheck),
                () -> assertEquals(2, runs.medianUs(0)),
                () -> assertEquals(2, runs.medianUs(1)),
                () -> assertEquals(
                        "{\"runs\":3,\"firstUs\":100.00,\"us\":5.00,\"nsPerRequest\":500.000}", json.toString()));
    }

    @Test
    void shouldEndSoonWhereRunsAreLong() {
        final List<Double> times = new ArrayList<>(Arrays.asList(6e6, 6e6, 6e6));

        final RequestRuns runs = new RequestRuns(5, () -> new double[] {times.remove(0)}, () -> {});

        assertEquals(6e6, runs.medianUs());
        assertEquals(1, times.size());
    }
}
