package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.AllocatingProgram;
import examples.fake.EarlyAgent;
import examples.fake.FieldAgent;
import examples.fake.Launcher;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import io.outboard.cuda.agent.Jvm.Outcome;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jcuda.Pointer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassWriter;

/** This class tests the agent's jar, in Java virtual machines of their own, over a fake of JCuda. */
@Tag("agent-jar")
class AgentJarTest {

    private static final String PROGRAM = AllocatingProgram.class.getName();
    private static final List<String> WITHOUT = List.of("codes: 0", "driver: 103 allocations, 103 frees");

    /** The driver's allocations are one region, and what reflection allocates. */
    private static final List<String> WITH = List.of("codes: 0", "driver: 2 allocations, 1 frees");

    /** The file has 204 records and the header, of 32 bytes each. */
    private static final long RECORDED_BYTES = 205 * 32;

    @TempDir
    static Path fake;

    @TempDir
    Path folder;

    @BeforeAll
    static void writeFake() throws IOException {
        FakeJCuda.writeTo(fake);
    }

    /** Everyone writes this name after {@code -javaagent:}, whatever the version. */
    @Test
    void shouldHaveANameWithoutAVersion() {
        assertEquals("outboard-agent.jar", Jvm.agentJar().getFileName().toString());
    }

    @Test
    void shouldRunTheFakeWithoutTheAgent() throws Exception {
        final Outcome outcome = jvm().run(PROGRAM);

        assertEquals(new Outcome(0, WITHOUT, List.of()), outcome);
    }

