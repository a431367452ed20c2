package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of a pool, and which of them each thread uses: its home.
 *
 * <p>At first there is the main lane, whose parts are the pool's regions, and every thread's home is that. Where threads often
 * wait for a lane's lock, one of them is moved to another, which is made if there are fewer than processors; so a lane exists
 * only where threads contend, and one thread sees one. Other lanes take <em>chunks</em>, blocks of the main lane with a strategy
 * of their own, from memory that is free there: the pool doesn't grow for a chunk. Threads also leave the main lane when its
 * regions have very many blocks, so that no table becomes so large that growing it is a pause that a user would see. A chunk that becomes empty goes back, but
 * for one of each lane, which goes back as soon as memory is short. Blocks above a quarter of the largest chunk are always the
 * main lane's.
 *
 * <p>A thread's home is looked up by its number: no thread-local value, which virtual threads by the million would pay for.
 * Threads whose numbers differ by a multiple of {@link #SLOTS} share a home.
 *
 * <p>Safe for any number of threads. The monitor guards which lanes there are; it is taken with lanes' locks held, and none
 * is taken under it.
 */
final class Lanes {

    /** So many waits of a lane's threads are looked at together. */
    static final int WAITS_LOOKED_AT = 32;

    /** Waits count as frequent if there are fewer operations than this for each: 0.2 % of them. */
    static final int OPERATIONS_FOR_A_WAIT = 512;

    /** Bounds what is kept of a chunk's worth in each lane, in bytes, and the largest blocks that lanes serve to a quarter. */
    private static final long MOST_CHUNK_BYTES = 64L << 20;

    /** A chunk is no larger than such a part of what the pool holds, so that few of it lies idle in lanes... */
    private static final long LARGEST_SHARE = 8;

    /** ... and this large as a rule, so that a lane needs few. */
    private static final long GOOD_SHARE = 64;

    /** A chunk holds so many of the blocks that it was taken for, at least. */
    private static final long BLOCKS_IN_A_CHUNK = 4;

    /**
     * The device's work is marked, which takes microseconds, when the blocks that aren't marked yet are more than such a part of
     * what the pool holds.
     */
    private static final long MARKED_SHARE = 8;

    /** With so much new in limbo, as a part of what the pool holds, the device is synchronised ahead of need. */
    private static final long AHEAD_SHARE = 4;

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

    /** Unless blocks are large: its tables then hold 65,536 blocks at most, and grow to that in steps of 0.3 ms and less. */
    private static final int MOST_GRANULES = 1 << 16;

    /** Parcels kept for later, of 1.3 KiB each. */
    private static final int PARCELS_KEPT = 1024;

    private final RegionMaker maker;
    final StreamEpochs epochs = new StreamEpochs();
    private final ReusePolicy policy;
    private final long limboLimitBytes;
    private final boolean ahead;
    private final Lane main;
    private final ChunkMap chunks = new ChunkMap();

    /** Blocks of the main lane that are chunks. Guarded by its lock. */
    private final LongHashSet chunkStarts = new LongHashSet();

    private final int mostLanes;

    /** Replaced under the monitor, never changed. */
    private volatile Lane[] all;

    /** By slot. Written under the monitor; a thread that reads an old one uses a lane that isn't its own, which is no error. */
    private final Lane[] homes = new Lane[SLOTS];

    /** Of all regions, in bytes; written under the main lane's lock. */
    private volatile long heldBytes;

    /** Most that was in use at once, as far as it was looked at. */
    private volatile long peakUsedBytes;

    private volatile boolean closed;

    /** If two want it, the one that freed last. */
    private volatile @Nullable Lane wanting;

    private final SpinLock parcelLock = new SpinLock();

    /** Unused ones. Guarded by the parcel lock. */
    private @Nullable Parcel parcels;

    private int parcelCount;

    Lanes(final PoolBuilder builder, final RegionMaker maker) {
        this.maker = maker;
        policy = builder.policy;
        limboLimitBytes = builder.limboLimitBytes;
        ahead = builder.work.isGuarded();
        final int processors = Runtime.getRuntime().availableProcessors();
        mostLanes = 1 + Math.max(builder.spreadLanes, Math.min(MOST_LANES, processors));
        main = new Lane(0, mostLanes, this, policy, isLimited());
        all = new Lane[] {main};
        planRecycling();
        Arrays.fill(homes, main);
        spread(builder.spreadLanes);
    }

    private boolean isLimited() {
        return policy == ReusePolicy.STRICT && limboLimitBytes < Long.MAX_VALUE;
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

    Lane main() {
        return main;
    }

    /** The calling thread's. */
    Lane home() {
        return homes[slot()];
    }

    // Its number doesn't change, and nothing is concluded from it: a class that overrides it shares some other's home.
    @SuppressWarnings("deprecation")
    private static int slot() {
        return (int) Thread.currentThread().getId() & (SLOTS - 1);
    }

    Lane[] all() {
        return all;
    }

    Lane lane(final int number) {
        return all[number];
    }

    int count() {
        return all.length;
    }

    /** The chunk that an address is in; null for a region's own blocks, and for any other address. */
    @Nullable
    Part chunkAt(final long address) {
        return chunks.find(address);
    }

    void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the pool is closed");
        }
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
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
        final Lane lane = new Lane(all.length, mostLanes, this, policy, isLimited());
        more[all.length] = lane;
        all = more;
        planRecycling();
        return lane;
    }

    /** Anew when there is another lane, or more memory; by whoever changes that, so not exact. */
    private void planRecycling() {
        final Lane[] lanes = all;
        final long bytes = switch (policy) {
            case IMMEDIATE -> Long.MAX_VALUE;
            case STRICT -> ahead ? Math.min(limboLimitBytes, heldBytes / AHEAD_SHARE) : limboLimitBytes;
            case TRACKED, STREAM_ORDERED -> heldBytes / MARKED_SHARE;
        };
        for (final Lane lane : lanes) {
            lane.recycledAbove = bytes / lanes.length;
        }
    }

    /** There is much that is new in its limbo: whoever frees a block next recycles it. */
    void wantsRecycling(final Lane lane) {
        if (wanting != lane) {
            wanting = lane;
        }
    }

    /** The lane that wants recycling, if there is one. */
    @Nullable
    Lane wanting() {
        return wanting;
    }

    /** Somebody is at it. */
    void recycling() {
        wanting = null;
    }

    /** A block was handed out. */
    void counted(final Lane lane) {
        if ((lane.counters.allocations() & (SAMPLED_EVERY - 1)) == 0) {
            sample(lane);
        }
    }

    private void sample(final Lane lane) {
        try {
            if (all.length > 1) {
                notePeak();
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
        for (final Part region : main.parts()) {
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

    // Numbers

    /** Adds up the lanes; the most that was found so far is the peak. */
    private void notePeak() {
        // What the main lane had at its own peak was in use then, whatever the others had.
        final long usedBytes = Math.max(usedBytes(), main.counters.peakUsedBytes());
        if (usedBytes > peakUsedBytes) {
            // Another thread's larger number may be lost, until somebody looks again.
            peakUsedBytes = usedBytes;
        }
    }

    long usedBytes() {
        long bytes = 0;
        for (final Lane lane : all) {
            bytes += lane.counters.usedBytes();
        }
        return bytes;
    }

    long limboBytes() {
        long bytes = 0;
        for (final Lane lane : all) {
            bytes += lane.counters.limboBytes();
        }
        return bytes;
    }

    /** With one lane exact, since that counts it; with several the most of regular samples. */
    long peakUsedBytes() {
        if (all.length == 1) {
            return main.counters.peakUsedBytes();
        }
        notePeak();
        return peakUsedBytes;
    }

    long allocations() {
        long sum = 0;
        for (final Lane lane : all) {
            sum += lane.counters.allocations();
        }
        return sum;
    }

    long liveBlocks() {
        long sum = 0;
        for (final Lane lane : all) {
            // In this order, so that no free is counted without its allocation.
            sum -= lane.counters.frees();
            sum += lane.counters.allocations();
        }
        return Math.max(0, sum);
    }

    long heldBytes() {
        return heldBytes;
    }

    /** The main lane's lock is held. */
    void held(final long addedBytes) {
        final long before = heldBytes;
        heldBytes = before + addedBytes;
        planRecycling();
    }

    /** Delivers what is on its way, as far as nobody has the locks that it takes: what is in use is then counted exactly. */
    void settle() {
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
    long placeAtHome(final Lane home, final long sizeBytes, final long alignmentBytes) {
        long address = home.allocateRecovering(sizeBytes, alignmentBytes);
        if (address == Strategy.NO_SPACE && !home.isMain()) {
            address = placeInNewChunk(home, sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE) {
                // Large blocks, and memory that is too scattered for a chunk.
                address = main.allocateRecovering(sizeBytes, alignmentBytes);
            }
        }
        return address;
    }

    /** All that has been freed by now is free after the next epoch. */
    void closeAll() {
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
    long placeAnywhere(final Lane home, final long sizeBytes, final long alignmentBytes) {
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
            if (address == Strategy.NO_SPACE && giveBackChunks()) {
                address = main.allocateRecovering(sizeBytes, alignmentBytes);
            }
        }
        return address;
    }

    /** From a chunk that this lane takes, if there is room for one and the request isn't for other blocks. */
    long placeInNewChunk(final Lane lane, final long sizeBytes, final long alignmentBytes) {
        final long chunkBytes = chunkBytesFor(sizeBytes, alignmentBytes);
        if (chunkBytes == 0) {
            return Strategy.NO_SPACE;
        }
        final long address = takeBlock(chunkBytes);
        if (address == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        boolean added = false;
        try {
            final Region region = new Region(address, chunkBytes);
            final Part chunk = Part.chunk(region, maker.strategyForChunk(region), lane);
            chunks.reserve(address, region.endAddress());
            final long placed = addAndPlace(lane, chunk, sizeBytes, alignmentBytes);
            added = placed != Strategy.NO_SPACE;
            return placed;
        } finally {
            if (!added && chunkAt(address) == null) {
                giveBlockBack(address);
            }
        }
    }

    /** 0 if this size isn't for chunks. */
    private long chunkBytesFor(final long sizeBytes, final long alignmentBytes) {
        final long least = Math.max(sizeBytes, alignmentBytes);
        if (least > MOST_CHUNK_BYTES / BLOCKS_IN_A_CHUNK || maker.granuleBytes() > ChunkMap.UNIT_BYTES) {
            return 0;
        }
        final long good = Math.min(heldBytes / GOOD_SHARE, MOST_GRANULES * maker.granuleBytes());
        final long bytes = Math.max(good, Math.max(ChunkMap.UNIT_BYTES, BLOCKS_IN_A_CHUNK * least));
        final long chunkBytes = Math.min(MOST_CHUNK_BYTES, Long.highestOneBit(2 * bytes - 1));
        return chunkBytes <= heldBytes / LARGEST_SHARE ? chunkBytes : 0;
    }

    /** Releases what is ready in the main lane until it fits, in several holds if it is much. */
    private long takeBlock(final long chunkBytes) {
        while (true) {
            main.lock();
            try {
                final long address = takeBlockHeld(chunkBytes);
                if (address != Strategy.NO_SPACE || !main.releaseSome()) {
                    return address;
                }
            } finally {
                main.taken = false;
            }
        }
    }

    private long takeBlockHeld(final long chunkBytes) {
        for (final Part region : main.parts()) {
            final long address = placeChunk(region, chunkBytes);
            if (address >= 0) {
                if (ChunkMap.reaches(address + chunkBytes) && remember(address)) {
                    return address;
                }
                region.strategy.free(address);
            }
        }
        return Strategy.NO_SPACE;
    }

    private boolean remember(final long chunkAddress) {
        try {
            return chunkStarts.add(chunkAddress);
        } catch (final OutOfMemoryError e) {
            chunkStarts.remove(chunkAddress);
            return false;
        }
    }

    /** Whether a chunk starts there, which isn't a block that anybody may free. The main lane's lock is held. */
    boolean isChunk(final long address) {
        return !chunkStarts.isEmpty() && chunkStarts.contains(address);
    }

    private static long placeChunk(final Part region, final long chunkBytes) {
        try {
            return region.place(chunkBytes, ChunkMap.UNIT_BYTES);
        } catch (final BlockTableFullException e) {
            return Strategy.NO_SPACE;
        }
    }

    private void giveBlockBack(final long address) {
        main.lock();
        try {
            freeChunk(address);
        } finally {
            main.taken = false;
        }
    }

    /** The main lane's lock is held. */
    private void freeChunk(final long address) {
        for (final Part region : main.parts()) {
            if (region.holds(address)) {
                region.strategy.free(address);
                region.gained();
            }
        }
        chunkStarts.remove(address);
    }

    /** Its lane's lock is held. Nothing changes if it can't be done now. */
    private boolean giveBack(final Lane lane, final Part chunk) {
        try {
            main.lock();
        } catch (final StackOverflowError e) {
            return false;
        }
        try {
            remove(lane, chunk);
            freeChunk(chunk.used.address());
            return true;
        } catch (final OutOfMemoryError e) {
            // The host has none for the shorter list of parts: the chunk stays, empty.
            return false;
        } finally {
            main.taken = false;
        }
    }

    private long addAndPlace(final Lane lane, final Part chunk, final long sizeBytes, final long alignmentBytes) {
        lane.lock();
        boolean placed = false;
        try {
            checkOpen();
            lane.add(chunk);
            chunks.put(chunk.used.address(), chunk.used.endAddress(), chunk);
            final long address = lane.placeIn(chunk, sizeBytes, alignmentBytes);
            placed = address != Strategy.NO_SPACE;
            return address;
        } finally {
            try {
                if (!placed && lane.has(chunk)) {
                    remove(lane, chunk);
                }
            } finally {
                lane.taken = false;
            }
        }
    }

    /** Its lane's lock is held. */
    private void remove(final Lane lane, final Part chunk) {
        lane.remove(chunk);
        chunks.put(chunk.used.address(), chunk.used.endAddress(), null);
    }

    /** Nothing is in use in a chunk of a lane, whose lock is held: it goes back unless it is the only empty one there. */
    void emptied(final Lane lane, final Part chunk) {
        for (final Part other : lane.parts()) {
            if (other != chunk && other.isEmpty()) {
                giveBack(lane, chunk);
                return;
            }
        }
    }

    /** Takes all empty chunks from their lanes. True if there were any. */
    boolean giveBackChunks() {
        boolean any = false;
        for (final Lane lane : all) {
            if (!lane.isMain()) {
                lane.lock();
                try {
                    for (final Part chunk : lane.parts()) {
                        any |= chunk.isEmpty() && giveBack(lane, chunk);
                    }
                } finally {
                    lane.taken = false;
                }
            }
        }
        return any;
    }

    // Parcels

    Parcel takeParcel() {
        parcelLock.lock();
        try {
            final Parcel parcel = parcels;
            if (parcel != null) {
                parcels = parcel.next;
                parcel.next = null;
                parcelCount--;
                return parcel;
            }
        } finally {
            parcelLock.taken = false;
        }
        return new Parcel();
    }

    void giveParcel(final Parcel parcel) {
        parcelLock.lock();
        try {
            parcel.next = null;
            if (parcelCount < PARCELS_KEPT) {
                parcel.next = parcels;
                parcels = parcel;
                parcelCount++;
            }
        } finally {
            parcelLock.taken = false;
        }
    }

    // The whole

    /** Takes every lock, for those who look at all of the pool, or end it. */
    void lockAll() {
        final Lane[] lanes = all;
        for (int i = 1; i < lanes.length; i++) {
            lanes[i].lock();
        }
        main.lock();
        if (lanes != all) {
            // One more lane meanwhile.
            unlock(lanes);
            lockAll();
        }
    }

    void unlockAll() {
        unlock(all);
    }

    private static void unlock(final Lane[] lanes) {
        for (final Lane lane : lanes) {
            lane.taken = false;
        }
    }

    /** All locks are held. In the order of addresses within a region; blocks of chunks in their places. */
    void forEachBlock(final BlockVisitor visitor) {
        for (final Part region : main.parts()) {
            region.forEachBlock((address, sizeBytes, free) -> {
                final Part chunk = free ? null : chunkAt(address);
                if (chunk == null) {
                    visitor.visit(address, sizeBytes, free);
                } else {
                    chunk.forEachBlock(visitor);
                }
            });
        }
    }

    /** All locks are held: what lanes have in limbo, and the addresses of what is on its way to another. */
    void forEachInLimbo(final LongConsumer visitor) {
        for (final Lane lane : all) {
            lane.forEachInLimbo(visitor);
        }
    }

    /** Releases all that is ready, and gives empty chunks back. */
    void releaseAll() {
        for (final Lane lane : all) {
            lane.post();
        }
        for (final Lane lane : all) {
            lane.releaseAll();
        }
        giveBackChunks();
    }

    /** All locks are held. */
    long largestFreeBlockBytes() {
        long largest = 0;
        for (final Lane lane : all) {
            for (final Part part : lane.parts()) {
                largest = Math.max(largest, part.largestFreeBlockBytes());
            }
        }
        return largest;
    }

    /** All locks are held: everything that lanes know is forgotten. */
    void clear() {
        for (final Lane lane : all) {
            if (!lane.isMain()) {
                for (final Part chunk : lane.parts()) {
                    remove(lane, chunk);
                }
            }
            lane.clear();
        }
        chunkStarts.clear();
        held(-heldBytes);
    }
}
