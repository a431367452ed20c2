package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * This class tests when JCuda is loaded, and what a user reads when it doesn't load; each case in a fresh virtual
 * machine.
 */
class CudaLoadingTest {

    @TempDir
    private Path temporary;

    @Test
    void shouldNotTouchJCudaBeforeADeviceIsAskedFor() throws IOException, InterruptedException {
        final List<String> lines = run(entry -> true, "-Xlog:class+load");

        assertAll(
                () -> assertTrue(anyLine(lines, " io.outboard.cuda.CudaMemorySource "), "the probe ran"),
                () -> assertTrue(anyLine(lines, "strategies "), "the probe ended"),
                () -> assertEquals(
                        List.of(),
                        lines.stream().filter(line -> line.contains(" jcuda.")).toList()));
    }

    @Test
    void shouldTouchJCudaOnceADeviceIsAskedFor() throws IOException, InterruptedException {
        final List<String> lines = run(entry -> true, "-Xlog:class+load", "0");

        assertTrue(anyLine(lines, " jcuda.runtime.JCuda "), "the test above would see it");
    }

    /**
     * If these classes were loaded later, the first free that asks whether work has finished would take a millisecond.
     */
    @Test
    void shouldLoadWhatAsksTheDeviceWithTheLibrary() throws IOException, InterruptedException {
        final List<String> lines = run(entry -> true, "-Xlog:class+load", "0");

        assertAll(
                () -> assertTrue(anyLine(lines, " io.outboard.cuda.driver.DevicePointers "), "the library loads"),
                () -> assertTrue(anyLine(lines, " io.outboard.cuda.internal.memory.UncheckedCalls ")));
    }

    @Test
    void shouldSayInOneLineThatThereIsNoDriver() {
        Gpu.requireNone();

        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(0));

        assertAll(
                () -> assertEquals(1, messageOf(thrown).lines().count()),
                () -> assertTrue(messageOf(thrown).contains("driver"), messageOf(thrown)));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void shouldSayEachTimeThatTheNativeLibraryIsMissing() throws IOException, InterruptedException {
        final List<String> outcomes =
                outcomes(run(entry -> !entry.contains("jcuda-natives"), "-Xshare:auto", "0", "0"));

        assertAll(
                () -> assertEquals(2, outcomes.size()),
                () -> assertTrue(
                        outcomes.stream()
                                .allMatch(line -> line.startsWith("JCuda's native library does not load (")
                                        && line.contains("put jcuda-natives-12.6.0-linux-x86_64.jar on the class path")
                                        && line.contains("libJCudaRuntime-12.6.0-linux-x86_64")),
                        outcomes.toString()));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void shouldSayThatTheUnpackedLibraryIsDamaged() throws IOException, InterruptedException {
        Files.writeString(temporary.resolve("libJCudaRuntime-12.6.0-linux-x86_64.so"), "damaged");

        final List<String> outcomes = outcomes(run(entry -> true, "-Xshare:auto", "0", "0"));

        assertAll(
                () -> assertEquals(2, outcomes.size()),
                () -> assertTrue(
                        outcomes.stream()
                                .allMatch(line -> line.contains("file too short")
                                        && line.contains("delete any old libJCuda* in java.io.tmpdir=" + temporary)),
                        outcomes.toString()));
    }

    @Test
    void shouldSayEachTimeThatJCudaIsMissing() throws IOException, InterruptedException {
        final List<String> outcomes = outcomes(run(entry -> !entry.contains("jcuda-12"), "-Xshare:auto", "0", "0"));

        assertAll(
                () -> assertEquals(2, outcomes.size()),
                () -> assertTrue(
                        outcomes.stream()
                                .allMatch(line -> line.startsWith("JCuda is not on the class path (")
                                        && line.endsWith("or use JDK 22 or newer, where pools need no JCuda")
                                                == Runtime.version().feature() < 22),
                        outcomes.toString()));
    }

    private static boolean anyLine(final List<String> lines, final String part) {
        return lines.stream().anyMatch(line -> line.contains(part));
    }

    private static List<String> outcomes(final List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith("outcome "))
                .map(line -> line.substring("outcome ".length()))
                .toList();
    }

    private List<String> run(final Predicate<String> keep, final String flag, final String... args)
            throws IOException, InterruptedException {
        return ChildJvm.run(temporary, keep, flag, LazyLoadingProbe.class, args);
    }
}
