package io.outboard.bench.cli;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.ReportPage;
import io.outboard.bench.cli.report.strategies.StrategyParts;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code outboard report} makes a page of results, for example of results copied from another machine. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = "Makes report.html, one page that needs no network, from the results in a folder.")
final class ReportCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "DIR", description = "A folder that --out wrote.")
    private Path directory = Path.of("");

    @Option(
            names = "--svg",
            paramLabel = "FILE",
            description = "Write the picture of an allocation's percentiles into this file as well.")
    private @Nullable Path svg;

    @Override
    public Integer call() throws Exception {
        if (svg != null) {
            OptionValue.checkFile("--svg", svg);
        }
        final Path page;
        try {
            page = ReportPage.write(directory, CommandModule.allPageParts());
            if (svg != null) {
                StrategyParts.writePicture(directory, svg);
            }
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
        spec.commandLine().getOut().println(page);
        if (svg != null) {
            spec.commandLine().getOut().println(svg);
        }
        spec.commandLine().getOut().flush();
        return 0;
    }
}
