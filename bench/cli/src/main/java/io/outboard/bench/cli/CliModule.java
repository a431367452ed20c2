package io.outboard.bench.cli;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.paper.PaperCommand;
import io.outboard.bench.cli.plan.PlanCommand;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.strategies.StrategyParts;
import io.outboard.bench.cli.service.ServeCommand;
import io.outboard.bench.cli.service.TenantsCommand;
import io.outboard.bench.cli.service.TopCommand;
import io.outboard.bench.cli.tail.TailComparison;
import java.util.List;
import java.util.stream.Stream;

/** This module adds the commands that users run. */
public final class CliModule implements CommandModule {

    /** {@link java.util.ServiceLoader} calls this constructor. */
    public CliModule() {}

    @Override
    public List<Class<?>> commands() {
        return List.of(
                MallocLargeCommand.class,
                ReplayCommand.class,
                AdviseCommand.class,
                PlanCommand.class,
                PictureCommand.class,
                StrategiesCommand.class,
                ReportCommand.class,
                PaperCommand.class,
                ServeCommand.class,
                TopCommand.class,
                TenantsCommand.class);
    }

    @Override
    public List<PagePart> pageParts() {
        return Stream.of(
                        Stream.of(PaperCommand.PART),
                        StrategyParts.ALL.stream(),
                        Stream.of(SmallestBySeed.RESULTS.part(), TailComparison.RESULTS.part()))
                .flatMap(parts -> parts)
                .toList();
    }
}
