package io.outboard.pool.internal.arena;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.guard.SpinLock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that were freed on one stream each, whoever freed them and whichever arena they are of: the stream's next request may have them
 * at once, as with the driver's asynchronous pools; others when the stream's work before the free has finished. Streams are known by
 * numbers that no later stream gets.
 *
 * <pre>
 *   stream 7   oldest -> block, 4 -> block, 4 -> block, 9 -> block, open -> newest      in the order of their frees
 *              size class 81 -> newest -> older -> ...                                   to be found by size
 * </pre>
 *
 * <p>Safe for any number of threads: the monitor of the index guards the streams, and no other lock is taken under it. Some 90 bytes of
 * host memory a block.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class StreamLimbo {

    /** A block serves a smaller request if no more than this share of it is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** Classes in which a block may be that loses so little: the request's own, and those behind it. */
    private static final int CLASSES_LOOKED_AT = 3;

    /** Of sizes, eight in each power of two. */
    private static final int CLASSES = Long.SIZE * 8 + CLASSES_LOOKED_AT;

    /** A stream's open batch with so many blocks is closed, and its work marked. */
    private static final int MOST_OPEN = 64;

    static final class Block {

        final Segment segment;

        /** Names it to its strategy. */
        long retired;

        long bytes;

        /** 0 while its batch is open. */
        long number;

        /** In the order of frees. */
        @Nullable
        Block earlier;

        @Nullable
        Block later;

        /** Of its size class. */
        @Nullable
        Block older;

        @Nullable
        Block newer;

        Block(final Segment segment) {
            this.segment = segment;
        }
    }

    /** What was freed on one stream. */
    public static final class Stream {

        /** The last number whose work on this stream has finished. Written by who asks the device. */
        public volatile long finished;

        /** Marks of this stream that haven't finished, the oldest first: a number, and the mark. Guarded by who asks the device. */
        public final List<long[]> marks = new ArrayList<>();

        /** How many these are. Written by who asks the device. */
        public volatile int marked;

        private final @Nullable Block[] newest = new Block[CLASSES];
        private @Nullable Block first;
        private @Nullable Block last;
        private int open;
        private long openBytes;

        /** Threads that are about to add a block. */
        private int adding;
    }

    private final Progress progress;
    private final SpinLock lock = new SpinLock();
    private final Map<Long, Stream> streams = new HashMap<>();

    StreamLimbo(final Progress progress) {
        this.progress = progress;
    }

    // Of arenas

    /**
     * Frees a block on a stream.
     *
     * @param mostBytes a stream's open batch with more is closed
     * @return the stream, if its batch was closed, and its work had better be marked; else null
     */
    public @Nullable Stream free(final Segment segment, final long address, final long id, final long mostBytes) {
        final Block block = new Block(segment);
        final Stream stream = stream(id);
        boolean retired = false;
        boolean closed = false;
        try {
            segment.owner.retireInto(block, address);
            retired = true;
        } finally {
            lock.lock();
            stream.adding--;
            closed = retired && add(stream, block, mostBytes);
            lock.taken = false;
        }
        return closed ? stream : null;
    }

    /** Takes the host memory that a stream needs. It stays until a block was added, or not. */
    private Stream stream(final long id) {
        lock.lock();
        try {
            final Stream stream = streams.computeIfAbsent(id, key -> new Stream());
            stream.adding++;
            return stream;
        } finally {
            lock.taken = false;
        }
    }

    /** A block that was freed on this stream, is large enough and not much larger, in use again. Its address, or {@code NO_SPACE}. */
    public long allocate(final long sizeBytes, final long id) {
        final Block block = take(sizeBytes, id);
        return block == null ? Strategy.NO_SPACE : block.segment.owner.restore(block.segment, block.retired);
    }

    private @Nullable Block take(final long sizeBytes, final long id) {
        lock.lock();
        try {
            final Stream stream = streams.get(id);
            if (stream == null || stream.first == null) {
                return null;
            }
            final int own = sizeClass(sizeBytes);
            for (int i = own; i < own + CLASSES_LOOKED_AT; i++) {
                for (Block block = stream.newest[i]; block != null; block = block.older) {
                    final long lost = block.bytes - sizeBytes;
                    if (lost >= 0 && lost <= block.bytes / MOST_LOST_SHARE) {
                        remove(stream, block);
                        return block;
                    }
                }
            }
            return null;
        } finally {
            lock.taken = false;
        }
    }

    /** Closes every open batch; the last number that any block waits for, 0 if none waits. */
    public long closeAll() {
        if (streams.isEmpty()) {
            return 0;
        }
        lock.lock();
        try {
            long number = 0;
            for (final Stream stream : streams.values()) {
                close(stream);
                number = stream.last == null ? number : Math.max(number, stream.last.number);
            }
            return number;
        } finally {
            lock.taken = false;
        }
    }

    /** Releases what no work uses any more. */
    public void releaseFinished() {
        while (!streams.isEmpty()) {
            final Block block = takeFinished();
            if (block == null) {
                return;
            }
            block.segment.owner.release(block.segment, block.retired);
        }
    }

    private @Nullable Block takeFinished() {
        final long finishedOnAll = progress.finished();
        lock.lock();
        try {
            for (final Stream stream : streams.values()) {
                final Block block = stream.first;
                if (block != null && block.number != 0 && block.number <= Math.max(finishedOnAll, stream.finished)) {
                    remove(stream, block);
                    return block;
                }
            }
            // A stream that may be destroyed by now leaves nothing behind.
            streams.values().removeIf(stream -> stream.first == null && stream.adding == 0 && stream.marked == 0);
            return null;
        } finally {
            lock.taken = false;
        }
    }

    /** Those on which something waits, or whose work is marked. */
    public List<Stream> streams() {
        lock.lock();
        try {
            return new ArrayList<>(streams.values());
        } finally {
            lock.taken = false;
        }
    }

    // The lock is held

    /** Whether that closed the open batch. */
    private boolean add(final Stream stream, final Block block, final long mostBytes) {
        block.earlier = stream.last;
        if (stream.last == null) {
            stream.first = block;
        } else {
            stream.last.later = block;
        }
        stream.last = block;
        final int sizeClass = sizeClass(block.bytes);
        block.older = stream.newest[sizeClass];
        if (block.older != null) {
            block.older.newer = block;
        }
        stream.newest[sizeClass] = block;
        stream.open++;
        stream.openBytes += block.bytes;
        if (stream.open < MOST_OPEN && stream.openBytes <= mostBytes) {
            return false;
        }
        close(stream);
        return true;
    }

    private void close(final Stream stream) {
        if (stream.open > 0) {
            final long number = progress.close();
            for (Block block = stream.last; block != null && block.number == 0; block = block.earlier) {
                block.number = number;
            }
            stream.open = 0;
            stream.openBytes = 0;
        }
    }

    private static void remove(final Stream stream, final Block block) {
        if (block.earlier == null) {
            stream.first = block.later;
        } else {
            block.earlier.later = block.later;
        }
        if (block.later == null) {
            stream.last = block.earlier;
        } else {
            block.later.earlier = block.earlier;
        }
        if (block.newer == null) {
            stream.newest[sizeClass(block.bytes)] = block.older;
        } else {
            block.newer.older = block.older;
        }
        if (block.older != null) {
            block.older.newer = block.newer;
        }
        if (block.number == 0) {
            stream.open--;
            stream.openBytes -= block.bytes;
        }
    }

    // The whole: all arenas' locks are held

    void clear() {
        lock.lock();
        try {
            streams.clear();
        } finally {
            lock.taken = false;
        }
    }

    /** Shows the addresses of what waits in a segment. */
    void forEach(final @Nullable Segment segment, final LongConsumer visitor) {
        lock.lock();
        try {
            for (final Stream stream : streams.values()) {
                for (Block block = stream.first; block != null; block = block.later) {
                    if (segment == null || block.segment == segment) {
                        visitor.accept(block.segment.strategy.retiredAddress(block.retired));
                    }
                }
            }
        } finally {
            lock.taken = false;
        }
    }

    private static int sizeClass(final long sizeBytes) {
        final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
        return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
    }
}
