package io.outboard.bench.cli.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * This class runs the main loop of a process that works for another: reads lines from standard input, and writes an
 * answer to each to standard output, one JSON object a line. The process ends when its input ends, even if a kernel
 * hangs, so that it never outlives its parent. It also ends after a failure, since the CUDA context may be unusable.
 */
public final class Worker {

    private static final int FAILED = 1;

    private Worker() {}

    /**
     * Answers lines of any kind until there are no more. A failure ends the process, and its reason is the last line of
     * output.
     *
     * @param open makes the function that answers; each answer is one JSON object
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
            // The parent shows the last line that it reads, so the reason must be that line; a stack trace would end in
            // another.
            System.err.println(e.getMessage());
            System.err.flush();
            Runtime.getRuntime().halt(FAILED);
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
            // System.exit isn't used, because it would wait for a thread that waits for a kernel.
            Runtime.getRuntime().halt(0);
        }
    }

    /**
     * Gives a last answer and ends the process. Nothing is closed on the way out, because a context that a kernel broke
     * can't be closed.
     *
     * @param answer one JSON object
     */
    public static void endWith(final String answer) {
        print(answer);
        Runtime.getRuntime().halt(FAILED);
    }

    private static void print(final String line) {
        System.out.println(line);
        System.out.flush();
    }
}
