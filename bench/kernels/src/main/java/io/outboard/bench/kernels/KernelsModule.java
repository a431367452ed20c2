package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.paper.ComposedSection;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.kernels.report.KernelsSection;
import io.outboard.bench.kernels.report.programs.ProgramsSection;
import java.util.List;
import java.util.stream.Stream;

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
        return Stream.concat(
                        Stream.of(KernelsSection.PART, ProgramsSection.PART),
                        ComposedSection.parts(List.of(KernelsSection.FILE_NAME, ProgramsSection.FILE_NAME)).stream())
                .toList();
    }
}
