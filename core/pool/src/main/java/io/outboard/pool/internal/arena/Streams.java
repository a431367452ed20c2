package io.outboard.pool.internal.arena;

import io.outboard.core.Strategy;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The streams on which blocks were freed: a stream's next request may have such a block at once, as with the driver's asynchronous pools;
 * others when the stream's work before the free has finished. Streams are known by numbers that no later stream gets.
 *
 * <p>Safe for any number of threads. Those with streams and arenas of their own meet nowhere; the monitor guards which streams there are.
 */
public final class Streams {

    /** So many are kept in which nothing waits: they will be used again. */
    private static final int MOST_IDLE = 16;

    private static final StreamLimbo[] NONE = {};
    private static final Long2ObjectHashMap<StreamLimbo> NO_IDS = new Long2ObjectHashMap<>();

    private final Arenas arenas;

    /** Replaced under the monitor, never changed, as the next. */
    private volatile StreamLimbo[] all = NONE;

    private volatile Long2ObjectHashMap<StreamLimbo> byId = NO_IDS;

    Streams(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Those on which something waits, or whose work is marked, and a few others. */
    public StreamLimbo[] all() {
        return all;
    }

    /**
     * Frees a block on a stream.
     *
     * @param mostBytes a stream's open batch with more is closed
     * @return the stream whose batch this closed, null if none: its work had better be marked, and then {@link StreamLimbo#wasMarked} called
     */
    public @Nullable StreamLimbo free(final Segment segment, final long address, final long id, final long mostBytes) {
        final Arena owner = segment.owner;
        StreamLimbo known = byId.get(id);
        while (true) {
            final StreamLimbo stream = known == null ? add(id) : known;
            // If that is forgotten, the next look is under the monitor, which waits for the thread that forgets it:
            // that may need this core.
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
        // First: one that is known and not in there would never be asked for.
        all = more;
        byId = ids;
        return stream;
    }

    /**
     * A block that was freed on this stream, is large enough and not much larger, in use again.
     *
     * @param patient whether it waits for other arenas' locks; if not, it may miss a block
     * @return its address, or {@code NO_SPACE}
     */
    public long allocate(final long sizeBytes, final long id, final boolean patient) {
        final StreamLimbo stream = byId.get(id);
        return stream == null ? Strategy.NO_SPACE : takeOut(stream, sizeBytes, arenas.home(), patient);
    }

    /** Releases what no work uses any more. */
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

    /** Which arena's lock it takes shows only once a block is found: at first it is one that is guessed. */
    private long takeOut(final StreamLimbo stream, final long sizeBytes, final Arena guess, final boolean patient) {
        Arena owner = guess;
        while (true) {
            final Arena locked = owner;
            if (locked == guess || patient) {
                locked.lock();
            } else if (!locked.tryLock()) {
                // Threads whose blocks come from one arena would meet there for ever: this one had better have some of
                // its own.
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

    /** A stream that may be destroyed by now leaves nothing behind. */
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
                        // Another may have its number, if host memory ended here before.
                        ids.remove(stream.id, stream);
                    } else {
                        kept[count++] = stream;
                    }
                }
                ids.compact();
            } finally {
                // Whatever comes: one that is forgotten had better not be found.
                byId = ids;
            }
            all = Arrays.copyOf(kept, count);
        }
    }

    /** Closes every open batch; the last mark that any block waits for, 0 if none waits. */
    public long closeAll() {
        long number = 0;
        for (final StreamLimbo stream : all) {
            number = Math.max(number, stream.close());
        }
        return number;
    }

    /** Shows the addresses of what waits in a segment, whose arena's lock is held, or in any, if all are. */
    void forEach(final @Nullable Segment segment, final LongConsumer visitor) {
        for (final StreamLimbo stream : all) {
            stream.forEach(segment, visitor);
        }
    }

    /** Nothing waits any more: all arenas' locks are held, and nobody gets one afterwards. */
    synchronized void clear() {
        all = NONE;
        byId = NO_IDS;
    }
}
