package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.CudaUnavailableException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
                        outcomes.stream().allMatch(line -> line.startsWith("JCuda is not on the class path (")),
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

    /**
     * Runs the probe on the part of this class path that {@code keep} accepts, and returns the lines that it prints.
     */
    private List<String> run(final Predicate<String> keep, final String flag, final String... args)
            throws IOException, InterruptedException {
        final String classPath = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> keep.test(Path.of(entry).getFileName().toString()))
                .collect(Collectors.joining(File.pathSeparator));
        final Path output = temporary.resolve("output.txt");
        final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                flag,
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                classPath,
                LazyLoadingProbe.class.getName()));
        command.addAll(List.of(args));
        final Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        final int exitCode = process.waitFor();
        final List<String> lines = Files.readAllLines(output, StandardCharsets.UTF_8);
        assertEquals(0, exitCode, () -> String.join("\n", lines));
        return lines;
    }
}
