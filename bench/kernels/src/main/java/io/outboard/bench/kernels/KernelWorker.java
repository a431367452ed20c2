package io.outboard.bench.kernels;

import io.outboard.bench.kernels.worker.CaseWorker;

/** The worker runs cases of the test bench in a process of its own. */
public final class KernelWorker {

    private KernelWorker() {}

    /**
     * Runs cases until there are no more.
     *
     * @param arguments the number of the device
     * @throws InterruptedException if the main thread is interrupted
     */
    public static void main(final String... arguments) throws InterruptedException {
        CaseWorker.<KernelCase>serve(
                arguments,
                device -> {
                    final KernelBench bench = new KernelBench(device);
                    return work -> (work.contender().isPeer() ? PeerRun.measure(work, device) : bench.measure(work))
                            .toString();
                },
                KernelCase::parse);
    }
}
