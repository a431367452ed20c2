package io.outboard.spark;

import io.outboard.core.ByteSize;
import io.outboard.pool.DeviceBuffer;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;

/**
 * The class holds the buffers that one task has open: those that are left when it ends are freed, with a warning for
 * each place where some were taken. Safe for any number of threads: a task may have several.
 */
final class TaskBuffers implements TaskCompletionListener {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.spark");

    private final ExecutorMemory memory;
    private final TaskContext task;

    /** The open buffers in the order in which they were taken; guarded by the monitor, as the next field is. */
    private final Set<TaskBuffer> open = new LinkedHashSet<>();

    private boolean ended;

    TaskBuffers(final ExecutorMemory memory, final TaskContext task) {
        this.memory = memory;
        this.task = task;
    }

    TaskBuffer take(final long sizeBytes) {
        checkRunning();
        // The allocation is outside of the monitor, since it may wait for memory.
        final DeviceBuffer block = memory.pool().buffer(sizeBytes);
        boolean kept = false;
        try {
            final TaskBuffer buffer = new TaskBuffer(this, memory.lent(), block, new TakenSite());
            synchronized (this) {
                checkRunning();
                open.add(buffer);
            }
            kept = true;
            return buffer;
        } finally {
            if (!kept) {
                block.close();
            }
        }
    }

    private synchronized void checkRunning() {
        if (ended) {
            throw new IllegalStateException("task " + task.taskAttemptId() + " has ended: it can't take a buffer");
        }
    }

    synchronized void forget(final TaskBuffer buffer) {
        open.remove(buffer);
    }

    @Override
    public void onTaskCompletion(final TaskContext context) {
        final List<TaskBuffer> left;
        synchronized (this) {
            ended = true;
            left = List.copyOf(open);
            open.clear();
        }
        long bytes = 0;
        RuntimeException failure = null;
        for (final TaskBuffer buffer : left) {
            bytes += buffer.takenBytes();
            failure = closed(buffer, failure);
        }
        if (!left.isEmpty()) {
            warn(left);
        }
        memory.ended(task, left.size(), bytes);
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable RuntimeException closed(final TaskBuffer buffer, final @Nullable RuntimeException before) {
        try {
            buffer.close();
            return before;
        } catch (final RuntimeException e) {
            if (before == null) {
                return e;
            }
            before.addSuppressed(e);
            return before;
        }
    }

    /** The class sums up the forgotten buffers that were taken in one place of the program. */
    private static final class Forgotten {

        private final TakenSite site;
        private int buffers;
        private long bytes;

        Forgotten(final TakenSite site) {
            this.site = site;
        }
    }

    private void warn(final List<TaskBuffer> left) {
        final Map<String, Forgotten> places = new LinkedHashMap<>();
        for (final TaskBuffer buffer : left) {
            final Forgotten place = places.computeIfAbsent(buffer.site().caller(), key -> new Forgotten(buffer.site()));
            place.buffers++;
            place.bytes += buffer.takenBytes();
        }
        places.forEach((caller, place) -> LOGGER.log(
                Level.WARNING,
                "task " + task.taskAttemptId() + " (stage " + task.stageId() + ", partition " + task.partitionId()
                        + ") has ended without closing " + place.buffers
                        + (place.buffers == 1 ? " buffer" : " buffers") + " of " + ByteSize.exact(place.bytes)
                        + ", taken at " + caller + "; freed now",
                place.site));
    }
}
