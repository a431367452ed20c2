package io.outboard.bench.cli.service;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Units;
import io.outboard.service.LenderStatus;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code outboard top} shows a lender's ledger. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        description = "Shows who holds what of a GPU that outboard serve lends. Needs Linux and JDK 22 or newer.")
public final class TopCommand implements Callable<Integer> {

    private static final double MOST_SECONDS = 86_400;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--socket", paramLabel = "PATH", required = true, description = "The lender's file.")
    private Path socket = Path.of("");

    @Option(
            names = "--every",
            paramLabel = "SECONDS",
            description = "Show it again and again, until Ctrl-C or the lender's end. Default: once.")
    private double seconds;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    /** Picocli calls this constructor. */
    public TopCommand() {}

    @Override
    public Integer call() throws Exception {
        if (!(seconds >= 0 && seconds <= MOST_SECONDS)) {
            throw new WrongUseException("--every=" + seconds + " must be >= 0 and <= " + (int) MOST_SECONDS);
        }
        final PrintWriter out = spec.commandLine().getOut();
        print(out, status());
        while (seconds > 0) {
            TimeUnit.MILLISECONDS.sleep((long) (seconds * 1000));
            if (format == OutputOptions.Format.TABLE) {
                out.println();
            }
            print(out, status());
        }
        return 0;
    }

    private LenderStatus status() throws Exception {
        try {
            return LenderStatus.of(socket);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
    }

    private void print(final PrintWriter out, final LenderStatus status) {
        if (format == OutputOptions.Format.JSON) {
            out.println(json(status));
            status.clients().forEach(client -> out.println(json(client)));
        } else {
            out.println(status.device() + ": " + bytes(status.lentBytes()) + " of " + bytes(status.limitBytes())
                    + " lent" + (status.spareBytes() == 0 ? "" : ", " + bytes(status.spareBytes()) + " ready"));
            if (!status.clients().isEmpty()) {
                out.println();
                table().print(status.clients(), out);
            }
        }
        out.flush();
    }

    private static TextTable<LenderStatus.Client> table() {
        return new TextTable<LenderStatus.Client>()
                .column("client", LenderStatus.Client::name)
                .column("pid", client -> String.valueOf(client.pid()))
                .column("leased", client -> bytes(client.leasedBytes()))
                .column("in use", client -> client.usedBytes() < 0 ? "–" : bytes(client.usedBytes()))
                .column("guaranteed", client -> bytes(client.guaranteedBytes()))
                .column("most", client -> client.mostBytes() == Long.MAX_VALUE ? "–" : bytes(client.mostBytes()))
                .column("waiting for", client -> client.waitingBytes() == 0 ? "–" : bytes(client.waitingBytes()));
    }

    private static String bytes(final long bytes) {
        return Units.bytes((double) bytes);
    }

    private static JsonLine json(final LenderStatus status) {
        return new JsonLine()
                .put("device", status.device())
                .put("limitBytes", status.limitBytes())
                .put("lentBytes", status.lentBytes())
                .put("spareBytes", status.spareBytes())
                .put("clients", (long) status.clients().size());
    }

    private static JsonLine json(final LenderStatus.Client client) {
        final JsonLine line = new JsonLine()
                .put("client", client.name())
                .put("pid", (long) client.pid())
                .put("leasedBytes", client.leasedBytes());
        if (client.usedBytes() >= 0) {
            line.put("usedBytes", client.usedBytes());
        }
        line.put("guaranteedBytes", client.guaranteedBytes());
        if (client.mostBytes() != Long.MAX_VALUE) {
            line.put("mostBytes", client.mostBytes());
        }
        return line.put("waitingBytes", client.waitingBytes());
    }
}
