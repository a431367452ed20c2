package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tests' processes are shells, which answer as stages do. */
class ProcessStageTest {

    /** The shell answers two zeroes to each {@code read}, after what is done first. */
    private static final String ANSWERS =
            "while read command rest; do case $command in read) echo 0; echo 0;; %s esac; done";

    private static final String HANGS_AT_A_LAUNCH = String.format(ANSWERS, "launch) exec sleep 600;;");

    private static Process shell(final String script) throws IOException {
        return new ProcessBuilder("sh", "-c", script).start();
    }

    private static ProcessStage stage(final Process process, final double limitSeconds) {
        return new ProcessStage(process, List.of(), 1, limitSeconds);
    }

    @Test
    void testThatAProcessIsEndedWhichHangsOnceItsHeapIsMade() throws IOException, InterruptedException {
        final Process process = shell(HANGS_AT_A_LAUNCH);
        try (ProcessStage stage = stage(process, 0.1)) {
            stage.launch("step");
            assertThrows(IllegalStateException.class, stage::refused);
            assertTrue(process.waitFor(1, TimeUnit.MINUTES));
        }
    }

    @Test
    void testThatAProcessThatEndsBeforeItsHeapIsMadeIsAnError() throws IOException {
        final Process process = shell("exit 1");
        assertThrows(IllegalStateException.class, () -> stage(process, 60));
    }

    @Test
    @Tag("thorough")
    void testThatTheLimitBeginsOnceTheHeapIsMade() throws IOException {
        final Process process = shell("sleep 6; " + String.format(ANSWERS, ""));
        try (ProcessStage stage = stage(process, 5)) {
            assertEquals(0, stage.refused());
        }
    }
}
