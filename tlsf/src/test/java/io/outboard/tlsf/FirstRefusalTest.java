package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A class whose first use ends a thread's stack is lost to the whole program, so the message of a refused call must
 * need none that has anything to initialise: neither of ours nor of the JDK's.
 */
class FirstRefusalTest {

    @Test
    void shouldRefuseAsEverAfterTheFirstRefusalEndedAStack() throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:MaxJavaStackTraceDepth=8",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectErrorStream(true)
                .start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertEquals(0, process.waitFor(), output);
        assertEquals(
                "address=0x101 must be the start of a block in use: it lies 1 bytes inside the block "
                        + "[0x100, 1.25KiB (1281 bytes)] in use",
                output);
    }

    /** This program frees a wrong address wherever the stack is about to end, and prints what that says in the end. */
    static final class Program {

        private static final long WRONG = 0x101;

        private Program() {}

        public static void main(final String... args) throws ClassNotFoundException, InterruptedException {
            final TlsfStrategy strategy = new TlsfStrategy(new Region(0x100, 1 << 20), new StrategyOptions(1, 64));
            strategy.allocate(1281);
            // Loading and linking, here by a request for methods, take more stack than initialising does. A program
            // that has done the one may lack the stack for the other.
            for (final String name : List.of(
                    "io.outboard.core.ByteSize",
                    "io.outboard.core.InvalidAddressException",
                    "io.outboard.core.InvalidAddressException$Finder")) {
                Class.forName(name, false, Program.class.getClassLoader()).getDeclaredMethods();
            }
            final Thread deep = new Thread(null, () -> freeAtEveryDepth(strategy), "deep", 256 << 10);
            deep.start();
            deep.join();
            try {
                strategy.free(WRONG);
            } catch (final InvalidAddressException e) {
                System.out.print(e.getMessage());
            }
        }

        @SuppressWarnings("InfiniteRecursion") // The stack ends.
        private static void freeAtEveryDepth(final TlsfStrategy strategy) {
            try {
                freeAtEveryDepth(strategy);
            } catch (final StackOverflowError e) {
                // There is a little room here again, more with each frame above.
            }
            try {
                strategy.free(WRONG);
            } catch (final StackOverflowError | InvalidAddressException e) {
                // One or the other comes; anything else ends the thread with a message.
            }
        }
    }
}
