package io.outboard.bench.cli.worker;

import io.outboard.bench.kernels.worker.DeviceCase;
import io.outboard.bench.kernels.worker.Watchdog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The main loop of the processes in which cases run: reads cases from standard input, one a line, and writes a result for
 * each to standard output, one JSON object a line. The process ends when its input does, even if a kernel hangs, so that it
 * never outlives {@link Watchdog}; and after a failure, since the CUDA context may be of no more use.
 */
public final class Worker {

    private static final int FAILED = 1;

    private Worker() {}

    /**
     * Cases of one kind on one device.
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
         * @throws RuntimeException if a kernel crashed, memory isn't enough, and so on; the context may be of no more use
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
        answer(() -> {
            final Bench<C> bench = open.apply(Integer.parseInt(arguments[0]));
            return line -> measured(bench, parse.apply(line));
        });
    }

    /**
     * Answers lines of any kind until there are no more. What fails ends the process, with the reason as its last words.
     *
     * @param open makes what answers; each answer is one JSON object
     * @throws InterruptedException if the main thread is interrupted
     */
    public static void answer(final Supplier<UnaryOperator<String>> open) throws InterruptedException {
        final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        final Thread reader = new Thread(() -> read(lines), "cases");
        reader.setDaemon(true);
        reader.start();
        try {
            final UnaryOperator<String> answers = open.get();
            print(WorkerProcess.READY);
            while (true) {
                print(answers.apply(lines.take()));
            }
        } catch (final RuntimeException | LinkageError e) {
            // The last line that is read at the other end says why; a stack trace would end in another.
            System.err.println(e.getMessage());
            System.err.flush();
            Runtime.getRuntime().halt(FAILED);
        }
    }

    private static <C extends DeviceCase> String measured(final Bench<C> bench, final C work) {
        try {
            return bench.measure(work);
        } catch (final RuntimeException | LinkageError e) {
            print(work.failed("crash", String.valueOf(e.getMessage())).toString());
            // Nothing is closed on the way out: a context that a kernel broke can't be.
            Runtime.getRuntime().halt(FAILED);
            throw e;
        }
    }

    private static void read(final BlockingQueue<String> lines) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
            }
        } catch (final IOException e) {
            System.err.println(e.getMessage());
        } finally {
            // Not exit, which would wait for a thread that waits for a kernel.
            Runtime.getRuntime().halt(0);
        }
    }

    private static void print(final String line) {
        System.out.println(line);
        System.out.flush();
    }
}
