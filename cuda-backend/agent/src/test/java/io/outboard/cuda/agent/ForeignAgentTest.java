package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import examples.fake.FakeNatives;
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

/**
 * This class tests a program that calls the driver by a class of TornadoVM's name and shape, under the agent's jar,
 * over a fake of JCuda. Code with memory segments is compiled only on JDK 22 and newer, so the program is named by a
 * string here.
 */
@Tag("agent-jar")
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
class ForeignAgentTest {

    private static final String PROGRAM = "examples.fake.ForeignProgram";

    @TempDir
    static Path fake;

    @TempDir
    Path folder;

    @BeforeAll
    static void writeFake() throws IOException {
        FakeJCuda.writeTo(fake);
    }

    /**
     * There are two regions, one for each context; none of the program's own calls reaches a driver, which would fail
     * here.
     */
    @Test
    void shouldServeAProgramFromAPoolOfEachOfItsContexts() throws Exception {
        final Outcome outcome = new Jvm(folder)
                .classPath(List.of(fake, Jvm.homeOf(Pointer.class), Jvm.homeOf(FakeNatives.class)))
                .option("-Dfake.driver=true")
                .agent("report")
                .run(PROGRAM);

        final String errors = String.join("\n", outcome.err());
        assertEquals(
                List.of(
                        "second free: 1",
                        "second free: 1",
                        "codes: 0",
                        "driver: 2 allocations, 0 frees",
                        "after the end: 0, driver: 3 allocations, 0 frees",
                        "too much: 2, 0",
                        "no room: true"),
                outcome.out(),
                errors);
        assertEquals(
                "outboard-agent: redirected 8 functions of uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI",
                outcome.err().get(0));
        assertEquals(
                2,
                outcome.err().stream()
                        .filter(line -> line.startsWith(
                                "outboard-agent: device 0: 100 allocations and 100 frees without the driver; "))
                        .count(),
                errors);
    }
}
