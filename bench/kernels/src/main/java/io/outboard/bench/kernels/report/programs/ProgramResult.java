package io.outboard.bench.kernels.report.programs;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A result is one line of {@code programs.jsonl}: what one program did with one store. Immutable, so safe for any
 * number of threads.
 */
public final class ProgramResult {

    private static final String REFUSED = "refused";

    /** The counts that must all be 0, unless a heap wasn't enough. */
    private static final List<String> CHECKS =
            List.of("mismatches", "miscounted", "misaligned", REFUSED, "faults", "misuses", "leaked");

    private final JsonObject values;

    private ProgramResult(final JsonObject values) {
        this.values = values;
    }

    /**
     * Reads a line.
     *
     * @param file name of the file, for error messages
     * @param line number of the line, from 1
     * @param text the line
     * @return the result
     * @throws IllegalArgumentException if it isn't one; names file, line and rule
     */
    public static ProgramResult parse(final String file, final int line, final String text) {
        final JsonObject values = JsonReader.read(file, line, text);
        for (final String key : List.of("program", "store", "size", "mode", "status")) {
            values.requiredText(key);
        }
        return new ProgramResult(values);
    }

    /**
     * Returns the program.
     *
     * @return as on the command line
     */
    public String program() {
        return values.text("program");
    }

    /**
     * Returns what the program's objects lived in, or what allocated.
     *
     * @return as tables name it
     */
    public String store() {
        return values.text("store");
    }

    /**
     * Returns which of the program's sizes ran.
     *
     * @return its name
     */
    public String size() {
        return values.text("size");
    }

    /**
     * Returns what was measured.
     *
     * @return {@code TIME}, {@code MEMORY}, {@code LARGEST} or {@code LONG}
     */
    public String mode() {
        return values.text("mode");
    }

    /**
     * Returns a text of the line.
     *
     * @param key its name
     * @return the text; empty if there is none
     */
    public String text(final String key) {
        return values.text(key);
    }

    /**
     * Returns a number of the line.
     *
     * @param key its name
     * @return the number; NaN if there is none
     */
    public double number(final String key) {
        return values.number(key);
    }

    /**
     * Returns whether the program ran to its end.
     *
     * @return false if it hung or crashed, or had no room
     */
    public boolean isComplete() {
        return text("status").equals("ok");
    }

    /**
     * Returns which checks failed.
     *
     * @return for example {@code 3 mismatches}; empty if none
     */
    public String failedChecks() {
        return CHECKS.stream()
                .filter(check -> number(check) > 0)
                .map(check -> String.format(Locale.ROOT, "%,.0f %s", number(check), check))
                .collect(Collectors.joining(", "));
    }

    /**
     * Returns whether a heap wasn't enough: a result, and no failure.
     *
     * @return true also where the rest went on
     */
    public boolean isRefused() {
        return text("status").equals(REFUSED) || number(REFUSED) > 0;
    }

    /**
     * Returns whether the program's result is wrong, or it didn't end.
     *
     * @return false where all is right but that a heap wasn't enough
     */
    public boolean hasFailed() {
        final boolean hasEnded = isComplete() || text("status").equals(REFUSED);
        return !hasEnded || CHECKS.stream().anyMatch(check -> !check.equals(REFUSED) && number(check) > 0);
    }

    /**
     * Returns whether another run of the same steps had another result.
     *
     * @param other any
     * @return false where there is nothing to compare
     */
    public boolean contradicts(final ProgramResult other) {
        return other.program().equals(program())
                && other.size().equals(size())
                && other.number("steps") == number("steps")
                && !Double.isNaN(number("checksum"))
                && !Double.isNaN(other.number("checksum"))
                && other.number("checksum") != number("checksum");
    }

    /**
     * Returns what went wrong, or wasn't enough.
     *
     * @return in a few words; empty if nothing
     */
    public String failure() {
        final String checks = failedChecks();
        if (isComplete()) {
            return checks;
        }
        return text("status") + ": " + text("message") + (checks.isEmpty() ? "" : ", " + checks);
    }
}
