package io.outboard.bench.cli.service;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.service.Lender;
import io.outboard.service.LenderBuilder;
import io.outboard.service.LendingDevice;
import io.outboard.service.Quota;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code outboard serve} lends a device's memory to the processes of one user, until it is told to end. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        description =
                "Lends a GPU's memory to several processes: each takes leases, divides them by a pool of its own, and gives"
                        + " them back; what the dead held goes back by itself. In the foreground, until SIGTERM or Ctrl-C;"
                        + " clients keep what they hold then. Needs Linux and JDK 22 or newer.",
        footer = "Clients: LeasedMemorySource.connect, -Doutboard.service=PATH, or service=PATH of the agent.")
public final class ServeCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--device",
            paramLabel = "memory|N",
            required = true,
            description = "What is lent: the memory of GPU N, or memory of this machine, for a try without a GPU.")
    private String device = "";

    @Option(
            names = "--socket",
            paramLabel = "PATH",
            required = true,
            description =
                    "The file that clients connect to; only this user's can. Its folder is made if it is missing, for this"
                            + " user only, and should be one that only this user can write to. At most 107 bytes.")
    private Path socket = Path.of("");

    @Option(
            names = "--limit",
            paramLabel = "SHARE|SIZE",
            defaultValue = "0.9",
            description =
                    "How much is lent in all: a part of the device's memory, or a size such as 64GiB. Default: ${DEFAULT-VALUE}.")
    private String limit = "0.9";

    @Option(
            names = "--quota",
            paramLabel = "NAME=GUARANTEED:MOST",
            description =
                    "What clients of that name may have together, such as batch=8GiB:40GiB: nobody else is lent what is"
                            + " guaranteed to them. Can be given several times. Others have nothing guaranteed.")
    private List<String> quotas = List.of();

    @Option(
            names = "--spares",
            paramLabel = "N",
            defaultValue = "2",
            description =
                    "Leases of the commonest size that are made ahead of need, at most 64, and an eighth of the limit. They"
                            + " go when nobody has asked for that size for 10 s. Default: ${DEFAULT-VALUE}.")
    private int spares = 2;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description =
                    "How to log what happens: lines for people, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    @Option(
            names = "--log",
            paramLabel = "debug|info|warn",
            defaultValue = "debug",
            description =
                    "What to log: all, each lease included; clients and refusals; or only what somebody should look at."
                            + " The lender doesn't wait for its log: lines that nobody reads in time are dropped and"
                            + " counted. Default: ${DEFAULT-VALUE}.")
    private LenderLog.Level log = LenderLog.Level.DEBUG;

    /** Picocli calls this constructor. */
    public ServeCommand() {}

    @Override
    public Integer call() throws Exception {
        final Map<String, Quota> parsed = parsedQuotas();
        final LendingDevice lent = LentDevice.open(device, limit);
        final Lender lender;
        try {
            lender = builder(lent, parsed).start(socket);
        } catch (final IOException | RuntimeException e) {
            lent.close();
            throw e instanceof IllegalArgumentException wrong ? new WrongUseException(wrong) : e;
        }
        final Thread end = new Thread(lender::close, "outboard-serve-end");
        Runtime.getRuntime().addShutdownHook(end);
        lender.awaitEnd();
        return 0;
    }

    private LenderBuilder builder(final LendingDevice lent, final Map<String, Quota> parsed) {
        final boolean json = format == OutputOptions.Format.JSON;
        final LenderBuilder builder = Lender.of(lent)
                .spares(spares)
                .events(new LenderLog(spec.commandLine().getOut(), json, log, InstantSource.system()));
        parsed.forEach(builder::quota);
        return builder;
    }

    /** Parses the quotas, so that a wrong one is refused before a device is opened. */
    private Map<String, Quota> parsedQuotas() {
        final Map<String, Quota> parsed = new LinkedHashMap<>();
        for (final String quota : quotas) {
            final int sign = quota.indexOf('=');
            if (sign < 1) {
                throw new WrongUseException(
                        "--quota=" + quota + " must be NAME=GUARANTEED:MOST, such as batch=8GiB:40GiB");
            }
            final String name = quota.substring(0, sign);
            try {
                parsed.put(name, Quota.parse("--quota=" + name, quota.substring(sign + 1)));
            } catch (final IllegalArgumentException e) {
                throw new WrongUseException(e);
            }
        }
        return parsed;
    }
}
