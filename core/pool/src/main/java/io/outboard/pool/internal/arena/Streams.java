package io.outboard.pool.internal.arena;

import io.outboard.core.Strategy;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * This class has the streams on which blocks were freed. A stream's next request may have such a block at once, as with
 * the driver's asynchronous pools; other requests may have it when the stream's work before the free has finished.
 * Streams are known by numbers that no later stream gets.
 *
 * <p>Safe for any number of threads. Threads with streams and arenas of their own meet nowhere. The monitor guards
 * which streams there are.
 */
public final class Streams {

    /** The value that stands for all streams; no stream has this handle or number. */
    public static final long ALL = -1;

    /** The most idle streams that are kept, since they will be used again. */
    private static final int MOST_IDLE = 16;

    private static final StreamLimbo[] NONE = {};
    private static final Long2ObjectHashMap<StreamLimbo> NO_IDS = new Long2ObjectHashMap<>();

    private final Arenas arenas;

    /** This array and the map below are replaced under the monitor and never changed. */
    private volatile StreamLimbo[] all = NONE;

    private volatile Long2ObjectHashMap<StreamLimbo> byId = NO_IDS;

    Streams(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Returns the streams on which a block waits or whose work is marked, and a few others. */
    public StreamLimbo[] all() {
        return all;
    }

    /**
     * Frees a block on a stream.
     *
     * @param mostBytes a stream's open batch with more bytes is closed
     * @return the stream if this closed its batch, otherwise null; its work should be marked, and then {@link
     *     StreamLimbo#wasMarked} called
     */
    public @Nullable StreamLimbo free(final Segment segment, final long address, final long id, final long mostBytes) {
        final Arena owner = segment.owner;
        StreamLimbo known = byId.get(id);
        while (true) {
            final StreamLimbo stream = known == null ? add(id) : known;
            // If the stream is forgotten, the next look is under the monitor, which waits for the thread that forgets
            // it: that thread may need this core.
            known = null;
            owner.lock();
            try {
                owner.noteWaits();
                stream.lock();
                try {
                    if (!stream.isForgotten()) {
                        return stream.retire(segment, address, mostBytes) ? stream : null;
                    }
                } catch (final StackOverflowError e) {
                    // The block may be in limbo and in no list, or a list half changed.
                    arenas.breakage.cause = e;
                    throw e;
                } finally {
                    stream.taken = false;
                }
            } finally {
                owner.taken = false;
            }
        }
    }

    private synchronized StreamLimbo add(final long id) {
        final StreamLimbo known = byId.get(id);
        if (known != null && !known.isForgotten()) {
            return known;
        }
        final StreamLimbo stream = new StreamLimbo(id, arenas.breakage, arenas.progress);
        final Long2ObjectHashMap<StreamLimbo> ids = new Long2ObjectHashMap<>(byId);
        ids.put(id, stream);
        final StreamLimbo[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = stream;
        // This comes first: a stream that is known and not in here would never be asked about.
        all = more;
        byId = ids;
        return stream;
    }

    /**
     * Puts a block in use again that was freed on this stream, is large enough and not much larger.
     *
     * @param patient whether it waits for other arenas' locks; if not, it may miss a block
     * @return its address, or {@code NO_SPACE}
     */
    public long allocate(final long sizeBytes, final long id, final boolean patient) {
        final StreamLimbo stream = byId.get(id);
        return stream == null ? Strategy.NO_SPACE : takeOut(stream, sizeBytes, arenas.home(), patient);
    }

    /** Releases blocks that no work uses any more. */
    public void releaseFinished() {
        for (final StreamLimbo stream : all) {
            final Arena guess = stream.ownerOfOldest();
            long released = 0;
            while (guess != null && released != Strategy.NO_SPACE) {
                released = takeOut(stream, StreamLimbo.FINISHED, guess, true);
            }
        }
        if (all.length > MOST_IDLE) {
            forgetIdle();
        }
    }

    /**
     * Takes a block out. Which arena's lock that needs shows only once a block is found, so the first one is a guess.
     */
    private long takeOut(final StreamLimbo stream, final long sizeBytes, final Arena guess, final boolean patient) {
        Arena owner = guess;
        while (true) {
            final Arena locked = owner;
            if (locked == guess || patient) {
                locked.lock();
            } else if (!locked.tryLock()) {
                // If this waited, threads whose blocks come from one arena would always meet there. This thread should
                // have blocks of its own arena.
                return Strategy.NO_SPACE;
            }
            try {
                locked.noteWaits();
                stream.lock();
                try {
                    final StreamLimbo.Block block = stream.find(sizeBytes);
                    if (block == null) {
                        return Strategy.NO_SPACE;
                    }
                    owner = block.segment().owner;
                    if (owner == locked) {
                        final long done =
                                sizeBytes == StreamLimbo.FINISHED ? owner.release(block) : owner.restore(block);
                        stream.remove(block);
                        return done;
                    }
                } catch (final StackOverflowError e) {
                    arenas.breakage.cause = e;
                    throw e;
                } finally {
                    stream.taken = false;
                }
            } finally {
                locked.taken = false;
            }
        }
    }

    /** Forgets idle streams, so that a destroyed stream leaves nothing behind. */
    private synchronized void forgetIdle() {
        int idle = 0;
        for (final StreamLimbo stream : all) {
            idle += stream.isIdle() ? 1 : 0;
        }
        if (idle > MOST_IDLE) {
            final Long2ObjectHashMap<StreamLimbo> ids = new Long2ObjectHashMap<>(byId);
            final StreamLimbo[] kept = new StreamLimbo[all.length];
            int count = 0;
            try {
                for (final StreamLimbo stream : all) {
                    if (stream.forget()) {
                        // Another stream may have its number, if host memory ended here before.
                        ids.remove(stream.id, stream);
                    } else {
                        kept[count++] = stream;
                    }
                }
                ids.compact();
            } finally {
                // Whatever was thrown, a forgotten stream must not be found any more.
                byId = ids;
            }
            all = Arrays.copyOf(kept, count);
        }
    }

    /** Closes every open batch; returns the number of the last mark that a block waits for, 0 if none waits. */
    public long closeAll() {
        long number = 0;
        for (final StreamLimbo stream : all) {
            number = Math.max(number, stream.close());
        }
        return number;
    }

    /**
     * Shows the addresses of blocks that wait in a segment, whose arena's lock is held, or in any, if all locks are.
     */
    void forEach(final @Nullable Segment segment, final LongConsumer visitor) {
        for (final StreamLimbo stream : all) {
            stream.forEach(segment, visitor);
        }
    }

    /** Forgets all streams. All arenas' locks are held, and no thread gets one afterwards. */
    synchronized void clear() {
        all = NONE;
        byId = NO_IDS;
    }
}
