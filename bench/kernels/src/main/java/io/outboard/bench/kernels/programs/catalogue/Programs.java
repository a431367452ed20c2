package io.outboard.bench.kernels.programs.catalogue;

import io.outboard.bench.kernels.programs.ArenaProgram;
import io.outboard.bench.kernels.programs.ObjectsProgram;
import io.outboard.bench.kernels.programs.Program;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.programs.XMallocProgram;
import io.outboard.bench.kernels.programs.kd.KdTree;
import io.outboard.bench.kernels.programs.simulation.Bodies;
import io.outboard.bench.kernels.programs.simulation.Life;
import io.outboard.bench.kernels.programs.simulation.SimulationProgram;
import io.outboard.bench.kernels.programs.simulation.Structure;
import io.outboard.bench.kernels.programs.simulation.Sugarscape;
import io.outboard.bench.kernels.programs.simulation.Traffic;
import io.outboard.bench.kernels.programs.simulation.Wator;
import java.util.List;

/** The class lists all programs. */
public final class Programs {

    private static final List<Program> ALL = List.of(
            new SimulationProgram(new Wator()),
            new SimulationProgram(new Traffic()),
            new SimulationProgram(new Life(false)),
            new SimulationProgram(new Life(true)),
            new SimulationProgram(new Bodies(false)),
            new SimulationProgram(new Bodies(true)),
            new SimulationProgram(new Structure()),
            new SimulationProgram(new Sugarscape()),
            new KdTree(),
            new XMallocProgram(),
            new ArenaProgram(),
            new ObjectsProgram());

    private Programs() {}

    /**
     * Returns the names of all programs.
     *
     * @return in the order of tables
     */
    public static List<String> names() {
        return ALL.stream().map(Program::name).toList();
    }

    /**
     * Returns the stores that programs were compiled with.
     *
     * @return each once
     */
    public static List<Store> stores() {
        return ALL.stream()
                .flatMap(program -> program.stores().stream())
                .distinct()
                .toList();
    }

    static List<Program> all() {
        return ALL;
    }

    static Program named(final String name) {
        return ALL.stream()
                .filter(program -> program.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("program=" + name + " must be one of " + names()));
    }

    /**
     * Returns the cases to run of a program.
     *
     * @param program one of {@link #names}
     * @param quick whether the cases should be short, for memory checkers
     * @return cases for each store that the program was compiled for
     */
    public static List<ProgramCase> cases(final String program, final boolean quick) {
        return named(program).cases(quick);
    }
}
