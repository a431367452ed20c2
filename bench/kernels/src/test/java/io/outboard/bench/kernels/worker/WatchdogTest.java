package io.outboard.bench.kernels.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.outboard.bench.kernels.KernelWorker;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** This class tests processes that hang, die and crash, without a GPU. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WatchdogTest {

    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final Duration COMPILATION = Duration.ofSeconds(60);

    @Test
    void shouldGoOnInANewProcessAfterACaseThatHangs() throws Exception {
        final List<KernelResult> results = run("a", FakeWorker.HANGS, "b", "c");

        assertEquals(List.of("ok", "hang", "ok", "ok"), statuses(results));
        assertEquals("not done after 2 s", results.get(1).text("message"));
        assertEquals(FakeWorker.HANGS, results.get(1).text("name"));
        assertNotEquals(pid(results.get(0)), pid(results.get(2)));
        assertEquals(pid(results.get(2)), pid(results.get(3)));
        assertFalse(ProcessHandle.of((long) pid(results.get(0))).isPresent(), "the process that hung must be gone");
    }

    /** The driver compiles kernels for the first case that needs them; one that died may have died before that. */
    @Test
    void shouldLetTheFirstCaseOfSomeKernelsTakeLonger() throws Exception {
        final List<KernelResult> results = run(FakeWorker.DIES, FakeWorker.SLOW, FakeWorker.SLOW);

        assertEquals(List.of("crash", "ok", "hang"), statuses(results));
    }

    @Test
    void shouldSayWhyAProcessDied() throws Exception {
        final List<KernelResult> results = run(FakeWorker.DIES, "a");

        assertEquals(List.of("crash", "ok"), statuses(results));
        assertEquals("the process ended: something is broken", results.get(0).text("message"));
    }

    @Test
    void shouldNotUseAProcessAgainThatReportedACrash() throws Exception {
        final List<KernelResult> results = run("a", FakeWorker.CRASHES, "b");

        assertEquals(List.of("ok", "crash", "ok"), statuses(results));
        assertEquals("cuLaunchKernel failed", results.get(1).text("message"));
        assertNotEquals(pid(results.get(0)), pid(results.get(2)));
    }

    @Test
    void shouldGiveEachSizeOfTheDriversHeapAProcessAndKeepTheOrder() throws Exception {
        final FakeCase large = new FakeCase("large", 2 << 20);
        final FakeCase none = new FakeCase("none");
        final FakeCase small = new FakeCase("small", 1 << 20);

        final List<KernelResult> results = run(List.of(large, none, small, large, none));

        assertEquals(
                List.of("large", "none", "small", "large", "none"),
                results.stream().map(result -> result.text("name")).toList());
        assertEquals(pid(results.get(0)), pid(results.get(3)));
        assertEquals(pid(results.get(1)), pid(results.get(4)));
        assertEquals(3, results.stream().map(WatchdogTest::pid).distinct().count());
    }

    @Test
    void shouldTellOfEachCaseWhenItStartsAndOfEachResultWhenItIsKnown() throws Exception {
        final List<String> started = new ArrayList<>();
        final List<String> ended = new ArrayList<>();

        final List<String> results = new Watchdog<FakeCase>(fake(), LIMIT, COMPILATION)
                .run(
                        List.of(new FakeCase("a"), new FakeCase(FakeWorker.DIES)),
                        work -> {
                            assertEquals(started.size(), ended.size());
                            started.add(work.ending());
                        },
                        ended::add);

        assertEquals(List.of("a", FakeWorker.DIES), started);
        assertEquals(results, ended);
    }

    @Test
    void shouldFailWithTheLastWordsOfAProcessThatDoesNotStart() {
        final List<String> command = new ArrayList<>(fake());
        command.add("there is no device");
        final Watchdog<FakeCase> watchdog = new Watchdog<>(command, LIMIT, COMPILATION);

        final IllegalStateException failure = assertThrows(
                IllegalStateException.class,
                () -> watchdog.run(List.of(new FakeCase("a")), ignored -> {}, ignored -> {}));

        assertEquals("the process that does the work doesn't start: there is no device", failure.getMessage());
    }

    /** The real program starts from this class path and says in one line what is missing. */
    @Test
    void shouldStartTheRealProgramFromThisVirtualMachine() {
        assumeFalse(hasGpu(), "skipped, needs a machine without a GPU");
        final Watchdog<FakeCase> watchdog = new Watchdog<>(KernelWorker.class, 0, LIMIT);

        final IllegalStateException failure = assertThrows(
                IllegalStateException.class,
                () -> watchdog.run(List.of(new FakeCase("a")), ignored -> {}, ignored -> {}));

        final String why = String.valueOf(assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(0))
                .getMessage());
        assertEquals("the process that does the work doesn't start: " + why, failure.getMessage());
    }

    private static boolean hasGpu() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            return source.device().ordinal() == 0;
        } catch (final CudaUnavailableException e) {
            return false;
        }
    }

    private static List<KernelResult> run(final String... endings) throws Exception {
        return run(Stream.of(endings).map(FakeCase::new).toList());
    }

    private static List<KernelResult> run(final List<FakeCase> cases) throws Exception {
        final List<String> lines =
                new Watchdog<FakeCase>(fake(), LIMIT, COMPILATION).run(cases, ignored -> {}, ignored -> {});
        assertEquals(cases.size(), lines.size());
        return IntStream.range(0, lines.size())
                .mapToObj(i -> KernelResult.parse("lines", i + 1, lines.get(i)))
                .toList();
    }

    private static List<String> statuses(final List<KernelResult> results) {
        return results.stream().map(result -> result.text("status")).toList();
    }

    private static double pid(final KernelResult result) {
        final double pid = result.number("pid");
        assertTrue(pid > 0, result.text("status"));
        return pid;
    }

    private static List<String> fake() {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                FakeWorker.class.getName());
    }
}
