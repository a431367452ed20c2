package io.outboard.pool.internal.arena;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.guard.StackReserve;
import io.outboard.pool.internal.limbo.StreamEpochs;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The arenas of a pool, and which of them each thread uses: its home.
 *
 * <p>At first there is the main arena, whose parts are the pool's regions, and every thread's home is that. Where threads often
 * wait for an arena's lock, one of them is moved to another, which is made if there are fewer than processors; so an arena exists
 * only where threads contend, and one thread sees one. Other arenas divide {@link Chunks} of the main arena's memory. Threads also
 * leave the main arena when its regions have very many blocks, so that no table becomes so large that growing it is a pause that a
 * user would see. Blocks above a quarter of the largest chunk are always the main arena's.
 *
 * <p>A thread's home is looked up by its number: no thread-local value, which virtual threads by the million would pay for.
 * Threads whose numbers differ by a multiple of {@link #SLOTS} share a home.
 *
 * <p>Safe for any number of threads. The monitor guards which arenas there are; it is taken with arenas' locks held, and none
 * is taken under it.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Arenas {

    /** So many waits of an arena's threads are looked at together. */
    static final int WAITS_LOOKED_AT = 32;

    /** Waits count as frequent if there are fewer operations than this for each: 0.2 % of them. */
    static final int OPERATIONS_FOR_A_WAIT = 512;

    /** A power of two. */
    private static final int SLOTS = 256;

    private static final int MOST_LANES = 64;

    /** Allocations of an arena after which all arenas are added up for the peak, and the main arena's tables are looked at. */
    private static final int SAMPLED_EVERY = 1024;

    /**
     * Half of what a region's table holds before it grows, which takes 6 ms: with so many blocks in use there may be as many
     * free ones. A chunk's tables are smaller.
     */
    private static final int MOST_BLOCKS_OF_A_REGION = 1 << 17;

    public final StreamEpochs epochs = new StreamEpochs();
    private final LimboRules rules;
    private final Arena main;
    public final Chunks chunks;
    final RemoteFreeBatches batch = new RemoteFreeBatches();

    /** What the arenas have together. */
    public final ArenaTotals totals;

    /** For those who look at all of the pool, or end it. */
    public final WholePool whole = new WholePool(this);

    private final int mostArenas;

    /** Replaced under the monitor, never changed. */
    private volatile Arena[] all;

    /** By slot. Written under the monitor; a thread that reads an old one uses an arena that isn't its own, which is no error. */
    private final Arena[] homes = new Arena[SLOTS];

    private volatile boolean closed;

    /** If two want it, the one that freed last. */
    private volatile @Nullable Arena wanting;

    /** @param spread so many arenas there are from the first, beside the main arena, that threads are spread over */
    public Arenas(final LimboRules rules, final int spread, final ChunkStrategies strategies) {
        this.rules = rules;
        final int processors = Runtime.getRuntime().availableProcessors();
        mostArenas = 1 + Math.max(spread, Math.min(MOST_LANES, processors));
        main = new Arena(0, mostArenas, this, rules);
        chunks = new Chunks(this, main, strategies);
        all = new Arena[] {main};
        totals = new ArenaTotals(this);
        planRecycling();
        Arrays.fill(homes, main);
        spread(spread);
    }

    private synchronized void spread(final int arenas) {
        for (int i = 0; i < arenas; i++) {
            newArena();
        }
        for (int slot = 0; slot < SLOTS && arenas > 0; slot++) {
            homes[slot] = all[1 + slot % arenas];
            homes[slot].homes++;
        }
    }

    // Who and where

    public Arena main() {
        return main;
    }

    /** The calling thread's. */
    public Arena home() {
        return homes[slot()];
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

    int count() {
        return all.length;
    }

    /** Whether an address lies in a region. */
    public boolean holds(final long address) {
        for (final Segment region : main.parts.all()) {
            if (region.holds(address)) {
                return true;
            }
        }
        return false;
    }

    /** The chunk that an address is in; null for a region's own blocks, and for any other address. */
    @Nullable
    public Segment chunkAt(final long address) {
        return chunks.at(address);
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
        if (homes[slot] != from || closed) {
            return;
        }
        Arena best = null;
        for (int i = 1; i < all.length; i++) {
            if (best == null || all[i].homes < best.homes) {
                best = all[i];
            }
        }
        if ((best == null || best.homes > 0) && all.length < mostArenas) {
            best = newArena();
        }
        if (best != null && (from.isMain() || best.homes + 1 < from.homes)) {
            from.homes--;
            best.homes++;
            homes[slot] = best;
        }
    }

    private Arena newArena() {
        final Arena[] more = Arrays.copyOf(all, all.length + 1);
        final Arena arena = new Arena(all.length, mostArenas, this, rules);
        more[all.length] = arena;
        all = more;
        planRecycling();
        return arena;
    }

    /** Anew when there is another arena, or more memory. */
    private synchronized void planRecycling() {
        final Arena[] arenas = all;
        final long heldBytes = totals.heldBytes();
        final long bytes = rules.recycledAbove(heldBytes);
        for (final Arena arena : arenas) {
            arena.recycledAbove = bytes / arenas.length;
            arena.closedAbove = rules.closedAbove(heldBytes);
        }
    }

    /** There is much that is new in its limbo: whoever frees a block next recycles it. */
    void wantsRecycling(final int number) {
        final Arena arena = all[number];
        if (wanting != arena) {
            wanting = arena;
        }
    }

    /** The arena that wants recycling, if there is one. */
    @Nullable
    public Arena wanting() {
        return wanting;
    }

    /** Somebody is at it. */
    public void recycling() {
        wanting = null;
    }

    /** A block was handed out. */
    void counted(final ArenaBlocks arena) {
        if ((arena.counters.allocations() & (SAMPLED_EVERY - 1)) == 0) {
            sample(arena);
        }
    }

    private void sample(final ArenaBlocks arena) {
        try {
            if (all.length > 1) {
                totals.notePeak();
            }
            if (arena.isMain()) {
                spareTables();
            }
        } catch (final StackOverflowError | OutOfMemoryError ignored) {
            // A block was handed out, which mustn't be lost; the next sample isn't far.
        }
    }

    /** The main arena's lock is held: where its tables have much to hold, all threads leave it, for chunks with their own. */
    private void spareTables() {
        for (final Segment region : main.parts.all()) {
            if (region.strategy.liveBlocks() > MOST_BLOCKS_OF_A_REGION) {
                leaveMain();
                return;
            }
        }
    }

    private synchronized void leaveMain() {
        if (all.length == 1) {
            newArena();
        }
        for (int slot = 0; slot < SLOTS; slot++) {
            if (homes[slot].isMain()) {
                homes[slot] = all[1 + slot % (all.length - 1)];
                homes[slot].homes++;
            }
        }
    }

    /** The pool holds so much more. The main arena's lock is held. */
    public void held(final long addedBytes) {
        totals.held(addedBytes);
        planRecycling();
    }

    /** Delivers what is on its way, as far as nobody has the locks that it takes: what is in use is then counted exactly. */
    public void settle() {
        if (all.length > 1) {
            StackReserve.claimMore();
            for (final Arena arena : all) {
                arena.tryPost();
            }
            for (final Arena arena : all) {
                arena.tryUnpack();
            }
        }
    }

    // Requests

    /**
     * From what this arena has, whatever must be released for it, or from a chunk that it takes. An address or
     * {@code NO_SPACE}.
     */
    public long placeAtHome(final Arena home, final long sizeBytes, final long alignmentBytes) {
        long address = home.allocateRecovering(sizeBytes, alignmentBytes);
        if (address == Strategy.NO_SPACE && !home.isMain()) {
            address = chunks.placeInNew(home, sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE) {
                // Large blocks, and memory that is too scattered for a chunk.
                address = main.allocateRecovering(sizeBytes, alignmentBytes);
            }
        }
        return address;
    }

    /** All that has been freed by now is free after the next epoch. */
    public void closeAll() {
        final Arena[] arenas = all;
        if (arenas.length > 1) {
            for (final Arena arena : arenas) {
                arena.post();
            }
        }
        for (final Arena arena : arenas) {
            arena.close();
        }
    }

    /** From wherever there is room in the pool as it is; all that has been freed by now is looked at. */
    public long placeAnywhere(final Arena home, final long sizeBytes, final long alignmentBytes) {
        final Arena[] arenas = all;
        if (arenas.length > 1) {
            for (final Arena arena : arenas) {
                arena.post();
            }
        }
        long address = placeAtHome(home, sizeBytes, alignmentBytes);
        if (arenas.length > 1 && address == Strategy.NO_SPACE) {
            for (int i = arenas.length - 1; i > 0 && address == Strategy.NO_SPACE; i--) {
                address = arenas[i].allocateRecovering(sizeBytes, alignmentBytes);
            }
            if (address == Strategy.NO_SPACE && chunks.giveBackEmpty()) {
                address = main.allocateRecovering(sizeBytes, alignmentBytes);
            }
        }
        return address;
    }

    /** Releases all that is ready, and gives empty chunks back. */
    public void releaseAll() {
        for (final Arena arena : all) {
            arena.post();
        }
        for (final Arena arena : all) {
            arena.releaseAll();
        }
        chunks.giveBackEmpty();
    }
}
