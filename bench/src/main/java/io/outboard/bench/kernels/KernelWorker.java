package io.outboard.bench.kernels;

import io.outboard.bench.report.JsonLine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The program of the processes in which cases run: reads cases from standard input, one a line, and writes a result for each
 * to standard output, one JSON object a line. It ends when its input does, even if a kernel hangs, so that it never
 * outlives {@link Watchdog}; and after a failure, since the CUDA context may be of no more use.
 */
public final class KernelWorker {

    private static final int FAILED = 1;

    private KernelWorker() {}

    /**
     * Runs cases until there are no more.
     *
     * @param arguments the number of the device
     * @throws InterruptedException if the main thread is interrupted
     */
    public static void main(final String... arguments) throws InterruptedException {
        final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        final Thread reader = new Thread(() -> read(lines), "cases");
        reader.setDaemon(true);
        reader.start();
        final KernelBench bench = open(Integer.parseInt(arguments[0]));
        print(WorkerProcess.READY);
        while (true) {
            final KernelCase work = KernelCase.parse(lines.take());
            try {
                print(bench.measure(work).toString());
            } catch (final RuntimeException | LinkageError e) {
                print(failed(work, "crash", String.valueOf(e.getMessage())).toString());
                // Nothing is closed on the way out: a context that a kernel broke can't be.
                Runtime.getRuntime().halt(FAILED);
            }
        }
    }

    private static KernelBench open(final int device) {
        try {
            return new KernelBench(device);
        } catch (final RuntimeException | LinkageError e) {
            // The last line that Watchdog sees says why; a stack trace would end in another.
            System.err.println(e.getMessage());
            System.err.flush();
            Runtime.getRuntime().halt(FAILED);
            throw e;
        }
    }

    /** The result of a case that has none. */
    static JsonLine failed(final KernelCase work, final String status, final String message) {
        return work.json().put("status", status).put("message", message.replaceAll("\\s+", " "));
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
