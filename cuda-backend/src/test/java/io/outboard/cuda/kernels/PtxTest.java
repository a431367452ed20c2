package io.outboard.cuda.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.DeviceAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** PTX is checked in, so it may be older than its sources; {@code ptx.sh} says what the hash in it is of. */
public class PtxTest {

    private static final Path ROOT = root();
    private static final Path SCRIPT = ROOT.resolve("cuda-backend/ptx.sh");
    private static final Path CUDA = ROOT.resolve("cuda-backend/src/main/cuda");
    private static final Path RESOURCES = ROOT.resolve("cuda-backend/src/main/resources/io/outboard/cuda");
    private static final Path TESTS = ROOT.resolve("cuda-backend/src/test/resources/io/outboard/cuda");
    private static final Path BENCH = ROOT.resolve("bench/src/main/cuda");
    private static final Path KERNELS = ROOT.resolve("bench/src/main/resources/io/outboard/bench/kernels");
    private static final Path PROGRAMS = ROOT.resolve("bench/src/main/resources/io/outboard/bench/programs");
    private static final String PACKED = ".ptx.gz";
    private static final String REMEDY = ": run cuda-backend/ptx.sh, where nvcc is, and commit what it makes";

    /** A file and what it must have been made from. */
    record Made(Path ptx, Path source) {

        @Override
        public String toString() {
            return ROOT.relativize(ptx).toString();
        }
    }

    static List<Made> all() {
        final List<Made> all = new ArrayList<>();
        all.add(new Made(RESOURCES.resolve("ptx/device_heap" + PACKED), CUDA.resolve("device_heap.cu")));
        all.add(new Made(RESOURCES.resolve("ptx/object_heap" + PACKED), CUDA.resolve("object_heap.cu")));
        final Path linked = CUDA.resolve("allocator.cu");
        all.addAll(ofEachAllocator(RESOURCES.resolve("ptx"), "", linked, false));
        all.addAll(ofEachAllocator(RESOURCES.resolve("ptx"), "", linked, true));
        for (final Path source : files(TESTS, ".cu")) {
            all.add(new Made(TESTS.resolve(stemOf(source) + PACKED), source));
        }
        for (final Path source : files(BENCH, ".cu")) {
            all.addAll(ofEachAllocator(KERNELS, stemOf(source) + "-", source, false));
            all.add(new Made(KERNELS.resolve(stemOf(source) + "-Empty" + PACKED), source));
            all.add(new Made(KERNELS.resolve(stemOf(source) + "-Linked" + PACKED), source));
        }
        // Which stores each program has is said by the bench, whose tests ask for each.
        for (final Path ptx : files(PROGRAMS, PACKED)) {
            final String program = stemOf(ptx).replaceAll("-.*", "");
            all.add(new Made(ptx, BENCH.resolve("programs/" + program + ".cu")));
        }
        return all;
    }

    private static List<Made> ofEachAllocator(
            final Path folder, final String prefix, final Path source, final boolean checked) {
        return Stream.of(DeviceAllocator.values())
                .filter(allocator -> !checked || allocator.hasCheckedBuild())
                .flatMap(allocator -> Stream.of(false, true)
                        .map(coalesced -> DevicePtx.of(allocator.paperName(), coalesced, checked)
                                .name()))
                .map(name -> new Made(folder.resolve(prefix + name + PACKED), source))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("all")
    void shouldBeMadeFromTheSourcesAsTheyAre(final Made made) throws IOException, NoSuchAlgorithmException {
        assertTrue(Files.exists(made.ptx()), made + " must exist" + REMEDY);
        final MessageDigest hash = MessageDigest.getInstance("SHA-256");
        hash.update((made.ptx().getFileName() + "\n").getBytes(StandardCharsets.UTF_8));
        hash.update(Files.readAllBytes(SCRIPT));
        hash.update(Files.readAllBytes(made.source()));
        for (final Path header : files(Objects.requireNonNull(made.source().getParent()), ".cuh")) {
            hash.update(Files.readAllBytes(header));
        }
        for (final Path header : files(CUDA.resolve("outboard"), ".cuh")) {
            hash.update(Files.readAllBytes(header));
        }

        final List<String> lines = linesOf(made.ptx());

        assertEquals(
                "// SHA-256 of what it was made from: " + HexFormat.of().formatHex(hash.digest()),
                lines.get(1),
                made + " must be as new as its sources" + REMEDY);
    }

    @ParameterizedTest
    @MethodSource("all")
    void shouldNotNameTheMachineThatMadeIt(final Made made) throws IOException {
        for (final String line : linesOf(made.ptx())) {
            // A path may only follow the slashes of a comment.
            assertFalse(
                    line.replace("//", "").replace("cuda-backend/ptx.sh", "").contains("/"), line);
            assertFalse(line.contains("\t.file") || line.contains("Compiler Build ID"), line);
        }
    }

    @Test
    void shouldHaveASourceForEachPtx() {
        final List<Path> there = new ArrayList<>(files(RESOURCES.resolve("ptx"), ""));
        there.addAll(files(TESTS, PACKED));
        there.addAll(files(KERNELS, ""));
        there.addAll(files(PROGRAMS, ""));

        assertEquals(
                all().stream().map(Made::ptx).sorted().toList(),
                there.stream().sorted().toList(),
                "PTX" + REMEDY + "; delete what has no source");
    }

    @Test
    void shouldListTheHeadersThatThereAre() {
        assertEquals(
                files(CUDA.resolve("outboard"), ".cuh").stream()
                        .map(file -> "outboard/" + file.getFileName())
                        .toList(),
                DevicePtx.headers(),
                "headers.txt" + REMEDY);
    }

    /** In the order of their names; none if there is no such folder. */
    public static List<Path> files(final Path folder, final String ending) {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> linesOf(final Path ptx) throws IOException {
        try (InputStream stream = Files.newInputStream(ptx)) {
            return TextResource.read(stream, ptx.toString()).lines().toList();
        }
    }

    private static String stemOf(final Path source) {
        final String name = Objects.requireNonNull(source.getFileName()).toString();
        return name.substring(0, name.lastIndexOf('.'));
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("cuda-backend/ptx.sh"))) {
            folder = Objects.requireNonNull(folder.getParent(), "the tests must run in the project's folder");
        }
        return folder;
    }
}
