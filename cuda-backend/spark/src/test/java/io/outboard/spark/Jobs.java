package io.outboard.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/** The class has the work of tasks, which runs in executors. */
final class Jobs {

    static final int BLOCKS = 6;
    static final int BLOCK_BYTES = 1 << 20;

    private Jobs() {}

    /**
     * Returns a part of the squares' sum, of numbers that went through memory with a pattern of this task; half of the
     * buffers aren't closed. All tasks have written before one reads again.
     *
     * @param folder where each says that it has written
     * @param together how many tasks run at a time
     */
    static long leak(final int number, final String folder, final int together) throws IOException {
        final TaskContext task = TaskContext.get();
        final List<TaskBuffer> buffers = new ArrayList<>();
        final long pattern = ProcessHandle.current().pid() << 32 | task.taskAttemptId() << 8;
        for (int i = 0; i < BLOCKS; i++) {
            buffers.add(OutboardSpark.buffer(BLOCK_BYTES));
            fill(buffers.get(i).view(), pattern + i, number);
        }
        Files.createFile(Path.of(folder, "wrote-" + task.taskAttemptId()));
        Leases.until(() -> count(folder) >= together, () -> count(folder) + " of " + together);
        long sum = 0;
        for (int i = 0; i < BLOCKS; i++) {
            sum += read(buffers.get(i).view(), pattern + i);
        }
        for (int i = 0; i < BLOCKS; i += 2) {
            buffers.get(i).close();
        }
        return sum / BLOCKS;
    }

    /**
     * Returns the same sum, with all buffers closed; but the first try of one task ends its executor as a kill from
     * outside does.
     */
    static long die(final int number, final int victim) throws IOException, InterruptedException {
        final TaskContext task = TaskContext.get();
        try (TaskBuffer buffer = OutboardSpark.buffer(BLOCK_BYTES)) {
            fill(buffer.view(), task.taskAttemptId(), number);
            if (number == victim && task.attemptNumber() == 0) {
                new ProcessBuilder(
                                "kill",
                                "-KILL",
                                String.valueOf(ProcessHandle.current().pid()))
                        .start();
                TimeUnit.MINUTES.sleep(1);
            }
            return read(buffer.view(), task.taskAttemptId());
        }
    }

    static String whoAmI() {
        return SparkEnv.get().executorId() + " " + ProcessHandle.current().pid();
    }

    private static void fill(final ByteBuffer view, final long pattern, final int number) {
        for (int i = 0; i < view.capacity(); i += Long.BYTES) {
            view.putLong(i, pattern);
        }
        view.putLong(0, (long) number * number);
    }

    private static long read(final ByteBuffer view, final long pattern) {
        for (int i = Long.BYTES; i < view.capacity(); i += Long.BYTES) {
            if (view.getLong(i) != pattern) {
                throw new IllegalStateException("own memory has " + view.getLong(i) + " at " + i);
            }
        }
        return view.getLong(0);
    }

    private static long count(final String folder) {
        try (Stream<Path> files = Files.list(Path.of(folder))) {
            return files.count();
        } catch (final IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
