package io.outboard.bench.cli;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyFamily;
import io.outboard.core.StrategyProvider;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code outboard strategies} lists the strategies that a user can choose from. */
@Command(name = "strategies", mixinStandardHelpOptions = true, description = "Lists the strategies by name.")
final class StrategiesCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private OutputOptions.Format format = OutputOptions.Format.TABLE;

    @Override
    public Integer call() {
        final PrintWriter out = spec.commandLine().getOut();
        for (final StrategyProvider provider : Strategies.all()) {
            if (format == OutputOptions.Format.JSON) {
                out.println(new JsonLine().put("strategy", provider.name()).put("description", provider.description()));
            } else {
                out.printf(Locale.ROOT, "%-20s %s%n", provider.name(), provider.description());
            }
        }
        for (final StrategyFamily family : Strategies.families()) {
            if (format == OutputOptions.Format.JSON) {
                out.println(new JsonLine().put("strategy", family.form()).put("description", family.description()));
            } else {
                out.printf(Locale.ROOT, "%-20s %s%n", family.form(), family.description());
            }
        }
        out.flush();
        return 0;
    }
}
