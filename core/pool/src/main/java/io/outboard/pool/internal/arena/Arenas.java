package io.outboard.pool.internal.arena;

import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * This class has the arenas of a pool, the home of each thread among them, and the place of each segment.
 *
 * <p>At first there is one arena, the home of every thread. Where threads often wait for an arena's lock, one of them
 * moves to another arena, which is made if there are fewer than processors. So arenas exist only where threads contend,
 * and a single thread sees one.
 *
 * <p>A thread's home is looked up by the thread's number, since a thread-local value would cost something for each of a
 * million virtual threads. Threads whose numbers differ by a multiple of {@link #SLOTS} share a home.
 *
 * <p>Safe for any number of threads. The monitor guards which arenas and segments there are. A thread may take it while
 * it holds arenas' locks, and takes no lock under it.
 */
public final class Arenas {

    /** The number of waits of its threads that an arena looks at together. */
    static final int WAITS_LOOKED_AT = 32;

    /** Waits are frequent if each comes after fewer operations than this: 0.2 % of them. */
    static final int OPERATIONS_FOR_A_WAIT = 512;

    /** The number of allocations after which an arena looks at its tables, and adds up all arenas for the peak. */
    static final int SAMPLED_EVERY = 1024;

    /** How many homes are looked up; a power of two. */
    private static final int SLOTS = 256;

    private static final int MOST_ARENAS = 64;

    /** An open batch has no more bytes than this share of an arena's slack, so that it keeps back little ... */
    private static final long CLOSED_SHARE = 16;

    /** ... but at least this many bytes, so that batches are few: each takes 1.6 KiB of the host. */
    private static final long LEAST_CLOSED_BYTES = 4L << 20;

    /**
     * No free asks the device while limbo has no more than this share of an arena's slack. One thread with small blocks
     * then holds 256 MiB, and one free in 1,260 asks. With all of the slack it holds 566 MiB and asks in one free of
     * 4,630; with an eighth in one of 680, which is a free's 99.9th percentile on any machine. Operations per second
     * are the same (H100, 2026-11-27).
     */
    private static final long ASKED_SHARE = 4;

    public final Progress progress = new Progress();

    /** Shared by all locks, since blocks of one arena wait in others: a change that is half done breaks all. */
    public final SpinLock.Breakage breakage = new SpinLock.Breakage();

    /** The limbo of each stream. */
    public final Streams streams = new Streams(this);

    final RemoteFrees.Empty emptyBatches = new RemoteFrees.Empty();

    /** The counters of all arenas together. */
    public final ArenaTotals totals;

    /** Blocks are free as soon as they are freed. */
    public final boolean immediate;

    private final long limboLimitBytes;
    private final int mostArenas;
    private final int arenasAtFirst;

    private volatile long mostBytes = Long.MAX_VALUE / 2;

    /** The array is replaced under the monitor and never changed. */
    private volatile Arena[] all = {};

    /**
     * The homes by slot, written under the monitor. A thread that reads an old one uses another arena, which is no
     * error.
     */
    private final @Nullable Arena[] homes = new Arena[SLOTS];

    /** All segments in the order of addresses. The array is replaced under the monitor and never changed. */
    private volatile Segment[] segments = {};

    private volatile long slackBytes;

    /** The thread that takes memory for arenas ahead of need when it is woken; null if there is none. */
    public volatile @Nullable Thread grower;

    /**
     * True if the grower was woken, perhaps out of another sleep: it is to look at all arenas before it sleeps again.
     */
    public volatile boolean growerWoken;

    private volatile boolean closed;

    /** True while requests wait: what comes back is for the oldest of them. The queue writes this. */
    private volatile boolean awaited;

    /**
     * Makes one arena, or several.
     *
     * @param immediate whether blocks are free as soon as they are freed
     * @param limboLimitBytes with more in limbo the device is asked though no memory is needed
     * @param spread how many arenas there are from the start, over which threads are spread; 0 for one, until
     *     threads contend
     */
    public Arenas(final boolean immediate, final long slackBytes, final long limboLimitBytes, final int spread) {
        this.immediate = immediate;
        this.slackBytes = slackBytes;
        this.limboLimitBytes = limboLimitBytes;
        final int processors = Runtime.getRuntime().availableProcessors();
        mostArenas = Math.max(Math.max(1, spread), 1 + Math.min(MOST_ARENAS, processors));
        totals = new ArenaTotals(() -> all);
        do {
            newArena();
        } while (all.length < spread);
        arenasAtFirst = all.length;
    }

    // Who and where

    /** Returns the calling thread's home. */
    public Arena home() {
        final int slot = slot();
        final Arena home = homes[slot];
        return home == null ? firstHome(slot) : home;
    }

    private synchronized Arena firstHome(final int slot) {
        final Arena known = homes[slot];
        if (known != null) {
            return known;
        }
        final Arena home = all[slot % arenasAtFirst];
        home.homes++;
        homes[slot] = home;
        return home;
    }

    // A thread's number doesn't change. A class that overrides it shares another thread's home, which is no error.
    @SuppressWarnings("deprecation")
    private static int slot() {
        return (int) Thread.currentThread().getId() & (SLOTS - 1);
    }

    public Arena[] all() {
        return all;
    }

    public int count() {
        return all.length;
    }

    /**
     * Returns the segment that holds an address, or null. The first guess is the segment of the calling thread's last
     * block.
     */
    public @Nullable Segment segmentAt(final long address) {
        final Segment guess = home().current;
        if (guess != null && guess.holds(address)) {
            return guess;
        }
        final Segment[] sorted = segments;
        int low = 0;
        int high = sorted.length - 1;
        while (low < high) {
            final int middle = (low + high + 1) >>> 1;
            if (sorted[middle].begin <= address) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low <= high && sorted[low].holds(address) ? sorted[low] : null;
    }

    /** Returns the segments in the order of addresses. */
    public Segment[] segments() {
        return segments;
    }

    synchronized void add(final Segment segment) {
        final Segment[] more = Arrays.copyOf(segments, segments.length + 1);
        more[segments.length] = segment;
        Arrays.sort(more, Comparator.comparingLong(each -> each.begin));
        segments = more;
    }

    synchronized void remove(final Segment segment) {
        segments = Arrays.stream(segments).filter(each -> each != segment).toArray(Segment[]::new);
    }

    public void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the pool is closed");
        }
    }

    public boolean isClosed() {
        return closed;
    }

    public void close() {
        closed = true;
    }

    // Of arenas, under an arena's lock

    /** Gives the calling thread, which waits often, another home if there is one with fewer threads. */
    synchronized void moveApart(final Arena from) {
        final int slot = slot();
        final Arena home = homes[slot];
        if (home != from || home.homes == 1 || closed) {
            // A thread that is alone in its arena has met others that look for room there: an arena of its own it has
            // already.
            return;
        }
        Arena best = null;
        for (final Arena arena : all) {
            if (arena != home && (best == null || arena.homes < best.homes)) {
                best = arena;
            }
        }
        if ((best == null || best.homes > 0) && all.length < mostArenas) {
            try {
                if (all.length == 1) {
                    // The lock that the caller holds is the first arena's.
                    for (final Segment segment : from.segments()) {
                        from.watchStarts(segment);
                    }
                }
                best = newArena();
            } catch (final OutOfMemoryError e) {
                // The host has no memory for another arena, and this one serves as well.
                return;
            }
        }
        if (best != null && best.homes + 1 < home.homes) {
            home.homes--;
            best.homes++;
            // A thread that finds the arena there finds all of it.
            VarHandle.releaseFence();
            homes[slot] = best;
        }
    }

    private Arena newArena() {
        final Arena[] more = Arrays.copyOf(all, all.length + 1);
        final Arena arena = new Arena(all.length, mostArenas, this, immediate);
        more[all.length] = arena;
        all = more;
        for (final Arena each : more) {
            each.hasNeighbours = more.length > 1;
        }
        divideSlack();
        return arena;
    }

    /** Divides the slack anew, after an arena was added or the slack has changed. */
    private void divideSlack() {
        final Arena[] arenas = all;
        final long share = slackBytes / arenas.length;
        final long limit = limboLimitBytes / arenas.length;
        for (final Arena arena : arenas) {
            arena.closedAbove = Math.min(limit, Math.max(LEAST_CLOSED_BYTES, share / CLOSED_SHARE));
            // Without slack each free asks: what is in limbo is missing at once, and blocks that are placed beside it
            // leave gaps.
            arena.askedAbove = Math.min(limit, share / ASKED_SHARE);
            arena.mostByUse = Math.min(limit, share - share / ASKED_SHARE);
            arena.slackBytes = Math.min(limit, slackBytes);
        }
    }

    /** Returns an arena's share, in bytes, of what limit and device still allow, as far as that is known. */
    long roomBytes() {
        return Math.max(0, mostBytes - totals.heldBytes()) / all.length;
    }

    /** Tells what limit and device allow the pool to hold, in bytes. */
    public void mostBytes(final long bytes) {
        mostBytes = bytes;
    }

    /** Returns how many bytes the pool may hold beyond what is in use. */
    public long slackBytes() {
        return slackBytes;
    }

    public synchronized void slackBytes(final long bytes) {
        slackBytes = bytes;
        divideSlack();
    }

    /** Tells the grower that an arena wants to grow. */
    void wakeGrower() {
        growerWoken = true;
        LockSupport.unpark(grower);
    }

    /** Looks at the peak and at an arena's tables, once in a while after an allocation. */
    void sample(final Arena arena) {
        try {
            if (all.length > 1) {
                totals.peakUsedBytes();
            }
            for (final Segment segment : arena.segments()) {
                segment.sample();
            }
        } catch (final OutOfMemoryError ignored) {
            // A block was handed out, which mustn't be lost; the next sample comes soon.
        }
    }

    // Requests that wait

    /** Returns whether requests wait, for which what comes back is kept. */
    public boolean isAwaited() {
        return awaited;
    }

    /** Tells whether a request waits now. */
    public void await(final boolean newAwaited) {
        awaited = newAwaited;
        if (!newAwaited) {
            for (final Arena arena : all) {
                arena.open();
            }
        }
    }

    /**
     * Delivers remote frees, except where another thread has a lock that this needs: then what is in use is counted
     * exactly.
     */
    public void settle() {
        if (all.length > 1) {
            for (int round = 0; round < 2; round++) {
                for (final Arena arena : all) {
                    arena.trySettle();
                }
            }
        }
    }

    /**
     * Closes all open batches; returns the number of the mark after which all is free that was freed by now: 0, or that
     * of a finished mark, if nothing waits.
     */
    public long closeAll() {
        final Arena[] arenas = all;
        for (final Arena arena : arenas) {
            arena.send();
        }
        long number = streams.closeAll();
        for (final Arena arena : arenas) {
            number = Math.max(number, arena.close());
        }
        return number;
    }

    /**
     * Lets the tables of all arenas grow after all, since there is no other memory. Returns false if that makes no
     * difference.
     */
    public boolean makeDo() {
        boolean any = false;
        for (final Arena arena : all) {
            any |= arena.makeDo();
        }
        return any;
    }

    /** Places a request wherever the pool has room as it is, in the arena's own memory first. */
    public long allocateAnywhere(
            final Arena home, final long sizeBytes, final long alignmentBytes, final boolean first) {
        long address = home.allocateRecovering(sizeBytes, alignmentBytes, first);
        for (final Arena arena : all) {
            if (address < 0 && arena != home) {
                address = arena.allocateRecovering(sizeBytes, alignmentBytes, first);
            }
        }
        return address;
    }

    /** Releases all ready blocks. */
    public void releaseAll() {
        streams.releaseFinished();
        for (final Arena arena : all) {
            arena.send();
        }
        for (final Arena arena : all) {
            arena.releaseAll();
        }
    }

    // The whole pool, for those that look at everything or end it: nothing changes while all locks are held

    /**
     * Does something while every arena's lock is held, also if the pool is closed: then it is empty.
     *
     * @throws IllegalStateException if the pool is broken
     */
    public void whileLocked(final Runnable action) {
        whileLockedAnyway(() -> {
            if (!closed && breakage.cause != null) {
                breakage.refuse();
            }
            action.run();
        });
    }

    /** Does something while every arena's lock is held, also if the pool is broken, to end it. */
    public void whileLockedAnyway(final Runnable action) {
        int count = 0;
        try {
            // Another thread may add an arena meanwhile.
            for (; count < all.length; count++) {
                all[count].lockAnyway();
            }
            action.run();
        } finally {
            // Without a call, for which the stack may have no room.
            for (int i = 0; i < count; i++) {
                all[i].taken = false;
            }
        }
    }

    /** Shows all blocks in the order of addresses. All locks are held. */
    public void forEachBlock(final BlockVisitor visitor) {
        for (final Segment segment : segments) {
            segment.forEachBlock(visitor);
        }
    }

    /** Returns the regions up to their last memory. All arenas' locks are held. */
    public List<Region> held() {
        return Arrays.stream(segments)
                .filter(segment -> segment.heldBytes > 0)
                .map(segment -> new Region(segment.taken.address(), segment.memoryEnd - segment.taken.address()))
                .toList();
    }

    /** Shows the addresses of blocks in limbo and of remote frees. All locks are held. */
    public void forEachInLimbo(final LongConsumer visitor) {
        for (final Arena arena : all) {
            arena.forEachInLimbo(visitor);
        }
        streams.forEach(null, visitor);
    }

    /** Returns the size of the largest free block, in bytes. All locks are held. */
    public long largestFreeBlockBytes() {
        long largest = 0;
        for (final Segment segment : segments) {
            largest = Math.max(largest, segment.largestFreeBlockBytes());
        }
        return largest;
    }

    /** Tells strategies that a step of the program begins. All locks are held. */
    public void step() {
        for (final Segment segment : segments) {
            if (segment.steps != null) {
                segment.steps.step();
            }
        }
    }

    /** Forgets everything: a thread that still knows an arena or a segment is refused. All locks are held. */
    public void clear() {
        breakage.close();
        for (final Arena arena : all) {
            arena.clear();
        }
        // Other threads replace the array only with an arena's lock.
        segments = new Segment[0];
        streams.clear();
        totals.held(-totals.heldBytes());
    }
}
