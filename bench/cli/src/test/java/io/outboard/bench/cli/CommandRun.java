package io.outboard.bench.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** A run has the exit code of a command and what the command printed. */
public record CommandRun(int exitCode, String out, String err) {

    /** Runs a command in this process. */
    public static CommandRun of(final String... arguments) {
        final PrintStream out = System.out;
        final PrintStream err = System.err;
        final ByteArrayOutputStream newOut = new ByteArrayOutputStream();
        final ByteArrayOutputStream newErr = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(newOut, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(newErr, true, StandardCharsets.UTF_8));
            final int exitCode = Main.run(arguments);
            System.out.flush();
            System.err.flush();
            return new CommandRun(
                    exitCode, newOut.toString(StandardCharsets.UTF_8), newErr.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
