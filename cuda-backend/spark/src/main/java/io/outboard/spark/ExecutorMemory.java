package io.outboard.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.service.LenderStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;

/**
 * The class holds an executor's pool, and what its tasks have taken from it. Safe for any number of threads.
 *
 * <p>Spark ends its plugins while tasks may still run. Unmapping memory under them would end the process, or a kernel,
 * so the pool is closed when the last task that has taken a buffer has ended.
 */
final class ExecutorMemory implements AutoCloseable {

    private static final int LEAST_RELEASE = 22;
    private static final String GPU_RESOURCE = "gpu";

    private final LentPool lent;
    private final LongAdder forgottenBuffers = new LongAdder();
    private final LongAdder forgottenBytes = new LongAdder();

    /**
     * The tasks by number of the attempt, which no other task of an application has. Guarded by the monitor, as the
     * next fields are.
     */
    private final Map<Long, TaskBuffers> tasks = new HashMap<>();

    private boolean closed;

    ExecutorMemory(final LentPool lent) {
        this.lent = lent;
    }

    /**
     * Connects to the node's lender.
     *
     * @throws IllegalArgumentException if an option and the executor's resources don't go together
     * @throws IllegalStateException if there is no lender that lends to this executor; the message has a command that
     *     starts one
     */
    static ExecutorMemory open(
            final ExecutorOptions options, final Map<String, ResourceInformation> resources, final String host) {
        final int gpu = gpuOf(options, resources);
        final String socket = options.socket(gpu);
        if (Runtime.version().feature() < LEAST_RELEASE) {
            throw new IllegalStateException("leases need JDK " + LEAST_RELEASE + " or newer, and this executor on "
                    + host + " runs on " + Runtime.version() + ": see spark.executorEnv.JAVA_HOME");
        }
        try {
            return new ExecutorMemory(open(options, gpu, Path.of(socket)));
        } catch (final IOException e) {
            throw new IllegalStateException(
                    ExecutorOptions.SOCKET + "=" + socket + ": no lender on " + host + " lends to this executor: "
                            + e.getMessage() + ". One is started there, by the user that executors run as, with: "
                            + startLine(gpu, socket),
                    e);
        }
    }

    /** Returns the command that starts a lender, as docs/spark.md has it. */
    static String startLine(final int gpu, final String socket) {
        return "./outboard serve --device " + gpu + " --socket " + socket;
    }

    private static LentPool open(final ExecutorOptions options, final int gpu, final Path socket) throws IOException {
        final Consumer<PoolBuilder> customiser = builder -> {
            builder.limitBytes(options.limitBytes());
            if (!options.kept().isZero()) {
                builder.keep(options.kept(), 0);
            }
        };
        final String device = LenderStatus.of(socket).device();
        if (device.equals(MemoryPool.DEVICE)) {
            return MemoryPool.open(socket, options.name(), customiser);
        }
        if (device.startsWith(GpuPool.DEVICE)) {
            return GpuPool.open(gpu, socket, options.name(), customiser);
        }
        throw new IOException("it lends memory of " + device + ", which isn't CUDA's, nor this machine's");
    }

    private static int gpuOf(final ExecutorOptions options, final Map<String, ResourceInformation> resources) {
        final Integer chosen = options.gpu();
        if (chosen != null) {
            return chosen;
        }
        final ResourceInformation gpus = resources.get(GPU_RESOURCE);
        if (gpus == null) {
            return 0;
        }
        final String[] addresses = gpus.addresses();
        if (addresses.length != 1 || !addresses[0].matches("[0-9]{1,4}")) {
            throw new IllegalArgumentException(
                    "spark.executor.resource.gpu.amount must be 1 and its address a number, but"
                            + " this executor has GPUs " + Arrays.toString(addresses) + ": name one by "
                            + ExecutorOptions.GPU);
        }
        return Integer.parseInt(addresses[0]);
    }

    Pool pool() {
        return lent.pool();
    }

    LentPool lent() {
        return lent;
    }

    /**
     * Takes a block for a task.
     *
     * @throws IllegalStateException if the memory is closed, or the task has ended
     */
    TaskBuffer buffer(final TaskContext task, final long sizeBytes) {
        return buffersOf(task).take(sizeBytes);
    }

    private TaskBuffers buffersOf(final TaskContext task) {
        final TaskBuffers made;
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the executor's pool is closed");
            }
            final TaskBuffers found = tasks.get(task.taskAttemptId());
            if (found != null) {
                return found;
            }
            made = new TaskBuffers(this, task);
            tasks.put(task.taskAttemptId(), made);
        }
        // Spark calls the listener at once if the task has ended.
        task.addTaskCompletionListener(made);
        return made;
    }

    /** Removes a task whose blocks have all been freed. */
    void ended(final TaskContext task, final long buffers, final long bytes) {
        forgottenBuffers.add(buffers);
        forgottenBytes.add(bytes);
        final boolean last;
        synchronized (this) {
            tasks.remove(task.taskAttemptId());
            last = closed && tasks.isEmpty();
        }
        if (last) {
            lent.close();
        }
    }

    /** Adds the figures to Spark's own. */
    void show(final MetricRegistry metrics) {
        figure(metrics, "pool.heldBytes", () -> pool().statistics().heldBytes());
        figure(metrics, "pool.usedBytes", () -> pool().statistics().usedBytes());
        figure(metrics, "pool.limboBytes", () -> pool().statistics().limboBytes());
        figure(metrics, "pool.peakUsedBytes", () -> pool().statistics().peakUsedBytes());
        figure(metrics, "pool.liveBlocks", () -> pool().statistics().liveBlocks());
        figure(metrics, "pool.allocations", () -> pool().statistics().allocations());
        figure(metrics, "pool.failures", () -> pool().statistics().failures());
        figure(metrics, "lease.leasedBytes", lent::leasedBytes);
        figure(metrics, "lease.guaranteedBytes", lent::guaranteedBytes);
        figure(metrics, "lease.mostBytes", lent::mostBytes);
        figure(metrics, "task.forgottenBuffers", forgottenBuffers::sum);
        figure(metrics, "task.forgottenBytes", forgottenBytes::sum);
    }

    private static void figure(final MetricRegistry metrics, final String name, final LongSupplier value) {
        metrics.register(name, (Gauge<Long>) value::getAsLong);
    }

    /** Closes the pool now, or when the last task that has taken a buffer ends. Idempotent. */
    @Override
    public void close() {
        final boolean now;
        synchronized (this) {
            now = !closed && tasks.isEmpty();
            closed = true;
        }
        if (now) {
            lent.close();
        }
    }
}
