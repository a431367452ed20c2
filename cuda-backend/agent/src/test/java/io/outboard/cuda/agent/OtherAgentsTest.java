package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.AllocatingProgram;
import io.outboard.cuda.agent.Jvm.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import jcuda.Pointer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * This class tests the agent beside agents that many programs have: each of them is started before Outboard's agent,
 * and after it. The build has the other agents with {@code -Pagents} alone.
 */
@Tag("agent-jar")
@EnabledIfSystemProperty(
        named = OtherAgentsTest.FOLDER,
        matches = ".+",
        disabledReason = "skipped, needs -Pagents, which downloads three agents")
class OtherAgentsTest {

    static final String FOLDER = "outboard.agents";

    /** The settings with which the agents change classes, and connect to nothing. */
    private static final List<String> QUIET = List.of(
            "-Ddd.trace.startup.logs=false",
            "-Ddd.instrumentation.telemetry.enabled=false",
            "-Ddd.remote_config.enabled=false",
            "-Dotel.traces.exporter=none",
            "-Dotel.metrics.exporter=none",
            "-Dotel.logs.exporter=none");

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "dd-java-agent, true",
        "dd-java-agent, false",
        "opentelemetry-javaagent, true",
        "opentelemetry-javaagent, false",
        "org.jacoco.agent, true",
        "org.jacoco.agent, false"
    })
    void shouldRedirectAProgramBesideAnotherAgent(final String name, final boolean isFirst) throws Exception {
        final Path fake = folder.resolve("fake");
        FakeJCuda.writeTo(fake);
        final Jvm jvm = new Jvm(folder)
                .classPath(List.of(fake, Jvm.homeOf(Pointer.class), Jvm.homeOf(AllocatingProgram.class)));
        QUIET.forEach(jvm::option);
        final String other = "-javaagent:" + jarOf(name)
                + (name.contains("jacoco") ? "=destfile=" + folder.resolve("jacoco.exec") : "");

        final Outcome outcome = (isFirst
                        ? jvm.option(other).agent("report")
                        : jvm.agent("report").option(other))
                .run(AllocatingProgram.class.getName());

        assertEquals(List.of("codes: 0", "driver: 2 allocations, 1 frees"), outcome.out());
        assertEquals(0, outcome.exitCode());
        assertTrue(
                outcome.err().contains("outboard-agent: redirected 9 calls of CUDA in 1 class"),
                () -> String.join("\n", outcome.err()));
    }

    private static Path jarOf(final String name) throws IOException {
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty(FOLDER)))) {
            return jars.filter(jar -> jar.getFileName().toString().startsWith(name))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
