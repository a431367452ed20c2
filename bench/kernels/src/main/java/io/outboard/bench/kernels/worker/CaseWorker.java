package io.outboard.bench.kernels.worker;

import io.outboard.bench.cli.worker.Worker;
import java.util.function.Function;
import java.util.function.IntFunction;

/** The class has the main loop of the processes in which cases run; {@link Watchdog} may end such a process. */
public final class CaseWorker {

    private CaseWorker() {}

    /**
     * A bench runs cases of one kind on one device.
     *
     * @param <C> what a case is
     */
    @FunctionalInterface
    public interface Bench<C extends DeviceCase> {

        /**
         * Runs a case.
         *
         * @param work the case
         * @return one JSON object
         * @throws RuntimeException if a kernel crashed, memory isn't enough, and so on; the context may be unusable
         */
        String measure(C work);
    }

    /**
     * Runs cases until there are no more.
     *
     * @param <C> what a case is
     * @param arguments of the program: the number of the device
     * @param open makes the bench for a device
     * @param parse reads what {@link DeviceCase#line} wrote
     * @throws InterruptedException if the main thread is interrupted
     */
    public static <C extends DeviceCase> void serve(
            final String[] arguments, final IntFunction<Bench<C>> open, final Function<String, C> parse)
            throws InterruptedException {
        Worker.answer(() -> {
            final Bench<C> bench = open.apply(Integer.parseInt(arguments[0]));
            return line -> measured(bench, parse.apply(line));
        });
    }

    private static <C extends DeviceCase> String measured(final Bench<C> bench, final C work) {
        try {
            return bench.measure(work);
        } catch (final RuntimeException | LinkageError e) {
            Worker.endWith(work.failed("crash", String.valueOf(e.getMessage())).toString());
            throw e;
        }
    }
}
