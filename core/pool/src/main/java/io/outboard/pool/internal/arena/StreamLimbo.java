package io.outboard.pool.internal.arena;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.guard.SpinLock;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.agrona.collections.Long2ObjectHashMap;
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
 * <p>Safe for any number of threads: the lock, which is this object, guards the streams. It is taken with an arena's lock held, and no other is
 * taken under it. Some 90 bytes of host memory a block.
 */
public final class StreamLimbo extends SpinLock {

    /** Instead of a size: that of any block that no work uses any more. */
    private static final long FINISHED = 0;

    /** A block serves a smaller request if no more than this share of it is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** Classes in which a block may be that loses so little: the request's own, and those behind it. */
    private static final int CLASSES_LOOKED_AT = 3;

    /** Of sizes, eight in each power of two. */
    private static final int CLASSES = Long.SIZE * 8 + CLASSES_LOOKED_AT;

    /** A stream's open batch with so many blocks is closed, and its work marked. */
    private static final int MOST_OPEN = 64;

    private static final Stream[] NO_STREAMS = {};

    /** Marks of a stream that haven't finished: with so many, the next blocks wait for a later one, or for one of all work. */
    private static final int MOST_MARKS = 4;

    /** So many are kept in which nothing waits: they will be used again. */
    private static final int MOST_IDLE = 16;

    static final class Block {

        @Nullable
        Segment segment;

        @Nullable
        Stream stream;

        /** Names it to its strategy. */
        long retired;

        long bytes;

        /** 0 while its batch is open. */
        long number;

        /** In the order of frees; see {@link Stream#ends}. */
        Block earlier = this;

        Block later = this;

        /** Of its size class. */
        @Nullable
        Block older;

        @Nullable
        Block newer;

        Segment segment() {
            return Objects.requireNonNull(segment);
        }
    }

    /** What was freed on one stream. */
    public static final class Stream {

        /** The last mark of this stream that has finished. Written by who asks the device. */
        public volatile long finished;

        /** Of this stream. */
        public final Marks marks = new Marks(MOST_MARKS);

        private final long id;
        private final @Nullable Block[] newest = new Block[CLASSES];

        /** Before the first and behind the last. */
        private final Block ends = new Block();

        private int open;
        private long openBytes;

        /** Threads that are about to mark its work. */
        private int marking;

        /** Noted before idle ones are forgotten, since marks finish at any time. */
        private boolean idle;

        Stream(final long id) {
            this.id = id;
        }
    }

    private final Arenas arenas;
    private final Progress progress;
    private final Long2ObjectHashMap<Stream> byId = new Long2ObjectHashMap<>();

    /** All of them. Replaced under the lock, never changed. */
    private volatile Stream[] streams = NO_STREAMS;

    /** For later, chained by {@link Block#older}. */
    private @Nullable Block unused;

    StreamLimbo(final Arenas arenas) {
        super(arenas.breakage);
        this.arenas = arenas;
        progress = arenas.progress;
    }

    // Of arenas

    /**
     * Frees a block on a stream.
     *
     * @param mostBytes a stream's open batch with more is closed
     * @return the stream, if its batch was closed, and its work had better be marked, whereafter {@link #wasMarked} is to be called; else
     *     null
     */
    public @Nullable Stream free(final Segment segment, final long address, final long id, final long mostBytes) {
        final Arena owner = segment.owner;
        lockWith(owner);
        try {
            final Stream stream = streamOf(id);
            final Block block = unused == null ? new Block() : unused;
            // Throws if no block in use starts there. Nothing takes host memory from here on.
            owner.retire(segment, address, block);
            unused = block.older;
            if (add(stream, block, mostBytes)) {
                stream.marking++;
                return stream;
            }
            return null;
        } catch (final StackOverflowError e) {
            // The block may be in limbo and in no list, or a list half changed.
            breakage.cause = e;
            throw e;
        } finally {
            taken = false;
            owner.taken = false;
        }
    }

    /** Takes an arena's lock, and then this one: blocks go into limbo and out of it under both, so that none is in between. */
    private void lockWith(final Arena owner) {
        owner.lock();
        boolean both = false;
        try {
            lock();
            both = true;
        } finally {
            if (!both) {
                owner.taken = false;
            }
        }
    }

    /** What {@link #free} returned was marked, or couldn't be: it may be forgotten. */
    public void wasMarked(final Stream stream) {
        lockAnyway();
        stream.marking--;
        taken = false;
    }

    /** A block that was freed on this stream, is large enough and not much larger, in use again. Its address, or {@code NO_SPACE}. */
    public long allocate(final long sizeBytes, final long id) {
        return takeOut(sizeBytes, id);
    }

    /** Releases what no work uses any more. */
    public void releaseFinished() {
        long released;
        do {
            released = takeOut(FINISHED, 0);
        } while (released != Strategy.NO_SPACE);
    }

