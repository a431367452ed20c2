package io.outboard.bench.kernels;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs cases in another process, one process for as many as it lives through. A case that takes longer than the limit is a
 * {@code hang}: the process is killed, and the next case gets a new one. A case in which the process or its CUDA context
 * dies is a {@code crash}. Confined to one thread; what a new process costs is about a second.
 */
public final class Watchdog {

    private final List<String> command;
    private final Duration limit;
    private @Nullable WorkerProcess worker;

    /**
     * A watchdog without a process as yet.
     *
     * @param device number of the device to run on
     * @param limit how long a case may take, its checks and the compilation of its kernels included, but not the time that
     *     {@link TestKind#CHURN} is given
     */
    public Watchdog(final int device, final Duration limit) {
        this(workerCommand(device), limit);
    }

    Watchdog(final List<String> command, final Duration limit) {
        this.command = List.copyOf(command);
        this.limit = limit;
    }

    /**
     * Runs cases. They run ordered by what a process must be told before its first kernel, and so not all as given.
     *
     * @param cases what to run
     * @param starts is told of each case when it starts
     * @return a JSON object for each, in the order given
     * @throws IllegalStateException if no process gets ready, for want of a device, say
     * @throws IOException if no process can be started
     * @throws InterruptedException if the thread is interrupted
     */
    public List<String> run(final List<KernelCase> cases, final Consumer<KernelCase> starts)
            throws IOException, InterruptedException {
        final Map<Long, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < cases.size(); i++) {
            groups.computeIfAbsent(driverHeapBytes(cases.get(i)), key -> new ArrayList<>())
                    .add(i);
        }
        final String[] results = new String[cases.size()];
        for (final List<Integer> group : groups.values()) {
            try {
                for (final int index : group) {
                    starts.accept(cases.get(index));
                    results[index] = run(cases.get(index));
                }
            } finally {
                stop();
            }
        }
        return List.of(results);
    }

    private String run(final KernelCase work) throws IOException, InterruptedException {
        if (worker == null) {
            worker = WorkerProcess.start(command);
        }
        final Duration all = limit.plusSeconds(work.seconds());
        final WorkerProcess.Answer answer = worker.ask(work.line(), all);
        final String result = switch (answer.outcome()) {
            case ANSWERED -> answer.text();
            case TIMED_OUT ->
                KernelWorker.failed(work, "hang", "not done after " + all.toSeconds() + " s")
                        .toString();
            case ENDED ->
                KernelWorker.failed(work, "crash", "the process ended: " + answer.text())
                        .toString();
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

    /** The driver's own heap has one size as long as a process lives; 0 where it isn't used. */
    private static long driverHeapBytes(final KernelCase work) {
        return work.contender().isCuda() ? work.heapBytes() : 0;
    }

    /** The same virtual machine with the same options, but for agents, which are meant for this process. */
    private static List<String> workerCommand(final int device) {
        final List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-javaagent:") && !option.startsWith("-agentlib:"))
                .forEach(command::add);
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), KernelWorker.class.getName(), String.valueOf(device)));
        return command;
    }
}
