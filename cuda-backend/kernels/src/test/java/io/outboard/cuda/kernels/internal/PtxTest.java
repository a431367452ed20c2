package io.outboard.cuda.kernels.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.kernels.DeviceAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This class tests that the PTX of the jar, which is in git, is no older than its sources; {@code ptx.sh} says what the
 * hash in the PTX covers.
 */
public class PtxTest {

    private static final Path ROOT = root();
    private static final Path SCRIPT = ROOT.resolve("cuda-backend/ptx.sh");
    private static final Path CUDA = ROOT.resolve("cuda-backend/kernels/src/main/cuda");
    private static final Path RESOURCES =
            ROOT.resolve("cuda-backend/kernels/src/main/resources/io/outboard/cuda/kernels");
    private static final String PACKED = ".ptx.gz";
    private static final int MOST_FILES = 26;
    private static final String REMEDY = ": run cuda-backend/ptx.sh, where nvcc is, and commit what it makes";

    /** The record has a file of PTX, and the source that the file must have been made from. */
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
        all.add(new Made(RESOURCES.resolve("ptx/xmalloc_heap" + PACKED), CUDA.resolve("xmalloc_heap.cu")));
        for (final boolean checked : new boolean[] {false, true}) {
            Stream.of(DeviceAllocator.values())
                    .filter(allocator -> !checked || allocator.hasCheckedBuild())
                    .flatMap(allocator -> Stream.of(false, true)
                            .map(coalesced -> DevicePtx.of(allocator.paperName(), coalesced, checked)))
                    .distinct()
                    .map(ptx -> new Made(RESOURCES.resolve("ptx/" + ptx.name() + PACKED), CUDA.resolve(ptx.source())))
                    .forEach(all::add);
        }
        return all;
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
            // Slashes may only begin a comment, since others would be in paths.
            assertFalse(
                    line.replace("//", "").replace("cuda-backend/ptx.sh", "").contains("/"), line);
            assertFalse(line.contains("\t.file") || line.contains("Compiler Build ID"), line);
        }
    }

    /** Tests and benchmarks make their PTX where they run. */
    @Test
    void shouldHaveNoOtherPtxAmongSources() throws IOException {
        final List<Path> there = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(final Path folder, final BasicFileAttributes attributes) {
                final String name = String.valueOf(folder.getFileName());
                return name.equals("target") || name.startsWith(".")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(final Path file, final BasicFileAttributes attributes) {
                if (file.toString().endsWith(PACKED)) {
                    there.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });

        assertEquals(
                all().stream().map(Made::ptx).sorted().toList(),
                there.stream().sorted().toList(),
                "PTX" + REMEDY + "; delete what has no source");
        assertTrue(there.size() <= MOST_FILES, there.size() + " files must be <= " + MOST_FILES);
    }

    /** A single file serves an allocator that joins requests anyway, coalesced or not. */
    @Test
    void shouldKnowWhichAllocatorsJoinRequestsAnyway() throws IOException {
        final Set<String> joining = new HashSet<>();
        for (final Path header : files(CUDA.resolve("outboard"), ".cuh")) {
            Pattern.compile("^struct Coalesced<(\\w+)> : \\1 \\{\\};", Pattern.MULTILINE)
                    .matcher(Files.readString(header))
                    .results()
                    .forEach(match -> joining.add(match.group(1)));
        }

        assertEquals(joining, DevicePtx.JOINING);
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

    /** Returns the files in the order of their names; none if there is no such folder. */
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

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("cuda-backend/ptx.sh"))) {
            folder = Objects.requireNonNull(folder.getParent(), "the tests must run in the project's folder");
        }
        return folder;
    }
}
