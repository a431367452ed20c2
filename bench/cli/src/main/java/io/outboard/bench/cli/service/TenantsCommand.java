package io.outboard.bench.cli.service;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.bench.cli.trace.TraceWriter;
import io.outboard.service.LendingDevice;
import io.outboard.service.Quota;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code outboard tenants} finds out whether two programs fit on a device in turns, if each needs more than half of it.
 */
@Command(
        name = "tenants",
        mixinStandardHelpOptions = true,
        description =
                "Tells whether two programs fit on one device by turns, each of which needs more than half of it at its peak: day"
                        + " and night, two processes, replay a trace each over a lender, first with nothing guaranteed, then with"
                        + " half of the device for each. Exit code 1 if the lender refused memory where nothing was guaranteed."
                        + " Needs Linux and JDK 22 or newer.")
public final class TenantsCommand implements Callable<Integer> {

    private static final String SHARED = "shared";
    private static final String HALVES = "halves";
    private static final int MOST_ROUNDS = 1000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "DAY", description = "What one of them does: a file as replay takes it.")
    private Path day = Path.of("");

    @Parameters(index = "1", paramLabel = "NIGHT", description = "What the other one does. May be the same file.")
    private Path night = Path.of("");

    @Option(
            names = "--device",
            paramLabel = "memory|N",
            required = true,
            description = "What they share: the memory of GPU N, or memory of this machine, which isn't touched.")
    private String device = "";

    @Option(
            names = "--limit",
            paramLabel = "SHARE|SIZE",
            defaultValue = "0.9",
            description =
                    "How much there is in all: a part of the device's memory, or a size such as 64GiB. Default: ${DEFAULT-VALUE}.")
    private String limit = "0.9";

    @Option(
            names = "--share",
            paramLabel = "SHARE",
            defaultValue = "0.6",
            description =
                    "The part of the limit that each has live at its peak; sizes are scaled so. Default: ${DEFAULT-VALUE}.")
    private double share = 0.6;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            description = "How many turns each has. Default: ${DEFAULT-VALUE}.")
    private int rounds = 3;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    /** Picocli calls this constructor. */
    public TenantsCommand() {}

    @Override
    public Integer call() throws Exception {
        // The negation refuses NaN too.
        if (!(share > 0.5 && share <= 1)) {
            throw new WrongUseException("--share=" + share + " must be > 0.5 and <= 1");
        }
        if (rounds < 1 || rounds > MOST_ROUNDS) {
            throw new WrongUseException("--rounds=" + rounds + " must be >= 1 and <= " + MOST_ROUNDS);
        }
        final Path folder = Files.createTempDirectory("outboard-tenants");
        try {
            final List<Tenancy.Result> results = run(folder);
            return refused(results, SHARED) == 0 ? 0 : 1;
        } finally {
            delete(folder);
        }
    }

    private List<Tenancy.Result> run(final Path folder) throws IOException, InterruptedException {
        final long limitBytes;
        final long halfBytes;
        try (LendingDevice lent = open()) {
            limitBytes = lent.limitBytes();
            halfBytes = limitBytes / 2 / lent.unitBytes() * lent.unitBytes();
        }
        final long peakBytes = (long) (limitBytes * share) / TraceScale.GRANULE_BYTES * TraceScale.GRANULE_BYTES;
        if (halfBytes == 0 || peakBytes > Trace.MAX_BYTES) {
            throw new WrongUseException("--limit=" + limit + " must be >= 4MiB, and <= 1TiB for each tenant's peak");
        }
        final List<Tenancy.Tenant> tenants = List.of(
                new Tenancy.Tenant("day", scaled("DAY", day, peakBytes, folder.resolve("day"))),
                new Tenancy.Tenant("night", scaled("NIGHT", night, peakBytes, folder.resolve("night"))));
        final Tenancy tenancy = new Tenancy(device, tenants, rounds);
        final PrintWriter out = spec.commandLine().getOut();
        final List<Tenancy.Result> results = new ArrayList<>();
        for (final String arrangement : List.of(SHARED, HALVES)) {
            final Quota quota = arrangement.equals(SHARED) ? Quota.NONE : new Quota(halfBytes, halfBytes);
            final List<Tenancy.Result> both = tenancy.run(arrangement, open(), quota, folder);
            results.addAll(both);
            if (format == OutputOptions.Format.JSON) {
                both.forEach(result -> out.println(json(result, limitBytes)));
                out.flush();
            }
        }
        if (format == OutputOptions.Format.TABLE) {
            out.println("day: " + day + ", night: " + night + ", by turns, of " + bytes(limitBytes));
            out.println();
            table().print(results, out);
            out.println();
            out.println(sentence(results));
        }
        out.flush();
        return results;
    }

    private LendingDevice open() {
        try {
            return LentDevice.open(device, limit);
        } catch (final IOException e) {
            throw new WrongUseException("--device=" + device + " must be one that can be lent: " + e.getMessage());
        }
    }

    /**
     * Writes the trace, scaled to {@code peakBytes}, to a file for the tenant, because the user's file may be a pipe
     * that can be read only once.
     */
    private Path scaled(final String argument, final Path file, final long peakBytes, final Path copy)
            throws IOException {
        final Trace trace = TraceReader.read(file, argument);
        final long leastBytes = TraceScale.leastPeakBytes(trace);
        if (leastBytes > peakBytes) {
            throw new WrongUseException("--limit=" + limit + " must leave " + file + " a peak of " + leastBytes
                    + " bytes, " + TraceScale.GRANULE_BYTES + " for each of its " + trace.peakLiveBlocks()
                    + " blocks: --share=" + share + " of it is " + peakBytes);
        }
        TraceWriter.writeHpTrace(TraceScale.scaled(trace, peakBytes), copy);
        return copy;
    }

    private static void delete(final Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (final Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
        Files.delete(folder);
    }

    private static long refused(final List<Tenancy.Result> results, final String arrangement) {
        return results.stream()
                .filter(result -> result.arrangement().equals(arrangement))
                .mapToLong(Tenancy.Result::refused)
                .sum();
    }

    private static String sentence(final List<Tenancy.Result> results) {
        return "Shared, " + sentence(results, SHARED) + "; with half of it for each, " + sentence(results, HALVES)
                + ".";
    }

    private static String sentence(final List<Tenancy.Result> results, final String arrangement) {
        final long refused = refused(results, arrangement);
        final long all = results.stream()
                .filter(result -> result.arrangement().equals(arrangement))
                .mapToLong(Tenancy.Result::allocations)
                .sum();
        return refused == 0 ? "both got all" : count(refused) + " of " + count(all) + " allocations were refused";
    }

    private static TextTable<Tenancy.Result> table() {
        return new TextTable<Tenancy.Result>()
                .column("arrangement", Tenancy.Result::arrangement)
                .column("tenant", Tenancy.Result::tenant)
                .column("peak live", result -> bytes(result.peakLiveBytes()))
                .column("peak leased", result -> bytes(result.peakLeasedBytes()))
                .column("refused", result -> count(result.refused()))
                .column("turn, median", result -> Units.time(result.medianNs()))
                .column("most", result -> Units.time(result.mostNs()));
    }

    private static String bytes(final long bytes) {
        return Units.bytes((double) bytes);
    }

    private static String count(final long count) {
        return Units.count((double) count);
    }

    private static JsonLine json(final Tenancy.Result result, final long limitBytes) {
        return new JsonLine()
                .put("arrangement", result.arrangement())
                .put("tenant", result.tenant())
                .put("limitBytes", limitBytes)
                .put("peakLiveBytes", result.peakLiveBytes())
                .put("peakLeasedBytes", result.peakLeasedBytes())
                .put("allocations", result.allocations())
                .put("refused", result.refused())
                .put("turnMedianMs", result.medianNs() / 1e6, 3)
                .put("turnMostMs", result.mostNs() / 1e6, 3);
    }
}
