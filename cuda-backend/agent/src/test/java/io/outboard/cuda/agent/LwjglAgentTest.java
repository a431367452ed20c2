package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.LwjglProgram;
import io.outboard.cuda.agent.Jvm.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lwjgl.Version;
import org.lwjgl.cuda.CU;

/** This class tests a program that calls the driver by LWJGL's published class, over a fake driver. */
@Tag("agent-jar")
class LwjglAgentTest {

    private static final String PROGRAM = LwjglProgram.class.getName();

    /** What a program may ask of the driver, and a pool may ask, too. */
    private static final String CALLS =
            "cu(Mem(Alloc|Free|GetAddress)|Ipc|StreamBegin|StreamEnd|StreamDestroy|CtxCreate" + "|CtxDestroy).*";

    /** Jars of LWJGL, and of the natives that it needs for memory and calls of its own. */
    static final List<Path> LWJGL =
            List.of(Jvm.homeOf(CU.class), Jvm.homeOf(Version.class), Jvm.homeOf("/linux/x64/org/lwjgl/liblwjgl.so"));

    @TempDir
    static Path driver;

    @TempDir
    Path folder;

    @BeforeAll
    static void compileDriver() throws InterruptedException {
        FakeDriver.compileTo(driver);
    }

    /** The driver's own answers differ: it finds nothing wrong, has other blocks, and a pool isn't counted as free. */
    @Test
    void shouldRunOverTheFakeWithoutTheAgent() throws Exception {
        assertEquals(
                List.of(
                        "begin: 0",
                        "buffers: 0, cuMemAlloc_v2 102, cuMemFree_v2 102",
                        "rows: 0, cuMemAllocPitch_v2 3, cuMemFree_v2 3",
                        "questions: 0 false 4096, cuMemAlloc_v2 1, cuMemFree_v2 1, cuMemGetAddressRange_v2 1",
                        "streams: 0, cuMemAllocAsync 2, cuMemFreeAsync 2, cuStreamDestroy_v2 1",
                        "wrong: 0 0 0 2 false 0 1, cuIpcGetMemHandle 1, cuMemAlloc_v2 4, cuMemFree_v2 3",
                        "contexts: 0, cuCtxCreate_v2 2, cuCtxDestroy_v2 2, cuMemAlloc_v2 2, cuMemFree_v2 2"),
                linesOf(onClassPath().run(PROGRAM)));
    }

    /** The driver is asked for a pitch, for too much, the second time after the pool is empty, and without a place. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
    void shouldServeAnUnmodifiedProgram() throws Exception {
        final Outcome outcome = onClassPath().agent("report").run(PROGRAM);

        assertEquals(
                List.of(
                        "begin: 0",
                        "buffers: 0",
                        "rows: 0, cuMemAllocPitch_v2 1, cuMemFree_v2 1",
                        "questions: 0 true 5120",
                        "streams: 0, cuStreamDestroy_v2 1",
                        "wrong: 1 0 1 2 true 801 1, cuMemAlloc_v2 3",
                        "contexts: 0, cuCtxCreate_v2 2, cuCtxDestroy_v2 2"),
                linesOf(outcome));
        assertTrue(
                outcome.err()
                        .containsAll(List.of(
                                "outboard-agent: redirected 26 functions of org.lwjgl.cuda.CU",
                                "outboard-agent: redirected 1 function of org.lwjgl.cuda.CUGL")),
                () -> outcome.err().toString());
    }

    /** The fake captures each stream but the one of all threads, so that memory of a captured stream is a graph's. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "false | capture: 0, cuStreamBeginCapture_v2 1, cuStreamEndCapture 1",
                "true | capture: 0, cuMemAllocAsync_ptsz 1, cuMemFreeAsync_ptsz 1, cuStreamBeginCapture_v2_ptsz 1,"
                        + " cuStreamEndCapture_ptsz 1"
            })
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
    void shouldKnowWhichDefaultStreamTheProgramUses(final boolean perThread, final String capture) throws Exception {
        final Outcome outcome = onClassPath()
                .option("-Dorg.lwjgl.cuda.ptds=" + perThread)
                .agent("reuse=stream-ordered")
                .run(PROGRAM, "default");

        assertEquals(
                List.of("begin: 0", capture, "default stream: 0", "other stream: 0, cuStreamDestroy_v2 1"),
                linesOf(outcome));
        assertEquals(
                perThread ? Set.of("cuStreamGetId 0x2", "cuStreamGetId 0x57") : Set.of("cuStreamGetId 0x57"),
                outcome.out().stream()
                        .filter(line -> line.matches("cuStreamGetId 0x.*"))
                        .collect(Collectors.toSet()));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
    void shouldSayThatTheModulePathCannotBeServed() throws Exception {
        final Outcome outcome = jvm().option("--module-path=" + Jvm.join(LWJGL))
                .option("--add-modules=org.lwjgl.cuda,org.lwjgl.natives")
                .classPath(List.of(Jvm.homeOf(LwjglProgram.class)))
                .agent("")
                .run(PROGRAM);

        assertEquals(
                "buffers: 0, cuMemAlloc_v2 102, cuMemFree_v2 102",
                linesOf(outcome).get(1));
        assertTrue(
                outcome.err()
                        .contains(
                                "outboard-agent: class=org.lwjgl.cuda.CU isn't redirected, so calls of it stay as they"
                                        + " are: it is on the module path"),
                () -> outcome.err().toString());
    }

    private static List<String> linesOf(final Outcome outcome) {
        assertEquals(0, outcome.exitCode(), () -> outcome.err().toString());
        return FakeDriver.summarise(outcome.out(), CALLS);
    }

    private Jvm onClassPath() {
        final List<Path> paths = new ArrayList<>(LWJGL);
        paths.add(Jvm.homeOf(LwjglProgram.class));
        return jvm().classPath(paths);
    }

    private Jvm jvm() {
        return new Jvm(folder)
                .libraries(driver)
                .option("-Dorg.lwjgl.cuda.libname=" + FakeDriver.NAME)
                // The fake lacks many functions.
                .option("-Dorg.lwjgl.util.NoFunctionChecks=true")
                .option("-Dorg.lwjgl.system.SharedLibraryExtractPath=" + folder);
    }
}
