package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.OddCuda;
import examples.fake.OwnCuda;
import examples.fake.OwnProgram;
import examples.fake.OwnStreams;
import io.outboard.cuda.agent.Jvm.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jcuda.Pointer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This class tests the option that names a binding of the program's own. */
@Tag("agent-jar")
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
class OwnBindingTest {

    private static final String PROGRAM = OwnProgram.class.getName();
    private static final int WRONG_ARGUMENT = 2;

    @TempDir
    static Path fake;

    @TempDir
    Path folder;

    @BeforeAll
    static void writeFake() throws IOException {
        FakeJCuda.writeTo(fake);
    }

    /** The binding itself is asked for host memory, and twice for too much, the second time after the pool is empty. */
    @Test
    void shouldServeABindingThatIsNamed() throws Exception {
        final Outcome outcome =
                jvm().agent("report,redirect=" + OwnCuda.class.getName()).run(PROGRAM);

        assertEquals(
                List.of(
                        "codes: 0, binding: 1",
                        "free bytes: 32 MiB, binding: 2",
                        "second free: 1, binding: 2",
                        "too much: 2, 0, binding: 4",
                        "driver: 1 allocations, 1 frees"),
                outcome.out(),
                () -> outcome.err().toString());
        assertTrue(
                outcome.err().contains("outboard-agent: redirected 4 functions of examples.fake.OwnCuda"),
                () -> outcome.err().toString());
    }

    @Test
    void shouldLeaveABindingAloneThatIsNotNamed() throws Exception {
        final Outcome outcome = jvm().agent("").run(PROGRAM);

        assertEquals("codes: 2, binding: 25", outcome.out().get(0));
        assertEquals(List.of(), outcome.err());
    }

    /** The fake captures each stream but the one of all threads, so that memory of a captured stream is a graph's. */
    @Test
    void shouldKnowTheDefaultStreamsOfThreads() throws Exception {
        FakeDriver.compileTo(folder);
        final Outcome outcome = new Jvm(folder)
                .libraries(folder)
                .classPath(List.of(Jvm.homeOf(OwnStreams.class)))
                .agent("redirect=" + OwnStreams.class.getName())
                .run(OwnStreams.class.getName());

        assertEquals(
                List.of(
                        "binding: cudaStreamBeginCapture_ptsz",
                        "binding: cudaMallocAsync_ptsz",
                        "binding: cudaFreeAsync_ptsz",
                        "binding: cudaStreamEndCapture_ptsz",
                        "codes: 0, free of a pool's block by a graph: 900"),
                outcome.out().stream().filter(line -> !line.startsWith("cu")).toList(),
                () -> outcome.err().toString());
    }

    /** A program sets up its logging in main. */
    @Test
    void shouldNotAskForALoggerBeforeTheProgramDoes() throws Exception {
        final Outcome outcome = jvm().option("-Djava.util.logging.manager=a.Missing")
                .agent("redirect=" + OwnCuda.class.getName())
                .run(OddCuda.class.getName());

        assertEquals(new Outcome(0, List.of("main"), List.of()), outcome);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a.Missing | redirect=a.Missing must be a class on the class path: java.lang.ClassNotFoundException",
                "examples.fake.OddCuda | redirect=examples.fake.OddCuda must have functions with the parameters of CUDA's,"
                        + " in the same order, and return an int; these aren't so: cuMemAlloc(String,long)int",
                "examples.fake.OwnProgram | redirect=examples.fake.OwnProgram must be a class that the agent can change,"
                        + " with a static function that has the name of one of CUDA's, such as cuMemAlloc",
            })
    void shouldRefuseAClassThatDoesNotFit(final String name, final String message) throws Exception {
        final Outcome outcome = jvm().agent("redirect=" + name).run(OddCuda.class.getName());

        assertEquals(WRONG_ARGUMENT, outcome.exitCode());
        assertTrue(
                outcome.err().get(0).startsWith("outboard-agent: " + message),
                () -> outcome.err().toString());
        assertEquals(List.of(), outcome.out());
    }

    private Jvm jvm() {
        return new Jvm(folder).classPath(List.of(fake, Jvm.homeOf(Pointer.class), Jvm.homeOf(OwnProgram.class)));
    }
}
