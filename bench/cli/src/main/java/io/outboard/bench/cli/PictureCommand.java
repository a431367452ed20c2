package io.outboard.bench.cli;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.StrategyNames;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.measurement.MeasurementRun;
import io.outboard.bench.cli.measurement.StrategyBench;
import io.outboard.bench.cli.picture.Holders;
import io.outboard.bench.cli.picture.Picture;
import io.outboard.bench.cli.picture.PicturePage;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.core.ByteSize;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code outboard picture} draws where the blocks of a program lie, over time. */
@Command(
        name = "picture",
        mixinStandardHelpOptions = true,
        description =
                "Makes a page that shows where a strategy puts the blocks of a recorded program, over time, what is free,"
                        + " and who holds memory at the peak; or what Pool.dump wrote. The page needs no network.")
final class PictureCommand implements Callable<Integer> {

    private static final String SMALLEST = "smallest";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "FILE", description = "A file as replay takes it, or a dump of a pool.")
    private Path file = Path.of("");

    @Option(
            names = "--strategy",
            paramLabel = "NAME",
            defaultValue = "tlsf",
            completionCandidates = StrategyNames.class,
            description = "The strategy that places the blocks. Default: ${DEFAULT-VALUE}.")
    private String strategy = "tlsf";

    @Option(
            names = "--region",
            paramLabel = "SIZE|smallest",
            defaultValue = SMALLEST,
            description = "Size of the region; or the smallest one in which all are served. Default: ${DEFAULT-VALUE}.")
    private String region = SMALLEST;

    @Option(
            names = "--pool",
            paramLabel = "NAME",
            description =
                    "Of a JFR recording of several pools, or a PyTorch snapshot of several devices, the one to read.")
    private @Nullable String pool;

    @Option(
            names = "--beside",
            paramLabel = "FILE",
            description = "Another file; the page compares who holds memory at the peaks of both.")
    private @Nullable Path beside;

    @Option(
            names = "--out",
            paramLabel = "PAGE",
            defaultValue = "picture.html",
            description = "The page to write; replaced if it exists. Default: ${DEFAULT-VALUE}.")
    private Path out = Path.of("picture.html");

    @Override
    public Integer call() throws Exception {
        strategy = StrategyNames.of(strategy);
        OptionValue.checkFile("--out", out);
        final long regionBytes = region.equals(SMALLEST) ? 0 : OptionValue.bytes("--region", region);
        if (isDump()) {
            for (final String option : new String[] {"--strategy", "--region", "--pool", "--beside"}) {
                if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                    throw new WrongUseException(option + " must not go with a dump, whose blocks lie where they lie");
                }
            }
            PicturePage.writeDump(String.valueOf(file.getFileName()), Files.readString(file), out);
        } else {
            final Picture picture = picture(file, regionBytes);
            final Picture other = beside == null ? null : picture(beside, 0);
            PicturePage.write(picture, other, out);
            Holders.lines(picture).forEach(spec.commandLine().getOut()::println);
            if (other != null) {
                spec.commandLine().getOut().println("beside it " + beside);
                Holders.lines(other).forEach(spec.commandLine().getOut()::println);
            }
        }
        spec.commandLine().getOut().println("picture: " + out);
        spec.commandLine().getOut().flush();
        return 0;
    }

    /** Reads and replays a file, in the smallest region that serves it if the size is 0. */
    private Picture picture(final Path of, final long regionBytes) throws IOException {
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(of, owners, pool);
        final StrategyOptions options = StrategyOptions.DEFAULTS.withMaxBlocks(MeasurementRun.maxBlocks(trace));
        final StrategyBench.Smallest found = regionBytes > 0
                ? new StrategyBench.Smallest(regionBytes, true)
                : StrategyBench.open(strategy, trace, options.maxBlocks()).smallestRegion(step -> {});
        if (!found.serves()) {
            spec.commandLine()
                    .getOut()
                    .println(strategy + " serves all of it in no region up to " + ByteSize.text(found.regionBytes()));
        }
        return new Picture(trace, owners, Strategies.named(strategy), options, found.regionBytes());
    }

    private boolean isDump() throws IOException {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(file)) {
            return in.read() == '{';
        }
    }
}
