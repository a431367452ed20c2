package io.outboard.pool.internal.arena;

import io.outboard.core.BlockVisitor;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The arenas of a pool, which of them each thread uses, its home, and where each segment is.
 *
 * <p>At first there is one arena, and every thread's home is that. Where threads often wait for an arena's lock, one of them is moved to
 * another, which is made if there are fewer than processors; so an arena exists only where threads contend, and one thread sees one.
 *
 * <p>A thread's home is looked up by its number: no thread-local value, which virtual threads by the million would pay for.
 * Threads whose numbers differ by a multiple of {@link #SLOTS} share a home.
 *
 * <p>Safe for any number of threads. The monitor guards which arenas and segments there are; it is taken with arenas' locks held, and none
 * is taken under it.
 */
public final class Arenas {

    /** So many waits of an arena's threads are looked at together. */
    static final int WAITS_LOOKED_AT = 32;

    /** Waits count as frequent if there are fewer operations than this for each: 0.2 % of them. */
    static final int OPERATIONS_FOR_A_WAIT = 512;

    /** Allocations of an arena after which all arenas are added up for the peak, and its tables are looked at. */
    static final int SAMPLED_EVERY = 1024;

    /** A power of two. */
    private static final int SLOTS = 256;

    private static final int MOST_ARENAS = 64;

    /** An open batch has no more than such a part of an arena's slack, so that what it keeps back is little beside that... */
    private static final long CLOSED_SHARE = 16;

    /** ... and at least so much, so that batches are few: each takes 1.6 KiB of the host. */
    private static final long LEAST_CLOSED_BYTES = 4L << 20;

    /**
     * With no more than such a part of an arena's slack in limbo no free asks the device. One thread with small blocks then holds 256 MiB where it
     * held 566 with all of it in limbo, and one free in 1,260 asks, where it was one in 4,630. With an eighth it is one in 680, which is a
     * free's 99.9th percentile on any machine. Operations per second are the same (H100, in turn, 2026-11-27).
     */
    private static final long ASKED_SHARE = 4;

    public final Progress progress = new Progress();

    /** One half done change breaks all: blocks of one arena wait in others. */
    public final SpinLock.Breakage breakage = new SpinLock.Breakage();

    /** Blocks that were freed on one stream. */
    public final Streams streams = new Streams(this);

    final RemoteFrees.Empty emptyBatches = new RemoteFrees.Empty();

    /** What the arenas have together. */
    public final ArenaTotals totals;

    private final boolean immediate;
    private final long limboLimitBytes;
    private final int mostArenas;
    private final int arenasAtFirst;

    private volatile long mostBytes = Long.MAX_VALUE / 2;

    /** Replaced under the monitor, never changed. */
    private volatile Arena[] all = {};

    /** By slot. Written under the monitor; a thread that reads an old one uses an arena that isn't its own, which is no error. */
    private final @Nullable Arena[] homes = new Arena[SLOTS];

    /** In the order of addresses. Replaced under the monitor, never changed. */
    private volatile Segment[] segments = {};

    private volatile long slackBytes;

    /** Takes memory for arenas ahead of need when it is woken; null if nobody does. */
    public volatile @Nullable Thread grower;

    /** It was woken, perhaps where it sleeps for something else, such as a lock: it is to look at all arenas before it sleeps again. */
    public volatile boolean growerWoken;

    private volatile boolean closed;

    /** Requests wait: what comes back is for the oldest of them. Written by who keeps their queue. */
    private volatile boolean awaited;

    /**
     * One arena, or several.
     *
     * @param immediate whether blocks are free as soon as they are freed
     * @param limboLimitBytes with more in limbo the device is asked though memory isn't needed
     * @param spread so many arenas there are from the start, that threads are spread over; 0 for one that they share until they contend
     */
    public Arenas(final boolean immediate, final long slackBytes, final long limboLimitBytes, final int spread) {
        this.immediate = immediate;
        this.slackBytes = slackBytes;
        this.limboLimitBytes = limboLimitBytes;
        final int processors = Runtime.getRuntime().availableProcessors();
        mostArenas = Math.max(Math.max(1, spread), 1 + Math.min(MOST_ARENAS, processors));
        totals = new ArenaTotals(this);
        do {
            newArena();
        } while (all.length < spread);
        arenasAtFirst = all.length;
    }

    // Who and where

    /** The calling thread's. */
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

    // Its number doesn't change, and nothing is concluded from it: a class that overrides it shares some other's home.
    @SuppressWarnings("deprecation")
    private static int slot() {
        return (int) Thread.currentThread().getId() & (SLOTS - 1);
    }

    public Arena[] all() {
        return all;
    }

    Arena arena(final int number) {
        return all[number];
    }

    public int count() {
        return all.length;
    }

    /** The segment that holds an address, or null. The first guess is where the calling thread's last block was placed. */
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

    /** In the order of addresses. */
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

    /** The calling thread waits often: from now on it uses another arena, if there is one with fewer threads. */
    synchronized void moveApart(final Arena from) {
        final int slot = slot();
        final Arena home = homes[slot];
        if (home != from || home.homes == 1 || closed) {
            // Who is alone there has met others that look for room: an arena without threads would be of no use but for
            // those.
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
                    // The lock that is held is the first one's.
                    for (final Segment segment : from.segments()) {
                        from.watchStarts(segment);
                    }
                }
                best = newArena();
            } catch (final OutOfMemoryError e) {
                // The host has none for another arena: this one serves as well.
                return;
            }
        }
        if (best != null && best.homes + 1 < home.homes) {
            home.homes--;
            best.homes++;
            // Who finds it there finds it whole.
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

    /** Anew when there is another arena, or less slack. */
    private void divideSlack() {
        final Arena[] arenas = all;
        final long share = slackBytes / arenas.length;
        final long limit = limboLimitBytes / arenas.length;
        for (final Arena arena : arenas) {
            arena.closedAbove = Math.min(limit, Math.max(LEAST_CLOSED_BYTES, share / CLOSED_SHARE));
            // Without slack each free asks: what is in limbo is missing at once, and what is placed beside it leaves
            // gaps.
            arena.askedAbove = Math.min(limit, share / ASKED_SHARE);
            arena.mostByUse = Math.min(limit, share - share / ASKED_SHARE);
            arena.slackBytes = Math.min(limit, slackBytes);
        }
    }

    /** An arena's share of what limit and device still allow, so far as that is known, in bytes. */
    long roomBytes() {
        return Math.max(0, mostBytes - totals.heldBytes()) / all.length;
    }

    /** What limit and device allow the pool to hold, in bytes. */
    public void mostBytes(final long bytes) {
        mostBytes = bytes;
    }

    /** What the pool may hold beyond what is in use. */
    public long slackBytes() {
        return slackBytes;
    }

    public synchronized void slackBytes(final long bytes) {
        slackBytes = bytes;
        divideSlack();
    }

    /** An arena wants to grow. */
    void wakeGrower() {
        growerWoken = true;
        LockSupport.unpark(grower);
    }

    /** A block was handed out: once in a while more is looked at. */
    void sample(final Arena arena) {
        try {
            if (all.length > 1) {
                totals.peakUsedBytes();
            }
            for (final Segment segment : arena.segments()) {
                segment.sample();
            }
        } catch (final OutOfMemoryError ignored) {
            // A block was handed out, which mustn't be lost; the next sample isn't far.
        }
    }

    // Requests that wait

    /** Whether requests wait, for which what comes back is kept. */
    public boolean isAwaited() {
        return awaited;
    }

    /** One waits, or none any more. */
    public void await(final boolean newAwaited) {
        awaited = newAwaited;
        if (!newAwaited) {
            for (final Arena arena : all) {
                arena.open();
            }
        }
    }

    /** Delivers what is on its way, as far as nobody has the locks that it takes: what is in use is then counted exactly. */
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
     * Closes all open batches. Returns the number of the mark after which all is free that was freed by now; 0, or one that has finished, if
     * nothing waits.
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

    /** There is no other memory: tables of any arena may grow after all. False if that makes no difference. */
    public boolean makeDo() {
        boolean any = false;
        for (final Arena arena : all) {
            any |= arena.makeDo();
        }
        return any;
    }

    /** From wherever there is room in the pool as it is, the arena's own memory first. */
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

    /** Releases all that is ready. */
    public void releaseAll() {
        streams.releaseFinished();
        for (final Arena arena : all) {
            arena.send();
        }
        for (final Arena arena : all) {
            arena.releaseAll();
        }
    }

    // The whole, for those who look at everything, or end it: while all locks are held nothing changes

    /** Takes every arena's lock, also if the pool is closed: then it is empty. */
    public void lockAll() {
        lockAllAnyway();
        if (!closed && breakage.cause != null) {
            unlockAll();
            breakage.refuse();
        }
    }

    /** As {@link #lockAll}, also if something is broken: for who ends the pool. If the stack ends meanwhile, none stays taken. */
    public void lockAllAnyway() {
        int count = 0;
        boolean done = false;
        try {
            // There may be one more meanwhile.
            for (; count < all.length; count++) {
                all[count].lockAnyway();
            }
            done = true;
        } finally {
            for (int i = 0; !done && i < count; i++) {
                all[i].taken = false;
            }
        }
    }

    public void unlockAll() {
        for (final Arena arena : all) {
            arena.taken = false;
        }
    }

    /** In the order of addresses. All locks are held. */
    public void forEachBlock(final BlockVisitor visitor) {
        for (final Segment segment : segments) {
            segment.forEachBlock(visitor);
        }
    }

    /** What is in limbo, and the addresses of what is on its way to another arena. All locks are held. */
    public void forEachInLimbo(final LongConsumer visitor) {
        for (final Arena arena : all) {
            arena.forEachInLimbo(visitor);
        }
        streams.forEach(null, visitor);
    }

    /** The largest of all segments, in bytes. All locks are held. */
    public long largestFreeBlockBytes() {
        long largest = 0;
        for (final Segment segment : segments) {
            largest = Math.max(largest, segment.largestFreeBlockBytes());
        }
        return largest;
    }

    /** A step of the program begins: strategies hear of it. All locks are held. */
    public void step() {
        for (final Segment segment : segments) {
            if (segment.steps != null) {
                segment.steps.step();
            }
        }
    }

    /** Everything is forgotten, and who finds what was known of it a moment ago is refused. All locks are held. */
    public void clear() {
        breakage.close();
        for (final Arena arena : all) {
            arena.clear();
        }
        // Who replaces it otherwise has an arena's lock.
        segments = new Segment[0];
        streams.clear();
        totals.held(-totals.heldBytes());
    }
}
