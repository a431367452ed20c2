package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.AtomicFile;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.core.ByteSize;
import io.outboard.tlsf.Plan;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code outboard plan} computes where the blocks of a recorded trace lie best. */
@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        description =
                "Finds a small region for a recorded trace, and where each block lies in it: for programs that repeat a step."
                        + " The strategy planned follows what --out writes.")
public final class PlanCommand implements Callable<Integer> {

    private static final double MOST_SECONDS = 86_400;
    private static final long MOST_GRANULE = 1 << 30;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            arity = "1..*",
            paramLabel = "FILE",
            description = "Files as replay takes them. Each has a plan of its own.")
    private List<Path> files = List.of();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "5",
            description = "How long to look, reading the file included. Default: ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description = "Of a JFR recording of several pools, the one to read.")
    private @Nullable String pool;

    @Option(
            names = "--granule",
            paramLabel = "SIZE",
            defaultValue = "256",
            description = "What sizes are rounded up to, a power of two. Default: ${DEFAULT-VALUE}.")
    private String granule = "256";

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "What is drawn depends on it. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--out",
            paramLabel = "PLAN",
            description = "Write the plan into this file, for --strategy planned:PLAN. Takes one FILE.")
    private @Nullable Path out;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    /** A result is a plan that has been checked. */
    private record Result(Trace trace, Lifetimes blocks, Layout layout, long regionBytes, double searchSeconds) {

        long boundBytes() {
            return blocks.peakGranules() * blocks.granuleBytes();
        }

        double overBound() {
            return (double) regionBytes / boundBytes();
        }
    }

    /** Picocli calls this constructor. */
    public PlanCommand() {}

    @Override
    public Integer call() throws Exception {
        final long granuleBytes = check();
        final PrintWriter printer = spec.commandLine().getOut();
        final List<Result> results = new ArrayList<>();
        for (final Path file : files) {
            final Result result = plan(file, granuleBytes);
            results.add(result);
            if (out != null) {
                write(result, out);
            }
            if (format == OutputOptions.Format.JSON) {
                printer.println(json(result));
                printer.flush();
            }
        }
        if (format == OutputOptions.Format.TABLE) {
            print(results, printer);
        }
        printer.flush();
        return 0;
    }

    private long check() {
        // The negation refuses NaN too.
        if (!(seconds >= 0 && seconds <= MOST_SECONDS)) {
            throw new WrongUseException("--seconds=" + seconds + " must be >= 0 and <= 86400");
        }
        final long granuleBytes = OptionValue.bytes("--granule", granule);
        if (Long.bitCount(granuleBytes) != 1 || granuleBytes > MOST_GRANULE) {
            throw new WrongUseException("--granule=" + granule + " must be a power of two from 1 to 1GiB");
        }
        if (out != null && files.size() != 1) {
            throw new WrongUseException("--out=" + out + " must go with one FILE, not with " + files.size());
        }
        if (out != null) {
            OptionValue.checkFile("--out", out);
        }
        return granuleBytes;
    }

    private Result plan(final Path file, final long granuleBytes) throws IOException {
        final long began = System.nanoTime();
        final long mostNs = (long) (seconds * 1e9);
        final Trace trace = TraceReader.read(file, null, pool);
        final Lifetimes blocks = Lifetimes.of(trace, granuleBytes);
        final Layout layout = new Planner(blocks, seed, () -> System.nanoTime() - began < mostNs).run();
        final long regionBytes = PlacementCheck.regionBytes(trace, layout.offsets(), granuleBytes);
        return new Result(trace, blocks, layout, regionBytes, (System.nanoTime() - began) / 1e9);
    }

    private static void write(final Result result, final Path file) throws IOException {
        final Lifetimes blocks = result.blocks();
        final List<Plan.Block> planned = new ArrayList<>(blocks.count());
        for (int block = 0; block < blocks.count(); block++) {
            planned.add(new Plan.Block(
                    blocks.bytes(block),
                    result.layout().offsets()[block] * blocks.granuleBytes(),
                    blocks.startOperation(block),
                    blocks.endOperation(block)));
        }
        AtomicFile.write(file, to -> Plan.write(blocks.granuleBytes(), result.regionBytes(), planned, to));
    }

    private static JsonLine json(final Result result) {
        return new JsonLine()
                .put("trace", result.trace().name())
                .put("ops", (long) result.trace().operationCount())
                .put("blocks", (long) result.blocks().count())
                .put("granuleBytes", result.blocks().granuleBytes())
                .put("regionBytes", result.regionBytes())
                .put("peakLiveBytes", result.trace().peakLiveBytes())
                .put("lowerBoundBytes", result.boundBytes())
                .put("regionOverBound", result.overBound(), 5)
                .put("seconds", result.searchSeconds(), 3);
    }

    private void print(final List<Result> results, final PrintWriter printer) {
        new TextTable<Result>()
                .column("trace", result -> result.trace().name())
                .column(
                        "blocks",
                        result -> String.format(
                                Locale.ROOT, "%,d", result.blocks().count()))
                .column("region", result -> ByteSize.text(result.regionBytes()))
                .column("no less than", result -> ByteSize.text(result.boundBytes()))
                .column("ratio", result -> String.format(Locale.ROOT, "%.5f", result.overBound()))
                .column("seconds", result -> String.format(Locale.ROOT, "%.1f", result.searchSeconds()))
                .print(results, printer);
        printer.println();
        printer.println(
                "No less than: what is live at most at a time, in granules. The placement was checked by running the trace.");
        if (out != null) {
            printer.println("plan: " + out + ", for --strategy planned:" + out);
        }
    }
}
