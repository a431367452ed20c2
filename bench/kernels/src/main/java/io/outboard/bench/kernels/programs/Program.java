package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import java.util.List;

/** A program has kernels that allocate. */
public interface Program {

    /** Returns the name on the command line: letters and digits. */
    String name();

    /** Returns the stores that the program was compiled with. */
    List<Store> stores();

    /**
     * Returns the cases to run: the sizes and modes of the papers, or a short form of each for memory checkers and
     * tests.
     *
     * @param store one of {@link #stores}
     * @param quick whether the cases should be short
     */
    List<ProgramCase> cases(Store store, boolean quick);

    /**
     * Runs a case and compares the result with the CPU's.
     *
     * @param work one of {@link #cases}, maybe with other steps or another heap
     * @param device to run on, with the driver's heap as the case has it
     * @return what was asked for and what was measured; {@code status} is {@code ok} also where a check failed, which
     *     the numbers of {@code ProgramResult.CHECKS} say
     * @throws RuntimeException if a kernel crashed, memory isn't enough, and so on
     */
    JsonLine run(ProgramCase work, BenchDevice device);

    /**
     * Returns the cases of all stores.
     *
     * @param quick whether the cases should be short, for memory checkers
     * @return in the order in which they run
     */
    default List<ProgramCase> cases(final boolean quick) {
        return stores().stream().flatMap(store -> cases(store, quick).stream()).toList();
    }
}
