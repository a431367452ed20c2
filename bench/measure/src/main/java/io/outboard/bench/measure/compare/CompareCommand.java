package io.outboard.bench.measure.compare;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.measure.compare.ResultComparison.Row;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code outboard compare} shows two runs side by side, and says whether the second is worse. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = "Shows the figures of two folders of results side by side, with B over A.",
        footer = "Exit code 1 if --threshold is given and any figure of B is worse than A's by more than that.")
public final class CompareCommand implements Callable<Integer> {

    private static final int WORSE = 1;
    private static final double MOST_PERCENT = 1e6;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "A", description = "A folder that --out wrote, or one file in it.")
    private Path before = Path.of("");

    @Parameters(index = "1", paramLabel = "B", description = "Another one, of the same command.")
    private Path after = Path.of("");

    @Option(
            names = "--threshold",
            paramLabel = "PERCENT",
            description = "By how much a figure may be worse, such as 5%%. Default: any is good enough.")
    private @Nullable String threshold;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    /** Picocli calls this constructor. */
    public CompareCommand() {}

    @Override
    public Integer call() throws Exception {
        final double most = threshold == null ? Double.POSITIVE_INFINITY : 1 + percent(threshold) / 100;
        final ResultComparison comparison;
        try {
            comparison = new ResultComparison(before, after);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
        final List<Row> worse =
                comparison.rows().stream().filter(row -> row.loss() > most).toList();
        final PrintWriter out = spec.commandLine().getOut();
        if (format == OutputOptions.Format.JSON) {
            comparison.rows().forEach(row -> out.println(row.json(worse.contains(row))));
        } else {
            print(comparison, worse, out);
        }
        out.flush();
        return worse.isEmpty() ? 0 : WORSE;
    }

    private static double percent(final String text) {
        if (text.matches("[0-9]{1,7}(\\.[0-9]{1,6})?\\s*%?")) {
            final double percent = Double.parseDouble(text.replace("%", "").strip());
            if (percent <= MOST_PERCENT) {
                return percent;
            }
        }
        throw new WrongUseException("--threshold=" + text + " must be percent, such as 5%, from 0 to 1000000");
    }

    private void print(final ResultComparison comparison, final List<Row> worse, final PrintWriter out) {
        new TextTable<Row>()
                .column("result", Row::result)
                .column("figure", Row::figure)
                .column("A", row -> JsonNumbers.text(row.before()))
                .column("B", row -> JsonNumbers.text(row.after()))
                .column("B/A", row -> ratio(row) + (worse.contains(row) ? " worse" : ""))
                .print(comparison.rows(), out);
        out.println();
        comparison.remarks().forEach(out::println);
        if (threshold == null) {
            return;
        }
        out.printf(
                Locale.ROOT,
                "%d of %d figures worse by more than %s%n",
                worse.size(),
                comparison.rows().size(),
                threshold.endsWith("%") ? threshold : threshold + "%");
        worse.forEach(row -> out.println("  " + row.result() + ": " + row.figure() + " "
                + JsonNumbers.text(row.before()) + " -> " + JsonNumbers.text(row.after()) + ", " + ratio(row)));
    }

    private static String ratio(final Row row) {
        return Double.isFinite(row.ratio()) ? String.format(Locale.ROOT, "%.3f", row.ratio()) : "-";
    }
}