    /** Which arena's lock it takes shows only once a block is found: at first it is the calling thread's. */
    private long takeOut(final long sizeBytes, final long id) {
        Arena owner = arenas.home();
        while (streams.length > 0) {
            final Arena locked = owner;
            lockWith(locked);
            try {
                final Block block = sizeBytes == FINISHED ? findFinished() : find(sizeBytes, id);
                if (block == null) {
                    return Strategy.NO_SPACE;
                }
                owner = block.segment().owner;
                if (owner == locked) {
                    final long done = sizeBytes == FINISHED ? owner.release(block) : owner.restore(block);
                    remove(block);
                    forget(block);
                    return done;
                }
            } catch (final StackOverflowError e) {
                breakage.cause = e;
                throw e;
            } finally {
                taken = false;
                locked.taken = false;
            }
        }
        return Strategy.NO_SPACE;
    }

    /** Closes every open batch; the last mark that any block waits for, 0 if none waits. */
    public long closeAll() {
        if (streams.length == 0) {
            // Each question comes by here, of pools without streams, too.
            return 0;
        }
        lock();
        try {
            long number = 0;
            for (final Stream stream : streams) {
                close(stream);
                number = Math.max(number, stream.ends.earlier.number);
            }
            return number;
        } finally {
            taken = false;
        }
    }

    /** Those on which something waits, or whose work is marked, and a few others. */
    public Stream[] streams() {
        return streams;
    }

    // The lock is held

    /** Takes the host memory for one that is new. */
    private Stream streamOf(final long id) {
        Stream stream = byId.get(id);
        if (stream == null) {
            stream = new Stream(id);
            final Stream[] more = Arrays.copyOf(streams, streams.length + 1);
            more[streams.length] = stream;
            // First: one that is known and not in there would never be asked for.
            streams = more;
            byId.put(id, stream);
        }
        return stream;
    }

    private @Nullable Block find(final long sizeBytes, final long id) {
        final Stream stream = byId.get(id);
        final int own = sizeClass(sizeBytes);
        for (int i = own; stream != null && i < own + CLASSES_LOOKED_AT; i++) {
            for (Block block = stream.newest[i]; block != null; block = block.older) {
                final long lost = block.bytes - sizeBytes;
                if (lost >= 0 && lost <= block.bytes / MOST_LOST_SHARE) {
                    return block;
                }
            }
        }
        return null;
    }

    private @Nullable Block findFinished() {
        for (final Stream stream : streams) {
            final Block block = stream.ends.later;
            if (block.number != 0 && block.number <= Math.max(progress.finished(), stream.finished)) {
                return block;
            }
        }
        forgetIdle();
        return null;
    }

    /** A stream that may be destroyed by now leaves nothing behind. */
    private void forgetIdle() {
        int kept = 0;
        for (final Stream stream : streams) {
            stream.idle = stream.ends.later == stream.ends && stream.marking == 0 && stream.marks.isEmpty();
            kept += stream.idle ? 0 : 1;
        }
        if (kept + MOST_IDLE < streams.length) {
            final Stream[] fewer = new Stream[kept];
            for (final Stream stream : streams) {
                if (stream.idle) {
                    byId.remove(stream.id);
                } else {
                    fewer[--kept] = stream;
                }
            }
            streams = fewer;
        }
    }

    /** Whether that closed the open batch. */
    private boolean add(final Stream stream, final Block block, final long mostBytes) {
        // First, as the stack may end at a call.
        final int sizeClass = sizeClass(block.bytes);
        block.stream = stream;
        block.number = 0;
        block.later = stream.ends;
        block.earlier = stream.ends.earlier;
        block.earlier.later = block;
        stream.ends.earlier = block;
        block.newer = null;
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
            for (Block block = stream.ends.earlier; block.number == 0 && block != stream.ends; block = block.earlier) {
                block.number = number;
            }
            stream.open = 0;
            stream.openBytes = 0;
        }
    }

    private void forget(final Block block) {
        block.segment = null;
        block.stream = null;
        block.older = unused;
        unused = block;
    }

    private static void remove(final Block block) {
        final Stream stream = Objects.requireNonNull(block.stream);
        final int sizeClass = sizeClass(block.bytes);
        block.earlier.later = block.later;
        block.later.earlier = block.earlier;
        if (block.newer == null) {
            stream.newest[sizeClass] = block.older;
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
        lockAnyway();
        try {
            streams = NO_STREAMS;
            byId.clear();
        } finally {
            taken = false;
        }
    }

    /** Shows the addresses of what waits in a segment. */
    void forEach(final @Nullable Segment segment, final LongConsumer visitor) {
        lockAnyway();
        try {
            for (final Stream stream : streams) {
                for (Block block = stream.ends.later; block != stream.ends; block = block.later) {
                    if (segment == null || block.segment == segment) {
                        visitor.accept(block.segment().strategy.retiredAddress(block.retired));
                    }
                }
            }
        } finally {
            taken = false;
        }
    }

    private static int sizeClass(final long sizeBytes) {
        final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
        return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
    }
}
