package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.device.GpuDevice;
import io.outboard.bench.kernels.report.KernelResult;
import io.outboard.bench.kernels.worker.MadeKernels;
import io.outboard.bench.kernels.worker.Watchdog;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** This class does the quick run on a device, through the process that cases run in. */
@Tag("gpu")
class KernelBenchGpuTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @BeforeEach
    void needsAGpu() {
        GpuDevice.require();
    }

    @Test
    void shouldRunEveryTestOnEveryAllocatorWithoutAFailedCheck() throws Exception {
        final List<Contender> contenders = Contender.names().stream()
                .flatMap(name -> name.equals(Contender.EMPTY)
                        ? Stream.of(Contender.empty())
                        : Stream.of(new Contender(name, false), new Contender(name, true)))
                .toList();

        for (final KernelResult result : run(CasePlan.quick(contenders))) {
            final String what = result.contender() + ", " + result.name() + ": " + result.text("message");
            assertTrue(result.isComplete(), what);
            assertEquals("", result.failedChecks(), what);
            if (result.test().equals("REGISTERS")) {
                assertTrue(result.number("registers") > 0, what);
            } else if (result.test().equals("CHURN")) {
                assertTrue(result.number("operations") > 0, what);
                // The threads of a warp read at the same time how much is in use, so all of them may ask though only a
                // little more is wanted. With blocks of up to 1 MiB, 84 KiB in the mean, in a heap of 16 MiB, a warp
                // then asks for a sixth of the heap at once.
                assertTrue(result.number("peak") > 0.9 && result.number("peak") < 1.2, what + result.number("peak"));
                assertEquals(0, result.number("nulls"), what);
            } else {
                assertTrue(result.microseconds() > 0, what);
                assertEquals(0, result.number("nulls"), what);
            }
            if (result.test().equals("OOM")) {
                assertTrue(
                        result.number("served") > 0.1 && result.number("served") <= 1, what + result.number("served"));
                assertTrue(result.number("allNullMs") > 0, what);
                assertTrue(result.number("hopelessRequests") >= result.number("allocatingThreads"), what);
                assertTrue(result.number("hopelessNs") > 0, what);
            }
            if (result.test().equals("FILL")) {
                assertTrue(result.number("firstRoundsUs") > 0, what);
                assertTrue(result.number("lastOverFirst") > 0, what);
            }
        }
    }

    /** The heap has room for a third of the requests. */
    @Test
    void shouldCountTheRequestsThatFail() throws Exception {
        final KernelCase work = new KernelCase(
                new Contender("CFMMalloc", false),
                TestKind.AD,
                false,
                1024,
                3072,
                3072,
                1,
                1 << 20,
                PreSplits.DEFAULT,
                1);

        final KernelResult result = run(List.of(work)).get(0);

        assertTrue(result.isComplete(), result.text("message"));
        assertTrue(result.number("nulls") >= 2 * 600, "in two runs: " + result.number("nulls"));
        assertEquals("", result.failedChecks());
    }

    @Test
    void shouldMeasureOnAgedHeaps() throws Exception {
        final KernelCase work = new KernelCase(
                        new Contender("CFMMalloc", true), TestKind.AD, false, 1024, 64, 64, 1, 1L << 30, "default", 3)
                .withAged(true);

        final KernelResult result = run(List.of(work)).get(0);

        assertEquals("", result.failedChecks());
        assertTrue(result.number("ageingLaunches") > 0);
        assertTrue(result.number("agedRatio") > 0);
        assertEquals(0, result.number("agedNulls"));
    }

    @Test
    void shouldRunKernelsThatAreLinked() throws Exception {
        final List<Contender> contenders = Contender.names().stream()
                .filter(name -> new Contender(name, false).isLinkable())
                .flatMap(name -> Stream.of(new Contender(name, false, true), new Contender(name, true, true)))
                .toList();

        for (final KernelResult result : run(CasePlan.quick(contenders))) {
            final String what = result.contender() + ", " + result.name() + ": " + result.text("message");
            assertTrue(result.isComplete(), what);
            assertEquals("", result.failedChecks(), what);
            assertEquals(!result.allocator().equals("Empty"), result.isLinked(), what);
        }
    }

    @Test
    void shouldMeasureFragmentation() throws Exception {
        final KernelCase work = new KernelCase(
                new Contender("CMalloc", false), TestKind.AD, true, 1024, 4, 4, 1, 1 << 24, PreSplits.DEFAULT, 1);

        final KernelResult result = run(List.of(work)).get(0);

        assertTrue(result.number("internalFragmentation") >= 0.75, "4 of 16 bytes and more");
        assertTrue(result.number("internalFragmentation") < 1, "4 bytes of something");
        assertTrue(result.number("externalFragmentation") <= result.number("externalFragmentationOfChunks"), "joined");
    }

    private static List<KernelResult> run(final List<KernelCase> cases) throws Exception {
        MadeKernels.require(cases);
        return new Watchdog<KernelCase>(KernelWorker.class, 0, LIMIT)
                .run(cases, ignored -> {}, ignored -> {}).stream()
                        .map(line -> KernelResult.parse("results", 1, line))
                        .toList();
    }
}
