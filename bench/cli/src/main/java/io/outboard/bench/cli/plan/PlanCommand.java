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
    private static final double MOST_SLACK = 10;
    private static final int MOST_DEVIATIONS = 1000;

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
            description = "CPU time to look for each plan. Default: ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(
            names = "--capacity",
            paramLabel = "SIZE",
            description = "Look only until a region of this size is found. Exit code 1 if none is.")
    private @Nullable String capacity;

    @Option(
            names = "--slack",
            paramLabel = "PERCENT",
            defaultValue = "0",
            description =
                    "Make the plan for steps that deviate, with blocks that are so much larger, from 0 to 10; 0 is for"
                            + " steps that are all the same. Default: ${DEFAULT-VALUE}.")
    private double slack;

    @Option(
            names = "--operations",
            paramLabel = "FROM-TO,...",
            split = ",",
            description =
                    "Of one FILE, these operations alone, counted from 0, each range as a step; TO is the operation"
                            + " behind the last.")
    private List<String> ranges = List.of();

    @Option(names = "--common", description = "Make one plan, of the blocks that all files or ranges have in common.")
    private boolean isCommon;

    @Option(
            names = "--deviations",
            paramLabel = "N",
            converter = OptionValue.WholeInt.class,
            description =
                    "Also measure what the plan is worth to steps that deviate: for each kind of deviation, N steps"
                            + " that are drawn by --seed.")
    private @Nullable Integer deviations;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description =
                    "Of a JFR recording of several pools, or a PyTorch snapshot of several devices, the one to read.")
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
            description =
                    "Write the plan into this file, for --strategy planned:PLAN. Takes one FILE, or several with --common.")
    private @Nullable Path out;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    /** A result is a plan that has been checked. */
    private record Result(
            Trace step,
            Lifetimes blocks,
            Layout layout,
            long boundBytes,
            long regionBytes,
            double cpuSeconds,
            double searchSeconds) {

        double overBound() {
            return (double) regionBytes / boundBytes();
        }
    }

    /** Picocli calls this constructor. */
    public PlanCommand() {}

    @Override
    public Integer call() throws Exception {
        check();
        final long granuleBytes = granuleBytes();
        final long capacityBytes = capacity == null ? 0 : OptionValue.bytes("--capacity", capacity);
        final PrintWriter printer = spec.commandLine().getOut();
        final List<Result> results = new ArrayList<>();
        for (final Trace step : steps(granuleBytes)) {
            final Result result = plan(step, granuleBytes, capacityBytes);
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
        if (deviations != null) {
            results.forEach(result -> printDeviations(result, deviations, printer));
        }
        printer.flush();
        return capacity == null || results.stream().allMatch(result -> result.regionBytes() <= capacityBytes) ? 0 : 1;
    }

    private void check() {
        // The negation refuses NaN too.
        if (!(seconds >= 0 && seconds <= MOST_SECONDS)) {
            throw new WrongUseException("--seconds=" + seconds + " must be >= 0 and <= 86400");
        }
        if (!(slack >= 0 && slack <= MOST_SLACK)) {
            throw new WrongUseException("--slack=" + slack + " must be >= 0 and <= 10");
        }
        if (deviations != null && (deviations < 1 || deviations > MOST_DEVIATIONS)) {
            throw new WrongUseException("--deviations=" + deviations + " must be >= 1 and <= " + MOST_DEVIATIONS);
        }
        if (!ranges.isEmpty() && files.size() != 1) {
            throw new WrongUseException("--operations must go with one FILE, not with " + files.size());
        }
        final int steps = Math.max(files.size(), ranges.size());
        if (isCommon && steps == 1) {
            throw new WrongUseException("--common must go with two files or ranges at least, not with 1");
        }
        if (out != null && steps != 1 && !isCommon) {
            throw new WrongUseException("--out=" + out + " must go with one FILE, not with " + steps);
        }
        if (out != null) {
            OptionValue.checkFile("--out", out);
        }
    }

    private long granuleBytes() {
        final long granuleBytes = OptionValue.bytes("--granule", granule);
        if (Long.bitCount(granuleBytes) != 1 || granuleBytes > MOST_GRANULE) {
            throw new WrongUseException("--granule=" + granule + " must be a power of two from 1 to 1GiB");
        }
        return granuleBytes;
    }

    private List<Trace> steps(final long granuleBytes) throws IOException {
        final List<Trace> steps = new ArrayList<>();
        for (final Path file : files) {
            final Trace trace = TraceReader.read(file, null, pool);
            if (ranges.isEmpty()) {
                steps.add(trace);
            }
            for (final String range : ranges) {
                steps.add(Steps.cut(trace, range));
            }
        }
        return isCommon ? List.of(Steps.common(steps, granuleBytes)) : steps;
    }

    private Result plan(final Trace step, final long granuleBytes, final long capacityBytes) {
        final long began = System.nanoTime();
        final CpuTime cpu = new CpuTime((long) (seconds * 1e9));
        final long boundBytes = Lifetimes.of(step, granuleBytes).peakGranules() * granuleBytes;
        final Trace planned = Steps.withSlack(step, slack, granuleBytes);
        final Lifetimes blocks = Lifetimes.of(planned, granuleBytes);
        final Layout layout = slack == 0
                ? new Planner(blocks, capacityBytes / granuleBytes, seed, cpu::isLeft).run()
                : Zones.plan(blocks, zone -> new Planner(zone, 0, seed, cpu.half()::isLeft).run());
        final long regionBytes = PlacementCheck.regionBytes(planned, layout.offsets(), granuleBytes);
        return new Result(
                step, blocks, layout, boundBytes, regionBytes, cpu.seconds(), (System.nanoTime() - began) / 1e9);
    }

    private void printDeviations(final Result result, final int count, final PrintWriter printer) {
        final Plan plan = Plan.of(result.blocks().granuleBytes(), result.regionBytes(), planned(result));
        final DeviationTable table =
                new DeviationTable(result.step(), plan, result.boundBytes(), List.of(Deviation.values()), seed, count);
        if (format == OutputOptions.Format.JSON) {
            table.json().forEach(printer::println);
        } else {
            table.print(printer);
        }
    }

    private static void write(final Result result, final Path file) throws IOException {
        final List<Plan.Block> planned = planned(result);
        AtomicFile.write(file, to -> Plan.write(result.blocks().granuleBytes(), result.regionBytes(), planned, to));
    }

    private static List<Plan.Block> planned(final Result result) {
        final Lifetimes blocks = result.blocks();
        final List<Plan.Block> planned = new ArrayList<>(blocks.count());
        for (int block = 0; block < blocks.count(); block++) {
            planned.add(new Plan.Block(
                    blocks.bytes(block),
                    result.layout().offsets()[block] * blocks.granuleBytes(),
                    blocks.startOperation(block),
                    blocks.endOperation(block)));
        }
        return planned;
    }

    private static JsonLine json(final Result result) {
        return new JsonLine()
                .put("trace", result.step().name())
                .put("ops", (long) result.step().operationCount())
                .put("blocks", (long) result.blocks().count())
                .put("granuleBytes", result.blocks().granuleBytes())
                .put("regionBytes", result.regionBytes())
                .put("peakLiveBytes", result.step().peakLiveBytes())
                .put("lowerBoundBytes", result.boundBytes())
                .put("regionOverBound", result.overBound(), 5)
                .put("cpuSeconds", result.cpuSeconds(), 3)
                .put("seconds", result.searchSeconds(), 3);
    }

    private void print(final List<Result> results, final PrintWriter printer) {
        new TextTable<Result>()
                .column("trace", result -> result.step().name())
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
