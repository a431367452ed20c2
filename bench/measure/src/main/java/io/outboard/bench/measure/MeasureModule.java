package io.outboard.bench.measure;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.measure.check.CheckCommand;
import io.outboard.bench.measure.compare.CompareCommand;
import io.outboard.bench.measure.pool.PoolCommand;
import io.outboard.bench.measure.soak.SoakCommand;
import io.outboard.bench.measure.threads.MemoryByThreads;
import io.outboard.bench.measure.threads.SizeSweep;
import io.outboard.bench.measure.threads.ThreadProfileRun;
import java.util.List;
import java.util.stream.Stream;

/** The module adds the commands that measure and test what we claim. */
public final class MeasureModule implements CommandModule {

    /** A {@link java.util.ServiceLoader} calls this constructor. */
    public MeasureModule() {}

    @Override
    public List<Class<?>> commands() {
        return List.of(PoolCommand.class, SoakCommand.class, CheckCommand.class, CompareCommand.class);
    }

    @Override
    public List<PagePart> pageParts() {
        return List.of(
                ThreadProfileRun.RESULTS.part(),
                MemoryByThreads.RESULTS.part(),
                SizeSweep.RESULTS.part(),
                SoakCommand.RESULTS.part(),
                CheckCommand.PART);
    }

    @Override
    public List<String> resultFiles() {
        return Stream.concat(CommandModule.super.resultFiles().stream(), Stream.of(CheckCommand.STATE_FILE_NAME))
                .toList();
    }
}
