package io.outboard.bench.kernels.programs.catalogue;

import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.bench.kernels.worker.CaseWorker;

/** The worker runs cases of programs in a process of its own. */
public final class ProgramWorker {

    private ProgramWorker() {}

    /**
     * Runs cases until there are no more.
     *
     * @param arguments the number of the device
     * @throws InterruptedException if the main thread is interrupted
     */
    public static void main(final String... arguments) throws InterruptedException {
        CaseWorker.<ProgramCase>serve(
                arguments,
                number -> {
                    final BenchDevice device = new BenchDevice(number);
                    return work -> {
                        device.limitDriverHeap(work.driverHeapBytes());
                        return Programs.named(work.program()).run(work, device).toString();
                    };
                },
                ProgramCase::parse);
    }
}
