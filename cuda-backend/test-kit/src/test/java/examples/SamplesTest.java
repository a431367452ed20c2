package examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.test.MemoryFaultError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the {@link Samples} as users do, and checks which of them fail, and what they say. */
class SamplesTest {

    private static final Path SOURCE = Path.of("src/test/java/examples/Samples.java");

    private final Map<String, Throwable> failures = new TreeMap<>();
    private int passed;

    private void run(final Class<?> sample) {
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(sample))
                                .build(),
                        new TestExecutionListener() {
                            @Override
                            public void executionFinished(final TestIdentifier test, final TestExecutionResult result) {
                                if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                                    failures.put(
                                            test.getDisplayName(),
                                            result.getThrowable().orElseThrow());
                                } else if (test.isTest()) {
                                    passed++;
                                }
                            }
                        });
    }

    private Throwable failure() {
        assertEquals(1, failures.size(), failures::toString);
        assertEquals(0, passed);
        return failures.values().iterator().next();
    }

    /** Answers the line of the samples with this mark, as a stack trace names it. */
    private static String line(final String mark) throws IOException {
        final List<String> lines = Files.readAllLines(SOURCE);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).endsWith("// line: " + mark)) {
                return "(Samples.java:" + (i + 1) + ")";
            }
        }
        throw new AssertionError("no line has the mark " + mark);
    }

    private static void assertContains(final String part, final String message) {
        assertTrue(message.contains(part), () -> part + " must be in: " + message);
    }

    @Test
    void shouldPassWhereNothingIsWrong() {
        run(Samples.Green.class);

        assertEquals(Map.of(), failures);
        assertEquals(3, passed);
    }

    @Test
    void shouldFailForALeakAndNameItsLines() throws IOException {
        run(Samples.Leaking.class);

        final MemoryFaultError error = assertInstanceOf(MemoryFaultError.class, failure());
        final String message = error.getMessage();
        assertTrue(
                message.matches("(?s)leak: block \\[0x[0-9a-f]+, 3.91KiB \\(4000 bytes\\)] wasn't freed\n.*"), message);
        assertContains("allocated at examples.Samples$Model.weights" + line("weights"), message);
        assertContains("by examples.Samples$Leaking.shouldFreeItsWeights" + line("leak"), message);
        assertEquals(2, message.lines().skip(1).count(), message);
        assertContains(line("weights"), error.getStackTrace()[0].toString());
    }

    @Test
    void shouldFailForAHazardAndNameItsLines() throws IOException {
        run(Samples.Hazardous.class);

        final String message =
                assertInstanceOf(MemoryFaultError.class, failure()).getMessage();
        assertTrue(
                message.matches("(?s)hazard: block \\[0x[0-9a-f]+, 1KiB] is freed while kernel fill on stream 1 may "
                        + "still use it, with reuse IMMEDIATE\n.*"),
                message);
        final String test = " at examples.Samples$Hazardous.shouldNotFreeUnderAKernel";
        assertContains("freed" + test + line("hazard freed"), message);
        assertContains("launched" + test + line("hazard launched"), message);
        assertContains("allocated" + test + line("hazard allocated"), message);
        assertEquals(3, message.lines().skip(1).count(), message);
    }

    @Test
    void shouldFailWhenMemoryRunsOutAndNameWhoHasIt() throws IOException {
        run(Samples.Exhausting.class);

        final Throwable error = assertInstanceOf(DeviceOutOfMemoryException.class, failure());
        assertContains("full: requested 512KiB", String.valueOf(error.getMessage()));
        assertContains(line("exhausted"), List.of(error.getStackTrace()).toString());
        assertEquals(1, error.getSuppressed().length, "the leak is the failure's doing");
        final String inUse = String.valueOf(error.getSuppressed()[0].getMessage());
        assertContains("blocks in use: 1, the largest first:", inUse);
        assertContains("768KiB]\n    allocated at examples.Samples$Exhausting.shouldFit" + line("holder"), inUse);
    }

    @Test
    void shouldAddFaultsButNoLeaksToAFailure() {
        run(Samples.Failing.class);

        final Throwable error = assertInstanceOf(IllegalStateException.class, failure());
        assertEquals(1, error.getSuppressed().length);
        final String message = String.valueOf(error.getSuppressed()[0].getMessage());
        assertTrue(
                message.matches("(?s)bounds: kernel overrun on stream 1 writes 4 bytes at offset 1024 of block "
                        + "\\[0x[0-9a-f]+, 1KiB], past its end\n.*"),
                message);
        assertTrue(!message.contains("leak"), message);
    }

    @Test
    void shouldTakeOptionsOfMethodClassAndClassAround() {
        run(Samples.Outer.class);

        assertEquals(1, passed);
        assertInstanceOf(
                DeviceOutOfMemoryException.class, failures.get("shouldHaveTheMemoryOfTheClassAround(SimulatedGpu)"));
        assertEquals(1, failures.size(), failures::toString);
    }

    @Test
    void shouldSayWhereAGpuCanNotBe() {
        run(Samples.Constructed.class);

        assertContains("a GPU lives as long as a test", String.valueOf(failure().getMessage()));
    }
}
