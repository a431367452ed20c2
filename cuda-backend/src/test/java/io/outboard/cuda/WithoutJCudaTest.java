package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.internal.memory.CudaCalls;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * This class tests pools without JCuda, each in a fresh virtual machine. Calls of the driver are tested from the jar,
 * with a driver that a C compiler makes of {@code src/test/c/driver.c}: it says what it is asked.
 */
class WithoutJCudaTest {

    private static final String FROM_JAR = "outboard.test.jar";
    private static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";

    @TempDir
    private Path temporary;

    /** The classes that need JCuda; {@code CudaFailures} asks before it does. */
    @Test
    void shouldUseJCudaInFewClasses() throws IOException, URISyntaxException {
        final Path classes = Path.of(CudaCalls.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        final Set<String> users = new TreeSet<>();
        if (Files.isDirectory(classes)) {
            addUsers(users, classes);
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(classes)) {
                addUsers(users, jar.getPath("/"));
            }
        }

        assertEquals(
                "[CudaBuffer$BufferPointer, CudaFailures, DevicePointers, JCudaBinding, JCudaCalls,"
                        + " JCudaCalls$Scratch, OutboardDriver, OutboardRuntime]",
                users.toString());
    }

    private static void addUsers(final Set<String> users, final Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(file -> file.toString().endsWith(".class"))
                    .filter(WithoutJCudaTest::usesJCuda)
                    .forEach(file -> users.add(file.getFileName().toString().replace(".class", "")));
        }
    }

    /** Answers whether a class has a field or method of JCuda in its constant pool; inlined constants are none. */
    private static boolean usesJCuda(final Path file) {
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            in.skipNBytes(8);
            final int count = in.readUnsignedShort();
            final String[] texts = new String[count];
            final int[] names = new int[count];
            final Set<Integer> owners = new HashSet<>();
            for (int i = 1; i < count; i++) {
                switch (in.readUnsignedByte()) {
                    case 1 -> texts[i] = in.readUTF();
                    case 3, 4, 12, 17, 18 -> in.skipNBytes(4);
                    case 5, 6 -> {
                        in.skipNBytes(8);
                        i++;
                    }
                    case 7 -> names[i] = in.readUnsignedShort();
                    case 9, 10, 11 -> {
                        owners.add(in.readUnsignedShort());
                        in.skipNBytes(2);
                    }
                    case 15 -> in.skipNBytes(3);
                    default -> in.skipNBytes(2);
                }
            }
            return owners.stream().anyMatch(owner -> texts[names[owner]].startsWith("jcuda/"));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldServeAPoolOverASimulatedDevice() throws IOException, InterruptedException {
        assertEquals(
                List.of(
                        "Fake GPU, driver unknown (CUDA 13.0), CUDA runtime 12.6: 5000",
                        "failure: device out of memory: requested 1TiB, free 960MiB of 1GiB (cuMemAlloc: unknown (2))",
                        "done"),
                run("fake").stream()
                        .map(line -> line.replaceAll("driver [0-9.]+", "driver unknown"))
                        .toList());
    }

    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldSayThatThereIsNoDriver() throws IOException, InterruptedException {
        Gpu.requireNone();

        assertEquals(
                List.of("unavailable: no NVIDIA driver: libcuda.so.1 was not found; install driver 525 or newer, or"
                        + " give the container its GPU (--gpus all)"),
                run("0"));
    }

    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    @EnabledForJreRange(min = JRE.JAVA_24)
    void shouldSayThatNativeAccessIsForbidden() throws IOException, InterruptedException {
        final List<String> lines = ChildJvm.run(
                temporary, WithoutJCudaTest::isOther, "--illegal-native-access=deny", WithoutJCudaProbe.class, "0");

        assertEquals(
                "unavailable: native access is forbidden, and JCuda is not on the class path; to allow it: " + ALLOWED,
                lines.get(lines.size() - 1));
    }

    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldMakeEachCallOfTheDriver() throws IOException, InterruptedException {
        makeDriver();

        assertEquals("""
                cuInit 0
                  [0, 0]
                cuInit 0
                cuDeviceGetCount
                  [0, 2]
                cuDriverGetVersion
                  [0, 12090]
                  [0, 0]
                cuDeviceGetName 256 1
                  [0, Fake]
                cuDevicePrimaryCtxGetState 1
                  [0, 0]
                cuDevicePrimaryCtxGetState 1
                cuDevicePrimaryCtxRetain 1
                cuCtxSetCurrent 0xc001
                  [0, 0, 49153]
                cuDevicePrimaryCtxGetState 1
                cuDevicePrimaryCtxRetain 1
                cuDevicePrimaryCtxRelease_v2 1
                cuCtxSetCurrent 0xc001
                  [0]
                cuCtxGetDevice
                  [0, 1]
                cuCtxGetDevice
                cuMemGetInfo_v2
                  [0, 536870912, 1073741824]
                cuCtxPushCurrent_v2 0x77
                  [0, 0, 119]
                cuCtxPopCurrent_v2
                  [0, 0, 49153]
                cuCtxSynchronize
                  [0]
                  [0, 49153]
                cuStreamGetCtx 0x55
                  [0, 49153]
                cuMemAlloc_v2 4096
                  [0, 123145302310912]
                cuMemAlloc_v2 1099511627776
                  [2]
                cuMemAllocPitch_v2 100 30 4
                  [0, 4660, 512]
                cuMemFree_v2 765432100000
                  [0]
                cuMemGetInfo_v2
                  [0, 536870912, 1073741824]
                cuMemsetD8Async 765432100000 251 8589934592 0x2
                cuStreamSynchronize 0x2
                  [0]
                cuMemcpyDtoHAsync_v2 765432100000 2 0x2
                cuStreamSynchronize 0x2
                  [0, 90, 90, 0]
                cuStreamGetId 0x55
                  [0, 77]
                cuStreamQuery 0x55
                  [600]
                cuEventCreate 2
                  [0, 224]
                cuEventDestroy_v2 0xe1
                  [0]
                cuEventRecord 0xe1 0x55
                  [0]
                  [true]
                cuCtxRecordEvent 0x77 0xe1
                  [0]
                cuEventQuery 0xe1
                  [0]
                  [0, 1]
                cuThreadExchangeStreamCaptureMode 2
                  [0, 1]
                cuMemFree_v2 dead
                cuDevicePrimaryCtxGetState 1
                cuDevicePrimaryCtxRetain 1
                cuCtxSetCurrent 0xc001
                  [0, 0]
                cuDevicePrimaryCtxGetState 2
                cuDevicePrimaryCtxRetain 2
                  [2]
                cuDevicePrimaryCtxGetState 2
                cuDevicePrimaryCtxRetain 2
                cuDevicePrimaryCtxRelease_v2 2
                cuDevicePrimaryCtxRetain 2
                cuCtxSetCurrent 0xc002
                  [0]
                cuDevicePrimaryCtxRetain 2
                  [0, 49154]""", String.join("\n", run("calls")));
    }

    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldServeAPoolOverTheDriverAlone() throws IOException, InterruptedException {
        makeDriver();

        final List<String> lines = run("1");

        assertAll(
                lines.toString(),
                () -> assertTrue(lines.stream()
                        .anyMatch(line -> line.matches("Fake, driver .* \\(CUDA 12.9\\), CUDA runtime none: 5000"))),
                () -> assertTrue(lines.contains(
                        "failure: device out of memory: requested 1TiB, free 512MiB of 1GiB (cuMemAlloc: MEMORY (2))")),
                () -> assertTrue(lines.contains("cuCtxRecordEvent 0xc001 0xe0")),
                () -> assertEquals("done", lines.get(lines.size() - 1)));
    }

    /** No device is chosen, since a thread without a context is on device 0. */
    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldMakeTheContextOfTheFirstDevice() throws IOException, InterruptedException {
        makeDriver();

        final List<String> lines = run("0");

        assertAll(
                lines.toString(),
                () -> assertTrue(lines.contains("cuCtxSetCurrent 0xc000")),
                () -> assertTrue(lines.contains("cuCtxRecordEvent 0xc000 0xe0")),
                () -> assertEquals("done", lines.get(lines.size() - 1)));
    }

    /** A driver older than CUDA 12.5 can't mark contexts, and one older than 12.0 has no numbers of streams. */
    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldServeAPoolOverAnOldDriver() throws IOException, InterruptedException {
        makeDriver("-DOLD");

        final List<String> calls = run("calls");
        final List<String> lines = run("1");

        assertAll(
                () -> assertTrue(calls.contains("  [false]"), calls.toString()),
                () -> assertTrue(calls.contains("  [801, 0]"), calls.toString()),
                () -> assertEquals("done", lines.get(lines.size() - 1)));
    }

    /** The first driver lacks a function that CUDA 11.4 brought, and the second doesn't find a device. */
    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldSayWhyADriverDoesNotServe() throws IOException, InterruptedException {
        makeDriver("-DcuDeviceGetUuid_v2=unknown");
        final List<String> old = run("0");
        makeDriver("-DSTARTED=100");
        final List<String> lonely = run("0");

        assertAll(
                () -> assertEquals(
                        List.of("unavailable: the NVIDIA driver is too old: it lacks functions that are needed;"
                                + " install driver 525 or newer"),
                        old),
                () -> assertEquals("cuInit 0", lonely.get(0)),
                () -> assertTrue(
                        lonely.get(1).matches("unavailable: no CUDA device: .*\\[unknown \\(100\\)]"),
                        lonely.toString()),
                () -> assertEquals(2, lonely.size(), lonely.toString()));
    }

    /** JCuda's runtime itself doesn't start over so small a driver, and says so. */
    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldLeaveTheRuntimeToJCudaIfItIsThere() throws IOException, InterruptedException {
        makeDriver();
        Gpu.requireLibrary();

        final List<String> lines = ChildJvm.run(temporary, entry -> true, ALLOWED, WithoutJCudaProbe.class, "calls");

        assertAll(
                lines.toString(),
                () -> assertTrue(lines.contains("  [0, 12000]"), "the runtime's version"),
                () -> assertTrue(lines.contains("cuMemFree_v2 765432100000"), "the driver frees"),
                () -> assertFalse(lines.contains("cuDeviceGetCount"), "the runtime counts"),
                () -> assertFalse(lines.contains("cuCtxSetCurrent 0xc001"), "the runtime chooses"));
    }

    /** The jar of the natives is another one, which a build for several systems may leave out. */
    @Test
    @EnabledIfSystemProperty(named = FROM_JAR, matches = "true")
    void shouldServeAPoolBesideAJCudaThatDoesNotLoad() throws IOException, InterruptedException {
        makeDriver();

        final List<String> lines = ChildJvm.run(
                temporary, entry -> !entry.startsWith("jcuda-natives"), ALLOWED, WithoutJCudaProbe.class, "1");

        assertAll(
                lines.toString(),
                () -> assertTrue(lines.contains("cuDevicePrimaryCtxRetain 1"), "the driver is called"),
                () -> assertTrue(
                        lines.stream().noneMatch(line -> line.matches("cuCtxSetCurrent.*|cuDevicePrimaryCtxRetain 0")),
                        "the thread stays as it was"),
                () -> assertEquals("done", lines.get(lines.size() - 1)));
    }

    private List<String> run(final String argument) throws IOException, InterruptedException {
        return ChildJvm.run(temporary, WithoutJCudaTest::isOther, ALLOWED, WithoutJCudaProbe.class, argument);
    }

    static boolean isOther(final String entry) {
        return !entry.startsWith("jcuda");
    }

    /** Compiles the driver into the folder in which children look for libraries. */
    private void makeDriver(final String... options) throws InterruptedException {
        Assumptions.assumeTrue(OS.LINUX.isCurrentOs(), "skipped, needs Linux");
        final List<String> command = Stream.of(
                        Stream.of("gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"),
                        Arrays.stream(options),
                        Stream.of(
                                "src/test/c/driver.c",
                                "-o",
                                temporary.resolve("libcuda.so.1").toString()))
                .flatMap(part -> part)
                .toList();
        try {
            assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor(), command::toString);
        } catch (final IOException e) {
            Assumptions.abort("skipped, needs gcc: " + e.getMessage());
        }
    }
}