    @Test
    void shouldRedirectAnUnmodifiedProgram() throws Exception {
        final Outcome outcome = jvm().agent("").run(PROGRAM);

        assertEquals(new Outcome(0, WITH, List.of()), outcome);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit"})
    void shouldUseTheStrategyOfTheOptions(final String strategy) throws Exception {
        final Outcome outcome =
                jvm().agent("share=0.5,reuse=immediate,strategy=" + strategy).run(PROGRAM);

        assertEquals(new Outcome(0, WITH, List.of()), outcome);
    }

    @Test
    void shouldReportWhatWasSaved() throws Exception {
        final Outcome outcome = jvm().agent("report").run(PROGRAM);

        assertEquals(WITH, outcome.out());
        assertEquals(3, outcome.err().size(), () -> String.join("\n", outcome.err()));
        assertAll(
                () -> assertEquals(
                        "outboard-agent: redirected 9 calls of CUDA in 1 class",
                        outcome.err().get(0)),
                () -> assertEquals(
                        "outboard-agent: device 0: 102 allocations and 102 frees without the driver; 0 waits for the"
                                + " device instead of 102",
                        outcome.err().get(1)),
                () -> assertTrue(outcome.err().get(2).startsWith("outboard-agent: device 0: 1 region, 32MiB")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cudaDeviceReset", "cudaThreadExit"})
    void shouldTakeNewMemoryAfterAReset(final String function) throws Exception {
        final Outcome outcome = jvm().agent("report").run(PROGRAM, function);

        assertEquals(List.of("codes: 0", "driver: 3 allocations, 1 frees"), outcome.out());
        assertEquals(5, outcome.err().size(), () -> String.join("\n", outcome.err()));
        assertAll(
                () -> assertTrue(outcome.err().get(1).contains(" 102 allocations and 102 frees "), "before"),
                () -> assertTrue(outcome.err().get(3).contains(" 1 allocation and 1 free "), "after"));
    }

    /** As on JDK 21 and older, JCuda makes all calls. */
    @ParameterizedTest
    @ValueSource(strings = {"10.2.0", "11.8.0", "12.0.0"})
    void shouldRunWithAnOlderJCuda(final String version) throws Exception {
        final Path jar = JCudaVersionsTest.jar(version);
        final Path older = folder.resolve("older");
        FakeJCuda.writeTo(older, jar);

        final Outcome outcome = new Jvm(folder)
                .classPath(List.of(older, jar, Jvm.homeOf(AllocatingProgram.class)))
                .option("-Djdk.util.jar.enableMultiRelease=false")
                .agent("")
                .run(PROGRAM);

        assertEquals(new Outcome(0, WITH, List.of()), outcome);
    }

    @Test
    void shouldRedirectAProgramInsideAnotherLoader() throws Exception {
        final Outcome outcome = jvm().agent("")
                .run(Launcher.class.getName(), Jvm.homeOf(Launcher.class).toString(), "true", PROGRAM);

        assertEquals(new Outcome(0, WITH, List.of()), outcome);
    }

    @Test
    void shouldLeaveAProgramAloneThatHasAJCudaOfItsOwn() throws Exception {
        final Outcome outcome = new Jvm(folder)
                .classPath(List.of(launcherAlone()))
                .agent("")
                .run(Launcher.class.getName(), Jvm.join(classPath()), "false", PROGRAM);

        assertEquals(WITHOUT, outcome.out());
        assertEquals(0, outcome.exitCode());
        assertEquals(1, outcome.err().size(), () -> String.join("\n", outcome.err()));
        assertTrue(outcome.err().get(0).startsWith("outboard-agent: class=" + PROGRAM + " must see the jcuda."));
    }

    private Path launcherAlone() throws IOException {
        final Path alone = folder.resolve("alone");
        Files.createDirectories(alone.resolve("examples/fake"));
        final String file = "examples/fake/Launcher.class";
        Files.copy(Jvm.homeOf(Launcher.class).resolve(file), alone.resolve(file));
        return alone;
    }

    @Test
    void shouldRedirectAClassThatWasLoadedBefore() throws Exception {
        final Outcome outcome = jvm().agent(EarlyAgent.class, PROGRAM).agent("").run(PROGRAM);

        assertEquals(new Outcome(0, WITH, List.of()), outcome);
    }

    /** The other agent's own classes must be changed, too, though they were loaded before it could add fields. */
    @Test
    void shouldStartAfterAnAgentThatAddsFieldsToAllClasses() throws Exception {
        final Outcome outcome =
                jvm(ClassWriter.class).agent(FieldAgent.class, "").agent("").run(PROGRAM);

        assertEquals(new Outcome(0, WITH, outcome.err()), outcome);
        assertEquals(1, outcome.err().size(), () -> String.join("\n", outcome.err()));
        assertTrue(
                outcome.err().get(0).startsWith("outboard-agent: classes="),
                () -> outcome.err().get(0));
    }

    @Test
    void shouldChangeLoadedClassesBesideOneThatCannotBe() throws Exception {
        final Outcome outcome = jvm(ClassWriter.class)
                .agent(EarlyAgent.class, PROGRAM)
                .agent(FieldAgent.class, FieldAgent.class.getName())
                .agent("report")
                .run(PROGRAM);

        assertEquals(WITH, outcome.out());
        assertTrue(
                outcome.err().get(0).contains("classes=1 ")
                        && outcome.err().get(0).contains(FieldAgent.class.getName()),
                () -> outcome.err().get(0));
        assertEquals(
                "outboard-agent: redirected 9 calls of CUDA in 1 class",
                outcome.err().get(1));
    }

    /** The report must say what was really done. */
    @Test
    void shouldSayWhichLoadedClassCannotBeChanged() throws Exception {
        final Outcome outcome = jvm(ClassWriter.class)
                .agent(EarlyAgent.class, PROGRAM)
                .agent(FieldAgent.class, PROGRAM)
                .agent("report")
                .run(PROGRAM);

        assertEquals(WITHOUT, outcome.out());
        assertTrue(
                outcome.err().get(0).contains("classes=1 ")
                        && outcome.err().get(0).contains(PROGRAM + ": "),
                () -> outcome.err().get(0));
        assertEquals(
                "outboard-agent: redirected 0 calls of CUDA in 0 classes",
                outcome.err().get(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"share=2 must be a number > 0 and <= 1", "reuse=lax must be one of: strict, tracked, "})
    void shouldStopAtAWrongOption(final String message) throws Exception {
        final String option = message.substring(0, message.indexOf(' '));

        final Outcome outcome = jvm().agent(option).run(PROGRAM);

        assertEquals(2, outcome.exitCode());
        assertEquals(List.of(), outcome.out());
        assertEquals(1, outcome.err().size(), () -> String.join("\n", outcome.err()));
        assertTrue(outcome.err().get(0).startsWith("outboard-agent: " + message));
    }

    /** The modules are those of the JDK that docs/drop-in.md names; JCuda needs the last. */
    @ParameterizedTest
    @ValueSource(strings = {"", "jdk.jfr", "java.management"})
    void shouldRunWithFewModules(final String more) throws Exception {
        final String modules = "java.base,java.instrument,java.logging" + (more.isEmpty() ? "" : "," + more);
        final Path recorded = folder.resolve("x.rec");

        final Outcome outcome = jvm().option("--limit-modules")
                .option(modules)
                .agent("record=" + recorded)
                .run(PROGRAM);

        assertEquals(WITH, outcome.out());
        assertEquals(0, outcome.exitCode());
        assertTrue(Files.size(recorded) > 0);
        final String missing = String.join(
                " and no ",
                Stream.of("jdk.jfr", "java.management")
                        .filter(name -> !name.equals(more))
                        .toList());
        assertEquals(
                List.of("WARNING: this Java runtime has no " + missing + ", so pools can't be seen there; they work"),
                outcome.err().stream().filter(line -> line.contains("runtime")).toList());
    }

    /** A heap without room for a pool's tables has room for the program, which the driver then serves. */
    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"6m", "8m", "10m", "12m", "14m"})
    void shouldRunWithASmallHeap(final String most) throws Exception {
        final Outcome outcome = jvm().option("-Xmx" + most).agent("").run(PROGRAM);

        assertEquals(0, outcome.exitCode(), () -> String.join("\n", outcome.err()));
        assertEquals("codes: 0", outcome.out().get(0));
    }

    /** Growth in place uses native calls. */
    @EnabledForJreRange(min = JRE.JAVA_24)
    @Test
    void shouldSayThatNativeAccessIsForbidden() throws Exception {
        final Outcome outcome = jvm().withoutNativeAccess()
                .option("--illegal-native-access=deny")
                .agent("")
                .run(PROGRAM);

        assertEquals(WITH, outcome.out());
        assertEquals(
                1,
                outcome.err().stream()
                        .filter(line -> line.contains("--enable-native-access=ALL-UNNAMED"))
                        .count(),
                () -> String.join("\n", outcome.err()));
    }

    @Test
    void shouldRecordToAFileOfItsOwnWhileAnotherProcessWrites() throws Exception {
        final Path file = folder.resolve("x.rec");
        final Outcome outcome;
        try (FileOutputStream other = new FileOutputStream(file.toFile());
                FileLock lock = other.getChannel().lock()) {
            other.write(1);
            outcome = jvm().agent("record=" + file).run(PROGRAM);
            assertTrue(lock.isValid());
        }

        assertEquals(WITH, outcome.out());
        assertEquals(1, Files.size(file));
        assertEquals(RECORDED_BYTES, Files.size(folder.resolve("x.rec.2")));
        assertEquals(
                1,
                outcome.err().stream().filter(line -> line.contains("x.rec.2")).count(),
                () -> String.join("\n", outcome.err()));
    }

    @Test
    void shouldPutProcessAndTimeIntoTheNameOfARecording() throws Exception {
        final Outcome outcome =
                jvm().agent("record=" + folder.resolve("%%a-%p-%t.rec")).run(PROGRAM);

        assertEquals(WITH, outcome.out());
        try (Stream<Path> files = Files.list(folder)) {
            final List<Path> recorded = files.filter(
                            path -> path.getFileName().toString().endsWith(".rec"))
                    .toList();
            assertEquals(1, recorded.size());
            final String name = recorded.get(0).getFileName().toString();
            assertTrue(name.matches("%a-\\d+-\\d{4}_\\d\\d_\\d\\d_\\d\\d_\\d\\d_\\d\\d\\.rec"), name);
            assertEquals(RECORDED_BYTES, Files.size(recorded.get(0)));
        }
    }

    /** The files of services of several modules must be merged into one. */
    @Test
    void shouldKnowAllStrategies() throws Exception {
        final String names =
                Strategies.all().stream().map(StrategyProvider::name).collect(Collectors.joining(", "));

        final Outcome outcome = jvm().agent("strategy=magic").run(PROGRAM);

        assertEquals(List.of("outboard-agent: strategy=magic must be one of: " + names), outcome.err());
    }

    @Test
    void shouldHoldNoClassesUnderNamesOfOthers() throws Exception {
        try (JarFile jar = new JarFile(Jvm.agentJar().toFile())) {
            final List<String> foreign = jar.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.endsWith(".class") && !name.startsWith("io/outboard/"))
                    .filter(name -> !name.matches("META-INF/versions/\\d+/io/outboard/.*"))
                    .toList();

            assertEquals(List.of(), foreign);
        }
    }

    /** Returns a virtual machine with other libraries that have these classes. */
    private Jvm jvm(final Class<?>... libraries) {
        final List<Path> paths = new ArrayList<>(classPath());
        Arrays.stream(libraries).map(Jvm::homeOf).forEach(paths::add);
        return new Jvm(folder).classPath(paths);
    }

    /** Returns the program's own class path, without Outboard. */
    private static List<Path> classPath() {
        return List.of(fake, Jvm.homeOf(Pointer.class), Jvm.homeOf(AllocatingProgram.class));
    }
}
