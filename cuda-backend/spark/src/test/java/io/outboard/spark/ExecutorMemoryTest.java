package io.outboard.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.codahale.metrics.MetricRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.util.TaskCompletionListenerException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;

/** This class tests what tasks have of an executor's pool, with Spark's own task context and no executor. */
class ExecutorMemoryTest {

    private static final long BYTES = 1 << 20;

    private final FakePool lent = new FakePool(16 * BYTES);
    private final ExecutorMemory memory = new ExecutorMemory(lent);
    private final TaskContext task = TaskContext$.MODULE$.empty();

    private long usedBytes() {
        return memory.pool().statistics().usedBytes();
    }

    private void end() {
        task.markTaskCompleted(Option.empty());
    }

    @Test
    void shouldFreeWhatATaskForgot() {
        final TaskBuffer closed = memory.buffer(task, BYTES);
        final TaskBuffer forgotten = memory.buffer(task, 2 * BYTES);
        closed.close();
        closed.close();
        assertEquals(2 * BYTES, usedBytes());

        final List<LogRecord> warnings = warnings(this::end);

        assertEquals(0, usedBytes());
        assertThrows(IllegalStateException.class, forgotten::address);
        assertEquals(1, warnings.size(), warnings::toString);
        final String message = warnings.get(0).getMessage();
        assertTrue(message.contains("without closing 1 buffer of 2MiB"), message);
        assertTrue(message.contains("ExecutorMemoryTest.shouldFreeWhatATaskForgot(ExecutorMemoryTest.java:"), message);
    }

    @Test
    void shouldWarnOnceForEachPlace() {
        for (int i = 0; i < 3; i++) {
            memory.buffer(task, BYTES);
        }
        memory.buffer(task, BYTES);

        final List<LogRecord> warnings = warnings(this::end);

        assertEquals(2, warnings.size(), warnings::toString);
        assertTrue(warnings.get(0).getMessage().contains("3 buffers of 3MiB"), warnings.get(0)::getMessage);
        assertTrue(warnings.get(1).getMessage().contains("1 buffer of 1MiB"), warnings.get(1)::getMessage);
    }

    @Test
    void shouldNotWarnOfWhatIsClosed() {
        memory.buffer(task, BYTES).close();

        assertEquals(List.of(), warnings(this::end));
    }

    @Test
    void shouldRefuseATaskThatHasEnded() {
        end();

        assertThrows(IllegalStateException.class, () -> memory.buffer(task, BYTES));
        assertEquals(0, usedBytes());
    }

    @Test
    void shouldTakeNothingForAWrongSize() {
        assertThrows(IllegalArgumentException.class, () -> memory.buffer(task, 0));

        assertEquals(List.of(), warnings(this::end));
    }

    @Test
    void shouldFreeTheOthersWhereOneIsGone() {
        final TaskBuffer freed = memory.buffer(task, BYTES);
        memory.buffer(task, BYTES);
        memory.pool().free(freed.address());

        assertThrows(TaskCompletionListenerException.class, this::end);
        assertEquals(0, usedBytes());
    }

    @Test
    void shouldCloseAfterTheLastTask() {
        final TaskBuffer buffer = memory.buffer(task, BYTES);

        memory.close();
        memory.close();

        assertFalse(lent.closed);
        assertEquals(BYTES, buffer.sizeBytes());
        assertThrows(IllegalStateException.class, () -> memory.buffer(TaskContext$.MODULE$.empty(), BYTES));
        end();
        assertTrue(lent.closed);
    }

    @Test
    void shouldCloseAtOnceWithoutTasks() {
        memory.buffer(task, BYTES).close();
        end();

        memory.close();

        assertTrue(lent.closed);
    }

    @Test
    void shouldShowFigures() {
        final MetricRegistry metrics = new MetricRegistry();
        memory.show(metrics);
        memory.buffer(task, BYTES);

        assertEquals(BYTES, value(metrics, "pool.usedBytes"));
        assertEquals(16 * BYTES, value(metrics, "lease.leasedBytes"));
        assertEquals(1L, value(metrics, "lease.guaranteedBytes"));
        assertEquals(2L, value(metrics, "lease.mostBytes"));
        warnings(this::end);
        assertEquals(0L, value(metrics, "pool.usedBytes"));
        assertEquals(1L, value(metrics, "task.forgottenBuffers"));
        assertEquals(BYTES, value(metrics, "task.forgottenBytes"));
    }

    private static Object value(final MetricRegistry metrics, final String name) {
        return Objects.requireNonNull(metrics.getGauges().get(name), name).getValue();
    }

    @Test
    void shouldSayHowALenderIsStarted(@TempDir final Path folder) {
        Leases.assume();
        final String socket = folder.resolve("none").toString();

        final IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> ExecutorMemory.open(
                        ExecutorOptions.ofMap(
                                Map.of("spark.outboard.socket", folder + "/none", "spark.outboard.gpu", "1")),
                        Map.of(),
                        "node7"));

        final String message = String.valueOf(refused.getMessage());
        assertTrue(message.startsWith("spark.outboard.socket=" + socket + ": no lender on node7"), message);
        assertTrue(message.endsWith("./outboard serve --device 1 --socket " + socket), message);
    }

    @Test
    void shouldTakeTheGpuOfTheExecutorsResources(@TempDir final Path folder) {
        Leases.assume();

        final IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> ExecutorMemory.open(
                        ExecutorOptions.ofMap(Map.of("spark.outboard.socket", folder + "/gpu{gpu}")),
                        Map.of("gpu", new ResourceInformation("gpu", new String[] {"3"})),
                        "node7"));

        final String message = String.valueOf(refused.getMessage());
        assertTrue(message.endsWith("--device 3 --socket " + folder + "/gpu3"), message);
    }

    @Test
    void shouldSayWhichJdkItNeeds() {
        assumeTrue(Runtime.version().feature() < 22, "skipped, needs a JDK older than 22");

        final IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> ExecutorMemory.open(
                        ExecutorOptions.ofMap(Map.of("spark.outboard.socket", "/run/lender")), Map.of(), "node7"));

        final String message = String.valueOf(refused.getMessage());
        assertTrue(message.startsWith("leases need JDK 22 or newer, and this executor on node7 runs on "), message);
    }

    @Test
    void shouldWantOneGpu() {
        final ResourceInformation two = new ResourceInformation("gpu", new String[] {"0", "1"});

        final IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class,
                () -> ExecutorMemory.open(
                        ExecutorOptions.ofMap(Map.of("spark.outboard.socket", "/run/gpu{gpu}")),
                        Map.of("gpu", two),
                        "node7"));

        assertTrue(String.valueOf(refused.getMessage()).contains("has GPUs [0, 1]"), refused::toString);
    }

    private static List<LogRecord> warnings(final Runnable action) {
        final List<LogRecord> records = new ArrayList<>();
        final Handler handler = new Handler() {
            @Override
            public void publish(final LogRecord record) {
                records.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        final Logger logger = Logger.getLogger("io.outboard.spark");
        logger.addHandler(handler);
        try {
            action.run();
        } finally {
            logger.removeHandler(handler);
        }
        return records;
    }
}
