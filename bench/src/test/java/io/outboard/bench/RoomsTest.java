package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Limits what a reader takes in at one sitting: no source file above 600 lines except those that say why, no package
 * above 30 classes. A longer file, or a larger package, isn't wrong as such. The limit says "look", and whoever adds an
 * exception here has checked whether the file is two things. That classes aren't knotted matters more;
 * {@link KnotsTest} checks it.
 */
class RoomsTest {

    private static final long MOST_LINES = 600;
    private static final long MOST_CLASSES = 30;

    /** The only files that may be longer, and why. A file that is no longer too long must be removed here. */
    private static final Map<String, String> LONGER = Map.of(
            "io/outboard/pool/internal/arena/Arena.java",
            "one lock and one object: what an operation reads lies side by side, and nobody looks for it elsewhere",
            "io/outboard/pool/Pool.java",
            "all that users call, most of it Javadoc");

    /** The project's folder, as seen from the module's folder, where tests run. */
    private static final Path PROJECT = Path.of("..");

    @Test
    void shouldHaveNoLongFilesButThoseThatSayWhy() throws IOException {
        final Map<String, Long> longer = new TreeMap<>();
        for (final Path file : sources()) {
            final long lines = Files.readString(file).lines().count();
            if (lines > MOST_LINES) {
                longer.put(nameOf(file), lines);
            }
        }

        assertEquals(
                new TreeMap<>(LONGER).keySet(),
                longer.keySet(),
                () -> "of more than " + MOST_LINES + " lines; look whether it is two things: " + longer);
    }

    @Test
    void shouldHaveNoLargePackages() throws IOException {
        final Map<Path, Long> classes = sources().stream()
                .filter(file -> !file.endsWith("package-info.java"))
                .collect(Collectors.groupingBy(Path::getParent, TreeMap::new, Collectors.counting()));

        classes.values().removeIf(count -> count <= MOST_CLASSES);

        assertEquals(Map.of(), classes, "look whether it is two things");
    }

    /** Returns the source files of all modules in the build, without tests. */
    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(PROJECT)) {
            final List<Path> sources = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> file.toString().matches(".*/src/main/java(22)?/io/outboard/.*"))
                    .toList();
            assertTrue(sources.size() > MOST_CLASSES, "run in the folder of a module");
            return sources;
        }
    }

    private static String nameOf(final Path file) {
        final String path = file.toString().replace('\\', '/');
        return path.substring(path.indexOf("io/outboard/"));
    }
}
