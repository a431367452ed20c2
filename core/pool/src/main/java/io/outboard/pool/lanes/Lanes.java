package io.outboard.pool.lanes;

import io.outboard.core.Strategy;
import io.outboard.pool.guard.StackReserve;
import io.outboard.pool.limbo.StreamEpochs;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of a pool, and which of them each thread uses: its home.
 *
 * <p>At first there is the main lane, whose parts are the pool's regions, and every thread's home is that. Where threads often
 * wait for a lane's lock, one of them is moved to another, which is made if there are fewer than processors; so a lane exists
 * only where threads contend, and one thread sees one. Other lanes divide {@link Chunks} of the main lane's memory. Threads also
 * leave the main lane when its regions have very many blocks, so that no table becomes so large that growing it is a pause that a
 * user would see. Blocks above a quarter of the largest chunk are always the main lane's.
 *
 * <p>A thread's home is looked up by its number: no thread-local value, which virtual threads by the million would pay for.
 * Threads whose numbers differ by a multiple of {@link #SLOTS} share a home.
 *
 * <p>Safe for any number of threads. The monitor guards which lanes there are; it is taken with lanes' locks held, and none
 * is taken under it.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Lanes {

    /** So many waits of a lane's threads are looked at together. */
    static final int WAITS_LOOKED_AT = 32;

    /** Waits count as frequent if there are fewer operations than this for each: 0.2 % of them. */
    static final int OPERATIONS_FOR_A_WAIT = 512;

    /** A power of two. */
    private static final int SLOTS = 256;

    private static final int MOST_LANES = 64;

    /** Allocations of a lane after which all lanes are added up for the peak, and the main lane's tables are looked at. */
    private static final int SAMPLED_EVERY = 1024;

    /**
     * Half of what a region's table holds before it grows, which takes 6 ms: with so many blocks in use there may be as many
     * free ones. A chunk's tables are smaller.
     */
    private static final int MOST_BLOCKS_OF_A_REGION = 1 << 17;

    public final StreamEpochs epochs = new StreamEpochs();
    private final LimboRules rules;
    private final Lane main;
    public final Chunks chunks;
    final ParcelStore parcels = new ParcelStore();

    /** What the lanes have together. */
    public final LaneTotals totals;

    /** For those who look at all of the pool, or end it. */
    public final WholePool whole = new WholePool(this);

    private final int mostLanes;

    /** Replaced under the monitor, never changed. */
    private volatile Lane[] all;

    /** By slot. Written under the monitor; a thread that reads an old one uses a lane that isn't its own, which is no error. */
    private final Lane[] homes = new Lane[SLOTS];

    private volatile boolean closed;

    /** If two want it, the one that freed last. */
    private volatile @Nullable Lane wanting;

    /** @param spread so many lanes there are from the first, beside the main lane, that threads are spread over */
    public Lanes(final LimboRules rules, final int spread, final ChunkStrategies strategies) {
        this.rules = rules;
        final int processors = Runtime.getRuntime().availableProcessors();
        mostLanes = 1 + Math.max(spread, Math.min(MOST_LANES, processors));
        main = new Lane(0, mostLanes, this, rules);
        chunks = new Chunks(this, main, strategies);
        all = new Lane[] {main};
        totals = new LaneTotals(this);
        planRecycling();
        Arrays.fill(homes, main);
        spread(spread);
    }

    private synchronized void spread(final int lanes) {
        for (int i = 0; i < lanes; i++) {
            newLane();
        }
        for (int slot = 0; slot < SLOTS && lanes > 0; slot++) {
            homes[slot] = all[1 + slot % lanes];
            homes[slot].homes++;
        }
    }

    // Who and where

    public Lane main() {
        return main;
    }

    /** The calling thread's. */
    public Lane home() {
        return homes[slot()];
    }

    // Its number doesn't change, and nothing is concluded from it: a class that overrides it shares some other's home.
    @SuppressWarnings("deprecation")
    private static int slot() {
        return (int) Thread.currentThread().getId() & (SLOTS - 1);
    }

    public Lane[] all() {
        return all;
    }

    Lane lane(final int number) {
        return all[number];
    }

    int count() {
        return all.length;
    }

    /** Whether an address lies in a region. */
    public boolean holds(final long address) {
        for (final Part region : main.parts.all()) {
            if (region.holds(address)) {
                return true;
            }
        }
        return false;
    }

    /** The chunk that an address is in; null for a region's own blocks, and for any other address. */
    @Nullable
    public Part chunkAt(final long address) {
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

    // Of lanes, under a lane's lock

    /** The calling thread waits often: from now on it uses another lane, if there is one with fewer threads. */
    synchronized void moveApart(final Lane from) {
        final int slot = slot();
        if (homes[slot] != from || closed) {
            return;
        }
        Lane best = null;
        for (int i = 1; i < all.length; i++) {
            if (best == null || all[i].homes < best.homes) {
                best = all[i];
            }
        }
        if ((best == null || best.homes > 0) && all.length < mostLanes) {
            best = newLane();
        }
        if (best != null && (from.isMain() || best.homes + 1 < from.homes)) {
            from.homes--;
            best.homes++;
            homes[slot] = best;
        }
    }

    private Lane newLane() {
        final Lane[] more = Arrays.copyOf(all, all.length + 1);
        final Lane lane = new Lane(all.length, mostLanes, this, rules);
        more[all.length] = lane;
        all = more;
        planRecycling();
        return lane;
    }

    /** Anew when there is another lane, or more memory. */
    private synchronized void planRecycling() {
        final Lane[] lanes = all;
        final long heldBytes = totals.heldBytes();
        final long bytes = rules.recycledAbove(heldBytes);
        for (final Lane lane : lanes) {
            lane.recycledAbove = bytes / lanes.length;
            lane.closedAbove = rules.closedAbove(heldBytes);
        }
    }

    /** There is much that is new in its limbo: whoever frees a block next recycles it. */
    void wantsRecycling(final int number) {
        final Lane lane = all[number];
        if (wanting != lane) {
            wanting = lane;
        }
    }

    /** The lane that wants recycling, if there is one. */
    @Nullable
    public Lane wanting() {
        return wanting;
    }

    /** Somebody is at it. */
    public void recycling() {
        wanting = null;
    }

    /** A block was handed out. */
    void counted(final LaneBlocks lane) {
        if ((lane.counters.allocations() & (SAMPLED_EVERY - 1)) == 0) {
            sample(lane);
        }
    }

    private void sample(final LaneBlocks lane) {
        try {
            if (all.length > 1) {
                totals.notePeak();
            }
            if (lane.isMain()) {
                spareTables();
            }
        } catch (final StackOverflowError | OutOfMemoryError ignored) {
            // A block was handed out, which mustn't be lost; the next sample isn't far.
        }
    }

    /** The main lane's lock is held: where its tables have much to hold, all threads leave it, for chunks with their own. */
    private void spareTables() {
        for (final Part region : main.parts.all()) {
            if (region.strategy.liveBlocks() > MOST_BLOCKS_OF_A_REGION) {
                leaveMain();
                return;
            }
        }
    }

    private synchronized void leaveMain() {
        if (all.length == 1) {
            newLane();
        }
        for (int slot = 0; slot < SLOTS; slot++) {
            if (homes[slot].isMain()) {
                homes[slot] = all[1 + slot % (all.length - 1)];
                homes[slot].homes++;
            }
        }
    }

    /** The pool holds so much more. The main lane's lock is held. */
    public void held(final long addedBytes) {
        totals.held(addedBytes);
        planRecycling();
    }

    /** Delivers what is on its way, as far as nobody has the locks that it takes: what is in use is then counted exactly. */
    public void settle() {
        if (all.length > 1) {
            StackReserve.claimMore();
            for (final Lane lane : all) {
                lane.tryPost();
            }
            for (final Lane lane : all) {
                lane.tryUnpack();
            }
        }
    }

    // Requests

    /**
     * From what this lane has, whatever must be released for it, or from a chunk that it takes. An address or
     * {@code NO_SPACE}.
     */
    public long placeAtHome(final Lane home, final long sizeBytes, final long alignmentBytes) {
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
        final Lane[] lanes = all;
        if (lanes.length > 1) {
            for (final Lane lane : lanes) {
                lane.post();
            }
        }
        for (final Lane lane : lanes) {
            lane.close();
        }
    }

    /** From wherever there is room in the pool as it is; all that has been freed by now is looked at. */
    public long placeAnywhere(final Lane home, final long sizeBytes, final long alignmentBytes) {
        final Lane[] lanes = all;
        if (lanes.length > 1) {
            for (final Lane lane : lanes) {
                lane.post();
            }
        }
        long address = placeAtHome(home, sizeBytes, alignmentBytes);
        if (lanes.length > 1 && address == Strategy.NO_SPACE) {
            for (int i = lanes.length - 1; i > 0 && address == Strategy.NO_SPACE; i--) {
                address = lanes[i].allocateRecovering(sizeBytes, alignmentBytes);
            }
            if (address == Strategy.NO_SPACE && chunks.giveBackEmpty()) {
                address = main.allocateRecovering(sizeBytes, alignmentBytes);
            }
        }
        return address;
    }

    /** Releases all that is ready, and gives empty chunks back. */
    public void releaseAll() {
        for (final Lane lane : all) {
            lane.post();
        }
        for (final Lane lane : all) {
            lane.releaseAll();
        }
        chunks.giveBackEmpty();
    }
}
