package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.VirtualMemorySource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * If a lambda or a class is first needed after a pool has been in use for a while, loading it costs some free a
 * millisecond. So a pool loads what it needs with the first block.
 */
class PoolFirstCallsTest {

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void shouldLoadNothingAfterTheFirstBlock(final ReusePolicy policy) throws IOException, InterruptedException {
        final Path log = folder.resolve("loaded");
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xlog:class+load:file=" + log + ":none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        policy.name())
                .redirectErrorStream(true)
                .start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertEquals(0, process.waitFor(), output);
        final List<String> loaded = Files.readAllLines(log).stream()
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
        final int begin = loaded.indexOf(Begin.class.getName());
        final int end = loaded.indexOf(End.class.getName());
        assertTrue(0 <= begin && begin < end, loaded::toString);
        assertEquals(
                List.of(),
                loaded.subList(begin + 1, end).stream()
                        .filter(name -> name.startsWith("io.outboard.pool."))
                        .toList());
    }

    private static final class Begin {}

    private static final class End {}

    /** This program makes a pool do all that it does without growing. */
    static final class Program {

        private static final long MIB = 1L << 20;
        private static final long STREAM = 7;

        private Program() {}

        public static void main(final String... args) {
            final Device device = new Device();
            final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                    .firstRegionBytes(64 * MIB)
                    .reuse(ReusePolicy.valueOf(args[0]), device)
                    .build();
            pool.freeAsync(pool.allocateAsync(MIB, STREAM), STREAM);
            load(Begin.class);
            for (int i = 0; i < 1024; i++) {
                pool.freeAsync(pool.allocateAsync(MIB / 4, STREAM), STREAM);
                pool.free(pool.allocate(MIB / 8));
            }
            load(End.class);
            if (!device.asked && ReusePolicy.valueOf(args[0]) != ReusePolicy.IMMEDIATE) {
                throw new AssertionError("the device must have been asked");
            }
            // The pool isn't closed, since closing may load what it needs.
        }

        private static void load(final Class<?> marker) {
            try {
                Class.forName(marker.getName());
            } catch (final ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final class Device extends IdleDevice {

        /** The field isn't private, since reading a private one would load the class around it. */
        volatile boolean asked;

        @Override
        public long mark() {
            asked = true;
            return 0;
        }

        @Override
        public long mark(final long stream) {
            asked = true;
            return 0;
        }
    }
}
