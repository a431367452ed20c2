package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.outboard.bench.report.KernelResult;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.memory.CudaUnavailableException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes that hang, die and crash, without a GPU. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WatchdogTest {

    private static final Duration LIMIT = Duration.ofSeconds(2);

    @Test
    void shouldGoOnInANewProcessAfterACaseThatHangs() throws Exception {
        final List<KernelResult> results = run(16, FakeWorker.HANGS, 32, 64);

        assertEquals(List.of("ok", "hang", "ok", "ok"), statuses(results));
        assertEquals("not done after 2 s", results.get(1).text("message"));
        assertEquals("AD T1k 1 B", results.get(1).name());
        assertNotEquals(pid(results.get(0)), pid(results.get(2)));
        assertEquals(pid(results.get(2)), pid(results.get(3)));
        assertFalse(ProcessHandle.of((long) pid(results.get(0))).isPresent(), "the process that hung must be gone");
    }

    @Test
    void shouldSayWhyAProcessDied() throws Exception {
        final List<KernelResult> results = run(FakeWorker.DIES, 16);

        assertEquals(List.of("crash", "ok"), statuses(results));
        assertEquals("the process ended: something is broken", results.get(0).text("message"));
    }

    @Test
    void shouldNotUseAProcessAgainThatReportedACrash() throws Exception {
        final List<KernelResult> results = run(16, FakeWorker.CRASHES, 16);

        assertEquals(List.of("ok", "crash", "ok"), statuses(results));
        assertEquals("cuLaunchKernel failed", results.get(1).text("message"));
        assertNotEquals(pid(results.get(0)), pid(results.get(2)));
    }

    @Test
    void shouldGiveEachSizeOfTheDriversHeapAProcessAndKeepTheOrder() throws Exception {
        final KernelCase cuda = work("CudaMalloc", 16);
        final KernelCase list = work("CMalloc", 16);
        final KernelCase small = cuda.withHeap(1 << 20, PreSplits.DEFAULT);

        final List<KernelResult> results = run(List.of(cuda, list, small, cuda, list));

        assertEquals(
                List.of("CudaMalloc", "CMalloc", "CudaMalloc", "CudaMalloc", "CMalloc"),
                results.stream().map(KernelResult::allocator).toList());
        assertEquals("AD T1k 16 B, 1 MiB heap", results.get(2).name());
        assertEquals(pid(results.get(0)), pid(results.get(3)));
        assertEquals(pid(results.get(1)), pid(results.get(4)));
        assertEquals(3, results.stream().map(WatchdogTest::pid).distinct().count());
    }

    @Test
    void shouldTellOfEachCaseWhenItStarts() throws Exception {
        final List<String> started = new ArrayList<>();

        new Watchdog(fake(), LIMIT)
                .run(List.of(work("CMalloc", 16), work("CMalloc", FakeWorker.DIES)), work -> started.add(work.name()));

        assertEquals(List.of("AD T1k 16 B", "AD T1k 2 B"), started);
    }

    @Test
    void shouldFailWithTheLastWordsOfAProcessThatDoesNotStart() {
        final List<String> command = new ArrayList<>(fake());
        command.add("there is no device");
        final Watchdog watchdog = new Watchdog(command, LIMIT);

        final IllegalStateException failure = assertThrows(
                IllegalStateException.class, () -> watchdog.run(List.of(work("CMalloc", 16)), ignored -> {}));

        assertEquals("the process that runs kernels doesn't start: there is no device", failure.getMessage());
    }

    /** The real program starts from this class path and says in one line what is missing. */
    @Test
    void shouldStartTheRealProgramFromThisVirtualMachine() {
        assumeFalse(hasGpu(), "skipped, needs a machine without a GPU");
        final Watchdog watchdog = new Watchdog(0, LIMIT);

        final IllegalStateException failure = assertThrows(
                IllegalStateException.class, () -> watchdog.run(List.of(work("CMalloc", 16)), ignored -> {}));

        final String why = String.valueOf(assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(0))
                .getMessage());
        assertEquals("the process that runs kernels doesn't start: " + why, failure.getMessage());
    }

    private static boolean hasGpu() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            return source.device().ordinal() == 0;
        } catch (final CudaUnavailableException e) {
            return false;
        }
    }

    private static List<KernelResult> run(final long... bytes) throws Exception {
        return run(LongStream.of(bytes).mapToObj(size -> work("CFMalloc", size)).toList());
    }

    private static List<KernelResult> run(final List<KernelCase> cases) throws Exception {
        final List<String> lines = new Watchdog(fake(), LIMIT).run(cases, ignored -> {});
        assertEquals(cases.size(), lines.size());
        return IntStream.range(0, lines.size())
                .mapToObj(i -> KernelResult.parse("lines", i + 1, lines.get(i)))
                .toList();
    }

    private static KernelCase work(final String allocator, final long bytes) {
        return new KernelCase(
                new Contender(allocator, false),
                TestKind.AD,
                false,
                1024,
                bytes,
                bytes,
                1,
                KernelCase.HEAP_BYTES,
                PreSplits.DEFAULT,
                5);
    }

    private static List<String> statuses(final List<KernelResult> results) {
        return results.stream().map(result -> result.text("status")).toList();
    }

    private static double pid(final KernelResult result) {
        final double pid = result.number("runs");
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
