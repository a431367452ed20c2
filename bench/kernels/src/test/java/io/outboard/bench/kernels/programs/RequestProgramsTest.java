package io.outboard.bench.kernels.programs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

    /** The page and other readers of results find figures by these names. */
    @ParameterizedTest
    @CsvSource({
        "CudaMalloc, T1M-1, 2 5",
        "CudaMalloc, T1M-32, 2 5 workers",
        "CudaMalloc-coalesced, T100k-32, 6 workers",
        "XMalloc, T1M-16, 2",
        "XMalloc, T100k-1, 6 filled",
        "XMalloc, T100k-32, 6 workers filled",
        "XMalloc, T100k-32-filled, filled",
        "CudaMalloc-buffered4, T100k-8, 6",
        "XMalloc, T1-32, workers",
        "XMalloc, 10240x256B, blocks"
    })
    void shouldNameTheFiguresOfACase(final String store, final String size, final String figures) {
        final List<ProgramCase> cases = new XMallocProgram().cases(new Store(store), false);

        assertTrue(cases.stream().anyMatch(work -> work.size().equals(size)), cases::toString);
        assertEquals(figures, XMallocProgram.figures(new Store(store), size));
    }

    @Test
    void shouldHaveNoCaseOfXMallocWithoutAFigure() {
        final XMallocProgram program = new XMallocProgram();
        for (final Store store : program.stores()) {
            for (final ProgramCase work : program.cases(store, false)) {
                assertFalse(XMallocProgram.figures(store, work.size()).isEmpty(), work::line);
            }
        }
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
