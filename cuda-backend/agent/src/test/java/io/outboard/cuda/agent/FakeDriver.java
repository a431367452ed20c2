package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.condition.OS;

/** A driver that a C compiler makes of the backend's {@code src/test/c/driver.c}: it prints what it is asked. */
final class FakeDriver {

    static final String NAME = "libcuda.so.1";

    private FakeDriver() {}

    /** Compiles the driver into a folder; without its source or a compiler the test is skipped. */
    static void compileTo(final Path folder) throws InterruptedException {
        compile(Path.of(System.getProperty("outboard.driver.source", "driver.c")), folder.resolve(NAME));
    }

    /** Compiles a library; without its source or a compiler the test is skipped. */
    static void compile(final Path source, final Path library) throws InterruptedException {
        Assumptions.assumeTrue(OS.LINUX.isCurrentOs(), "skipped, needs Linux");
        Assumptions.assumeTrue(Files.isRegularFile(source), () -> "skipped, needs the library's source: " + source);
        final List<String> command = List.of("gcc", "-shared", "-fPIC", source.toString(), "-o", library.toString());
        try {
            assertEquals(0, new ProcessBuilder(command).inheritIO().start().waitFor(), command::toString);
        } catch (final IOException e) {
            Assumptions.abort("skipped, needs gcc: " + e.getMessage());
        }
    }

    /**
     * Appends to each line of the program how often each of the driver's functions was called before, with a name that
     * matches.
     */
    static List<String> summarise(final List<String> output, final String names) {
        final List<String> lines = new ArrayList<>();
        final Map<String, Integer> calls = new TreeMap<>();
        for (final String line : output) {
            final String name = line.split(" ", 2)[0];
            if (!name.startsWith("cu")) {
                final StringBuilder summary = new StringBuilder(line);
                calls.forEach((called, count) ->
                        summary.append(", ").append(called).append(' ').append(count));
                lines.add(summary.toString());
                calls.clear();
            } else if (name.matches(names)) {
                calls.merge(name, 1, Integer::sum);
            }
        }
        return lines;
    }
}
