package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.EarlyAgent;
import examples.fake.Launcher;
import io.outboard.cuda.agent.Jvm.Outcome;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/**
 * This class tests the option {@code foreign} with a program that calls CUDA by {@code java.lang.foreign}, over
 * libraries that a C compiler makes, which say what they are asked.
 */
@Tag("agent-jar")
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
class PlainForeignAgentTest {

    private static final String PROGRAM = "examples.fake.PlainProgram";
    private static final int WRONG_ARGUMENT = 2;

    /** What the program prints with the agent, too, but for free memory. */
    private static final List<String> PRINTED = List.of(
            "context: 0",
            "driver: 0",
            "references: 0",
            "a binding: 0",
            "odd handles: 0",
            "too much: 2",
            "runtime: 0",
            "slices: 0, 512, 100, 3",
            "slices: 0, 512, 100, 3",
            "32 bits: 0, 20480",
            "capture: 0");

    @TempDir
    static Path libraries;

    @TempDir
    Path folder;

    @BeforeAll
    static void makeLibraries() throws InterruptedException {
        FakeDriver.compileTo(libraries);
        final Path module = Jvm.homeOf(PlainForeignAgentTest.class).resolve("../..");
        FakeDriver.compile(module.resolve("src/test/c/runtime.c"), libraries.resolve("libcudart.so"));
    }

    @Test
    void shouldRunWithoutTheAgent() throws Exception {
        final Outcome outcome = jvm().run(PROGRAM, "driver", runtime());

        assertEquals(List.of(), outcome.err());
        assertEquals(PRINTED, printed(outcome));
        assertEquals(102, allocations(outcome));
    }

    /** The second call for too much comes after the pool is empty; the last is of a pool that asks for the pitch. */
    @Test
    void shouldServeAnUnmodifiedProgram() throws Exception {
        final Outcome outcome = jvm().agent("report,foreign").run(PROGRAM, "driver", runtime());

        assertEquals(PRINTED, printed(outcome), () -> outcome.err().toString());
        assertEquals(
                List.of(
                        "cuMemFree_v2 0",
                        "cuMemFree_v2 0",
                        "cuMemFree_v2 0",
                        "cuMemFree_v2 0",
                        "cuMemAlloc_v2 1099511627776",
                        "cuMemAlloc_v2 1099511627776",
                        "cuMemAllocPitch_v2 1 1 4",
                        "cuMemFree_v2 1234",
                        "cudaMalloc3D 100 3 2",
                        "cuMemAlloc 1000"),
                outcome.out().stream()
                        .filter(line -> line.matches("cu(Mem|da)(Alloc|Malloc|Free).*"))
                        .toList());
        final String rest = " has other parameters than CUDA's, or the handle has options, so its calls by this handle"
                + " stay as they are";
        assertEquals(
                List.of(
                        "outboard-agent: function=cuMemFree_v2(MemorySegment,long)int" + rest,
                        "outboard-agent: function=cuMemFree_v2(short)int" + rest,
                        "outboard-agent: function=cuMemAlloc_v2(MemorySegment,MemorySegment)int" + rest,
                        "outboard-agent: function=cudaStreamBeginCapture(MemorySegment,MemorySegment,int)int" + rest,
                        "outboard-agent: redirected 8 functions of java.lang.foreign"),
                outcome.err().subList(0, 5));
        assertTrue(
                outcome.err().get(5).startsWith("outboard-agent: device 0: 104 allocations and 103 frees without the"),
                () -> outcome.err().get(5));
    }

    /** What is free is the driver's, and in the pool. */
    @Test
    void shouldCountFreeMemoryOnce() throws Exception {
        final Outcome without = jvm().run(PROGRAM);
        final Outcome with = jvm().agent("foreign").run(PROGRAM);

        assertTrue(without.out().contains("free: 0, 512 of 1024 MiB"));
        assertTrue(with.out().contains("free: 0, 576 of 1024 MiB"));
    }

    /** The agent knows the binding by its name. */
    @Test
    void shouldServeABindingAloneWithoutTheOption() throws Exception {
        final Outcome outcome = jvm().agent("").run(PROGRAM, "driver", runtime());

        assertEquals(PRINTED, printed(outcome));
        assertEquals(101, allocations(outcome));
        assertEquals(List.of(), outcome.err());
    }

