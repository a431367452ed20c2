package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.Alternate;
import examples.BufferLoop;
import examples.Churn;
import examples.JavaCppBuffers;
import examples.KernelsInFlight;
import examples.LaunchesBeside;
import examples.LwjglBuffers;
import examples.ManyThreads;
import examples.Scatter;
import examples.VectorAdd;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.agent.Jvm.Outcome;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jcuda.Pointer;
import org.bytedeco.cuda.global.cudart;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests that unmodified programs print the same with the agent and without. {@link AgentJarTest} is the twin
 * without a GPU.
 */
@Tag("gpu")
class ExamplesGpuTest {

    private static final String NATIVE_LIBRARY = "/lib/libJCudaRuntime-12.6.0-linux-x86_64.so";

    private static final String JAVACPP = JavaCppBuffers.class.getName();
    private static final String LWJGL = LwjglBuffers.class.getName();
    private static final String FOREIGN = "examples.PlainForeign";
    private static final String JAVACPP_LOADER = "/org/bytedeco/javacpp/linux-x86_64/libjnijavacpp.so";
    private static final String JAVACPP_LIBRARY = "/org/bytedeco/cuda/linux-x86_64/libjnicudart.so";

    /** On a quiet machine, time in calls should be less than a thirtieth. */
    private static final double LEAST_GAIN = 10;

    private static final int RUNS = 5;
    private static final long RECORD_BYTES = 32;

    /**
     * The limit for the cost of a record. On a quiet machine the cost should be 60 ns; far above that something is
     * wrong, however busy the machine.
     */
    private static final double MOST_COST_NANOS = 1000;

    @TempDir
    Path folder;

