package io.outboard.spark;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.Pool;
import java.util.Objects;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * Tasks call this class in an executor that {@link OutboardPlugin} has given a pool.
 *
 * <pre>{@code
 * try (TaskBuffer values = OutboardSpark.buffer(64 << 20)) {
 *     cudaMemcpy(values.pointer(), Pointer.to(array), 64 << 20, cudaMemcpyHostToDevice);
 * }
 * }</pre>
 *
 * <p>Thread-safety: safe for any number of threads. Cost: as {@link Pool} and {@link TaskBuffer}. When memory runs out,
 * {@link DeviceOutOfMemoryException} says whether the reason is the device, and who holds its memory, the quota, or
 * that the lender is gone.
 */
public final class OutboardSpark {

    private static volatile @Nullable ExecutorMemory memory;

    private OutboardSpark() {}

    /**
     * Returns the executor's pool, which all its tasks share. Memory that is allocated from the pool directly outlives
     * the task, and the caller must free it before the executor ends.
     *
     * @return the same at each call, not to be closed
     * @throws IllegalStateException if this process is no executor with {@link OutboardPlugin}
     */
    public static Pool pool() {
        return memory().pool();
    }

    /**
     * Takes memory for the task that runs in this thread.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @return a buffer, which the task should close; what was there before isn't cleared
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}
     * @throws IllegalStateException if no task runs in this thread, or this process is no executor with {@link
     *     OutboardPlugin}
     * @throws DeviceOutOfMemoryException if there is no memory; the executor goes on
     */
    public static TaskBuffer buffer(final long sizeBytes) {
        final TaskContext task = TaskContext.get();
        if (task == null) {
            throw new IllegalStateException(
                    "no task runs in this thread: pass its TaskContext, or take memory of OutboardSpark.pool()");
        }
        return buffer(task, sizeBytes);
    }

    /**
     * Takes memory for a task, in whatever thread.
     *
     * @param task whose memory it is
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @return a buffer, which the task should close; what was there before isn't cleared
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}
     * @throws IllegalStateException if the task has ended, or this process is no executor with {@link OutboardPlugin}
     * @throws DeviceOutOfMemoryException if there is no memory; the executor goes on
     */
    public static TaskBuffer buffer(final TaskContext task, final long sizeBytes) {
        return memory().buffer(Objects.requireNonNull(task, "task"), sizeBytes);
    }

    private static ExecutorMemory memory() {
        final ExecutorMemory now = memory;
        if (now == null) {
            throw new IllegalStateException(
                    "this process is no executor with spark.plugins=" + OutboardPlugin.class.getName());
        }
        return now;
    }

    static synchronized void open(final ExecutorMemory opened) {
        if (memory != null) {
            opened.close();
            throw new IllegalStateException("this process has an executor's pool already");
        }
        memory = opened;
    }

    static synchronized void close() {
        final ExecutorMemory now = memory;
        memory = null;
        if (now != null) {
            now.close();
        }
    }
}