    @Test
    void shouldServeAClassThatWasLoadedBefore() throws Exception {
        final Outcome outcome =
                jvm().agent(EarlyAgent.class, PROGRAM).agent("foreign").run(PROGRAM);

        assertEquals(0, allocations(outcome));
    }

    @Test
    void shouldServeAModule() throws Exception {
        final Path home = Jvm.homeOf(Launcher.class);
        final Path jar = folder.resolve("plain.jar");
        try (OutputStream stream = Files.newOutputStream(jar);
                JarOutputStream file = new JarOutputStream(stream);
                Stream<Path> classes = Files.walk(home)) {
            // The package of this test is the agent's, which can't be the program's, too.
            for (final Path each : classes.filter(Files::isRegularFile)
                    .filter(each -> !each.startsWith(home.resolve("io")))
                    .toList()) {
                file.putNextEntry(new ZipEntry(home.relativize(each).toString()));
                Files.copy(each, file);
            }
        }

        final Outcome outcome = new Jvm(folder)
                .libraries(libraries)
                .option("--enable-native-access=plain")
                .option("-p")
                .option(jar.toString())
                .agent("foreign")
                .option("-m")
                .run("plain/" + PROGRAM);

        assertEquals(0, outcome.exitCode(), () -> outcome.err().toString());
        assertEquals(0, allocations(outcome));
    }

    @Test
    void shouldLeaveAProgramAloneWhoseLoaderDoesNotSeeTheAgent() throws Exception {
        final Outcome outcome = jvm().agent("foreign")
                .run(Launcher.class.getName(), Jvm.homeOf(Launcher.class).toString(), "false", PROGRAM);

        assertEquals(102, allocations(outcome));
        assertEquals(
                "outboard-agent: class=" + PROGRAM + " must see io.outboard.cuda.internal.foreign.Downcalls to"
                        + " be redirected; it doesn't, so its calls, and those of classes like it, stay as they are",
                outcome.err().get(0));
    }

    /** A program sets up its logging in main, after its classes may have made handles. */
    @Test
    void shouldNotAskForALoggerBeforeAFunctionIsCalled() throws Exception {
        final Outcome outcome = jvm().option("-Djava.util.logging.manager=a.Missing")
                .agent("foreign")
                .run(PROGRAM, "idle");

        assertEquals(new Outcome(0, List.of("handles: (MemorySegment,long)int(long)int"), List.of()), outcome);
    }

    @Test
    void shouldRefuseTheOptionOnAnOlderJdk() throws Exception {
        final Outcome outcome = jvm().option("-Djdk.util.jar.enableMultiRelease=false")
                .agent("foreign")
                .run(PROGRAM);

        assertEquals(
                new Outcome(
                        WRONG_ARGUMENT,
                        List.of(),
                        List.of("outboard-agent: foreign must be left out on a JDK older than 22")),
                outcome);
    }

    @Test
    void shouldRefuseTheOptionBesideClassesToRedirect() throws Exception {
        final Outcome outcome = jvm().agent("foreign,redirect=a.B").run(PROGRAM);

        assertEquals(
                new Outcome(
                        WRONG_ARGUMENT,
                        List.of(),
                        List.of("outboard-agent: foreign must be given without redirect, since a class's functions and"
                                + " handles behind them would both be redirected")),
                outcome);
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_24)
    void shouldRefuseTheOptionWhereNativeAccessIsForbidden() throws Exception {
        final Outcome outcome = jvm().withoutNativeAccess()
                .option("--illegal-native-access=deny")
                .agent("foreign")
                .run(PROGRAM);

        assertEquals(
                new Outcome(
                        WRONG_ARGUMENT,
                        List.of(),
                        List.of("outboard-agent: foreign must be left out where native access is forbidden; to allow"
                                + " it: --enable-native-access=ALL-UNNAMED")),
                outcome);
    }

    private static List<String> printed(final Outcome outcome) {
        return outcome.out().stream()
                .filter(line -> line.contains(": ") && !line.startsWith("free: "))
                .toList();
    }

    /** Counts what the program allocates, but for its request of too much. */
    private static long allocations(final Outcome outcome) {
        return outcome.out().stream()
                .filter(line -> line.matches("cuMemAlloc_v2 [0-9]{4,6}"))
                .count();
    }

    private static String runtime() {
        return libraries.resolve("libcudart.so").toString();
    }

    private Jvm jvm() {
        return new Jvm(folder).classPath(List.of(Jvm.homeOf(Launcher.class))).libraries(libraries);
    }
}
