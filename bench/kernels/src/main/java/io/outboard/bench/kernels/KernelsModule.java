package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.kernels.report.KernelsSection;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import java.util.List;

/** The module adds the commands that measure what allocates in kernels. */
public final class KernelsModule implements CommandModule {

    /** A {@link java.util.ServiceLoader} calls this constructor. */
    public KernelsModule() {}

    @Override
    public List<Class<?>> commands() {
        return List.of(KernelsCommand.class);
    }

    @Override
    public List<PagePart> pageParts() {
        return List.of(KernelsSection.PART, ProgramsSection.PART);
    }
}
