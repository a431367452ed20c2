package io.outboard.bench.kernels.programs;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.BenchDevice;
import java.util.List;

/** A program whose kernels allocate. */
public interface Program {

    /** As it is called on the command line: letters and digits. */
    String name();

    /** What it was compiled with. */
    List<Store> stores();

    /**
     * What to run: the sizes and modes that the papers have, or something short of each for memory checkers and tests.
     *
     * @param store one of {@link #stores}
     * @param quick whether it is to be short
     */
    List<ProgramCase> cases(Store store, boolean quick);

    /**
     * Runs it and compares what it comes to with what the CPU comes to.
     *
     * @param work one of {@link #cases}, maybe with other steps or another heap
     * @param device to run on, with the driver's heap as the case has it
     * @return what was asked for and what was measured; {@code status} is {@code ok} also where a check failed,
     *     which the numbers of {@code ProgramResult.CHECKS} say
     * @throws RuntimeException if a kernel crashed, memory isn't enough, and so on
     */
    JsonLine run(ProgramCase work, BenchDevice device);
}
