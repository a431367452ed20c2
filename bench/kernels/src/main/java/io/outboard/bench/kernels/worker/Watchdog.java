package io.outboard.bench.kernels.worker;

import io.outboard.bench.cli.common.ResultSink;
import io.outboard.bench.cli.worker.WorkerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A watchdog runs cases in another process, in the same one as long as it lives. A case that takes longer than the
 * limit is a {@code hang}: the process is killed, and the next case gets a new one. A case in which the process or its
 * CUDA context dies is a {@code crash}. Confined to one thread; a new process costs about a second.
 *
 * @param <C> what a case is
 */
public final class Watchdog<C extends DeviceCase> {

    /**
     * The first case of a run with some kernels has this much longer, since the driver compiles them: BitMalloc's took
     * more than 20 seconds on a machine where four processes did so (H200, 2026-11-28). It keeps what it has compiled.
     */
    private static final Duration COMPILATION = Duration.ofSeconds(60);

    private final List<String> command;
    private final Duration limit;
    private final Duration compilation;

    /** The modules of which a case has answered, so that the driver has compiled them. */
    private final Set<String> compiled = new HashSet<>();

    private @Nullable WorkerProcess worker;

    /**
     * Makes a watchdog without a process as yet.
     *
     * @param program the worker: its main method calls {@link CaseWorker#serve}
     * @param device number of the device to run on
     * @param limit how long a case may take, with its checks, but without {@link DeviceCase#seconds} and the first
     *     compilation of its kernels
     */
    public Watchdog(final Class<?> program, final int device, final Duration limit) {
        this(WorkerProcess.command(program, String.valueOf(device)), limit, COMPILATION);
    }

    Watchdog(final List<String> command, final Duration limit, final Duration compilation) {
        this.command = List.copyOf(command);
        this.limit = limit;
        this.compilation = compilation;
    }

    /**
     * Runs cases. They are ordered by what a process must be told before its first kernel, and so may run in another
     * order than given.
     *
     * @param cases what to run
     * @param starts is told of each case when it starts
     * @param ends is told of each result when it is known
     * @return a JSON object for each, in the order given
     * @throws IllegalStateException if no process gets ready, for example for want of a device
     * @throws IOException if no process can be started, or {@code ends} can't keep a result
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> run(final List<C> cases, final Consumer<C> starts, final ResultSink<String> ends)
            throws IOException, InterruptedException {
        final Map<Long, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < cases.size(); i++) {
            groups.computeIfAbsent(cases.get(i).driverHeapBytes(), key -> new ArrayList<>())
                    .add(i);
        }
        final String[] results = new String[cases.size()];
        for (final List<Integer> group : groups.values()) {
            try {
                for (final int index : group) {
                    starts.accept(cases.get(index));
                    results[index] = run(cases.get(index));
                    ends.accept(results[index]);
                }
            } finally {
                stop();
            }
        }
        return List.of(results);
    }

    private String run(final C work) throws IOException, InterruptedException {
        if (worker == null) {
            worker = WorkerProcess.start(command);
        }
        final Duration all =
                limit.plusSeconds(work.seconds()).plus(compiled.contains(work.module()) ? Duration.ZERO : compilation);
        final WorkerProcess.Answer answer = worker.ask(work.line(), all);
        final String result = switch (answer.outcome()) {
            case ANSWERED -> {
                compiled.add(work.module());
                yield answer.text();
            }
            case TIMED_OUT ->
                work.failed("hang", "not done after " + all.toSeconds() + " s").toString();
            case ENDED ->
                work.failed("crash", "the process ended: " + answer.text()).toString();
        };
        if (!result.contains("\"status\":\"ok\"")) {
            stop();
        }
        return result;
    }

    private void stop() throws InterruptedException {
        final WorkerProcess stopped = worker;
        worker = null;
        if (stopped != null) {
            stopped.kill();
        }
    }
}