    @BeforeAll
    static void requireGpu() {
        try {
            CudaMemorySource.open(0).close();
        } catch (final CudaUnavailableException e) {
            Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {VectorAdd.class, BufferLoop.class, ManyThreads.class, KernelsInFlight.class})
    void shouldPrintTheSameWithTheAgent(final Class<?> program) throws Exception {
        assertPrintsTheSame(program.getName(), "");
    }

    /**
     * The program calls the driver by {@code java.lang.foreign}, as TornadoVM does, so it is compiled only where that
     * package exists.
     */
    @EnabledForJreRange(min = JRE.JAVA_22)
    @Test
    void shouldPrintTheSameOfAProgramThatCallsTheDriverWithoutJCuda() throws Exception {
        assertPrintsTheSame("examples.ForeignBuffers", "");
    }

    /** The natives of JavaCPP are in the bundle, and need the runtime of CUDA 13. */
    @EnabledForJreRange(min = JRE.JAVA_22)
    @Test
    void shouldServeAProgramThatCallsByJavaCpp(final TestReporter reporter) throws Exception {
        Assumptions.assumeTrue(getClass().getResource(JAVACPP_LIBRARY) != null, "skipped, needs JavaCPP's natives");
        Assumptions.assumeFalse(
                String.join("\n", jvm().run(JAVACPP, "1").err()).contains("UnsatisfiedLinkError"),
                "skipped, needs the runtime of CUDA 13");

        assertPrintsTheSame(JAVACPP, "");
        assertGains(JAVACPP, "", reporter);
    }

    @EnabledForJreRange(min = JRE.JAVA_22)
    @Test
    void shouldServeAProgramThatCallsByLwjgl(final TestReporter reporter) throws Exception {
        assertPrintsTheSame(LWJGL, "");
        assertGains(LWJGL, "", reporter);
    }

    @EnabledForJreRange(min = JRE.JAVA_22)
    @Test
    void shouldServeAProgramThatCallsByHandles(final TestReporter reporter) throws Exception {
        assertPrintsTheSame(FOREIGN, ",foreign");
        assertGains(FOREIGN, "foreign", reporter);
    }

    private void assertGains(final String program, final String options, final TestReporter reporter) throws Exception {
        final double without = millisOf(jvm().run(program));
        final double with = millisOf(jvm().agent(options).run(program));
        reporter.publishEntry(program + ", ms in calls, without and with the agent", without + ", " + with);
        assertTrue(with < without / LEAST_GAIN, () -> without + " ms without, " + with + " with the agent");
    }

    private static double millisOf(final Outcome outcome) {
        final String err = String.join("\n", outcome.err());
        final Matcher calls = Pattern.compile("calls: \\d+, ([0-9.]+) ms").matcher(err);
        assertTrue(calls.find(), err);
        return Double.parseDouble(calls.group(1));
    }

    private void assertPrintsTheSame(final String program, final String more) throws Exception {
        final Outcome without = jvm().run(program);
        assertEquals(0, without.exitCode(), () -> String.join("\n", without.err()));
        assertTrue(!without.out().isEmpty());

        for (final String reuse : List.of("strict", "tracked", "stream-ordered")) {
            final Outcome with = jvm().agent("report,reuse=" + reuse + more).run(program);

            final String report = String.join("\n", with.err());
            assertAll(
                    () -> assertEquals(0, with.exitCode(), report),
                    () -> assertEquals(without.out(), with.out(), reuse),
                    () -> assertTrue(report.contains("outboard-agent: redirected "), report),
                    () -> assertTrue(
                            report.matches("(?s).* [1-9]\\d* allocations and [1-9]\\d* frees without .*"), report));
        }
    }

    /**
     * The driver can serve the block, since its pages may lie anywhere. On an older JDK a pool can't, since its regions
     * are whole.
     */
    @EnabledForJreRange(min = JRE.JAVA_22)
    @ParameterizedTest
    @ValueSource(strings = {"strict", "tracked", "stream-ordered"})
    void shouldServeALargeBlockOfScatteredMemory(final String reuse, final TestReporter reporter) throws Exception {
        for (final List<String> arguments : List.of(List.<String>of(), List.of("busy"))) {
            final Outcome with =
                    jvm().agent("report,reuse=" + reuse).run(Scatter.class.getName(), arguments.toArray(String[]::new));

            with.out().forEach(line -> reporter.publishEntry(reuse + " " + arguments + " " + line));
            assertEquals(0, with.exitCode(), () -> String.join("\n", with.err()));
            assertEquals("done", with.out().get(with.out().size() - 1));
            assertTrue(
                    with.out().stream().allMatch(line -> line.equals("done") || line.endsWith(" ms, wrong: 0")),
                    () -> String.join("\n", with.out()));
        }
    }

    /** Beside as many threads as here, the driver's own calls take seconds. */
    @EnabledForJreRange(min = JRE.JAVA_22)
    @Test
    void shouldAllocateBesideThreadsThatLaunch(final TestReporter reporter) throws Exception {
        final Outcome outcome = jvm().agent("report").run(LaunchesBeside.class.getName(), "8", "0", "0", "10000", "20");

        outcome.out().forEach(reporter::publishEntry);
        assertEquals(0, outcome.exitCode(), () -> String.join("\n", outcome.err()));
        assertTrue(
                outcome.out().get(0).contains("; 10000 allocations in "),
                outcome.out().get(0));
    }

    /** Each process returns what it doesn't need after a second, so that both have 70 % of the device in turn. */
    @EnabledForJreRange(min = JRE.JAVA_22)
    @Test
    void shouldLeaveItsMemoryToAnotherProcess(final TestReporter reporter) throws Exception {
        final String turns = folder.resolve("turns").toString();
        final List<Jvm.Running> processes = new ArrayList<>();
        for (final String each : List.of("0", "1")) {
            processes.add(jvm(Files.createDirectory(folder.resolve(each)))
                    .agent("keep=1")
                    .start(Alternate.class.getName(), each, turns));
        }
        for (final Jvm.Running process : processes) {
            final Outcome outcome = process.await();
            outcome.out().forEach(reporter::publishEntry);
            assertEquals(0, outcome.exitCode(), () -> String.join("\n", outcome.err()));
            assertEquals("done", outcome.out().get(outcome.out().size() - 1));
            assertTrue(outcome.out().stream().allMatch(line -> line.equals("done") || line.endsWith(", wrong: 0")));
        }
    }

    /** The test checks that the file has what the program does, and what the record costs. */
    @Test
    void shouldRecordAtLittleCost(final TestReporter reporter) throws Exception {
        final Path file = folder.resolve("program.rec");
        final double[] plain = new double[RUNS];
        final double[] recorded = new double[RUNS];
        for (int run = 0; run < RUNS; run++) {
            plain[run] = nanosOf(jvm().agent("report").run(Churn.class.getName()));
            final Outcome outcome = jvm().agent("report,record=" + file).run(Churn.class.getName());
            recorded[run] = nanosOf(outcome);
            final String report = String.join("\n", outcome.err());
            final Matcher counts = Pattern.compile("(\\d+) allocations and (\\d+) frees without")
                    .matcher(report);
            assertTrue(counts.find(), report);
            final long calls = Long.parseLong(counts.group(1)) + Long.parseLong(counts.group(2));
            assertEquals(RECORD_BYTES * (calls + 1), Files.size(file), report);
        }
        Arrays.sort(plain);
        Arrays.sort(recorded);
        final double cost = recorded[RUNS / 2] - plain[RUNS / 2];
        reporter.publishEntry(
                "a call, and what recording adds, ns", plain[RUNS / 2] + ", " + Math.round(10 * cost) / 10.0);
        assertTrue(cost < MOST_COST_NANOS, () -> Arrays.toString(plain) + " " + Arrays.toString(recorded));
    }

    private static double nanosOf(final Outcome outcome) {
        assertEquals(0, outcome.exitCode(), () -> String.join("\n", outcome.err()));
        return Double.parseDouble(outcome.out().get(0));
    }

    private Jvm jvm() {
        return jvm(folder);
    }

    /** Returns a virtual machine with JCuda and the programs, and without Outboard. */
    private static Jvm jvm(final Path folder) {
        final List<Path> classPath = new ArrayList<>(List.of(Jvm.homeOf(Pointer.class), Jvm.homeOf(VectorAdd.class)));
        // In the GPU bundle the libraries lie unpacked on java.library.path.
        if (ExamplesGpuTest.class.getResource(NATIVE_LIBRARY) != null) {
            classPath.add(Jvm.homeOf(NATIVE_LIBRARY));
        }
        if (ExamplesGpuTest.class.getResource(JAVACPP_LIBRARY) != null) {
            classPath.addAll(List.of(
                    Jvm.homeOf(cudart.class),
                    Jvm.homeOf(org.bytedeco.javacpp.Pointer.class),
                    Jvm.homeOf(JAVACPP_LOADER),
                    Jvm.homeOf(JAVACPP_LIBRARY)));
        }
        classPath.addAll(LwjglAgentTest.LWJGL);
        return new Jvm(folder)
                .classPath(classPath)
                // Both unpack their libraries there.
                .option("-Dorg.bytedeco.javacpp.cachedir=" + folder)
                .option("-Dorg.lwjgl.system.SharedLibraryExtractPath=" + folder)
                .option("-Dorg.lwjgl.cuda.libname=" + FakeDriver.NAME);
    }
}
