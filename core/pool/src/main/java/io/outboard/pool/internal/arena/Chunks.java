package io.outboard.pool.internal.arena;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of a pool: blocks of the main arena that other arenas divide, each with a strategy of its own. They come from memory
 * that is free in the main arena: the pool doesn't grow for a chunk. One that becomes empty goes back, but for one of each arena,
 * which goes back as soon as memory is short.
 *
 * <p>Safe for any number of threads. The main arena's lock guards which chunks there are, an arena's lock which of them it has; the
 * first is taken with the second held.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Chunks {

    /** Bounds what is kept of a chunk's worth in each arena, in bytes, and the largest blocks that arenas serve to a quarter. */
    private static final long MOST_CHUNK_BYTES = 64L << 20;

    /** A chunk is no larger than such a part of what the pool holds, so that few of it lies idle in arenas... */
    private static final long LARGEST_SHARE = 8;

    /** ... and this large as a rule, so that an arena needs few. */
    private static final long GOOD_SHARE = 64;

    /** A chunk holds so many of the blocks that it was taken for, at least. */
    private static final long BLOCKS_IN_A_CHUNK = 4;

    /** Unless blocks are large: its tables then hold 65,536 blocks at most, and grow to that in steps of 0.3 ms and less. */
    private static final int MOST_GRANULES = 1 << 16;

    private final Arenas arenas;
    private final Arena main;
    private final ChunkStrategies strategies;
    private final ChunkMap map = new ChunkMap();

    /** Where they start, in the main arena. Guarded by its lock. */
    private final LongHashSet starts = new LongHashSet();

    Chunks(final Arenas arenas, final Arena main, final ChunkStrategies strategies) {
        this.arenas = arenas;
        this.main = main;
        this.strategies = strategies;
    }

    /** The one that an address is in; null for a region's own blocks, and for any other address. */
    @Nullable
    Segment at(final long address) {
        return map.find(address);
    }

    /** From a chunk that this arena takes, if there is room for one and the request isn't for other blocks. */
    public long placeInNew(final Arena arena, final long sizeBytes, final long alignmentBytes) {
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
            final Segment chunk = Segment.chunk(region, strategies.strategyFor(region), arena);
            map.reserve(address, region.endAddress());
            final long placed = addAndPlace(arena, chunk, sizeBytes, alignmentBytes);
            added = placed != Strategy.NO_SPACE;
            return placed;
        } finally {
            if (!added && at(address) == null) {
                giveBlockBack(address);
            }
        }
    }

    /** 0 if this size isn't for chunks. */
    private long chunkBytesFor(final long sizeBytes, final long alignmentBytes) {
        final long least = Math.max(sizeBytes, alignmentBytes);
        if (least > MOST_CHUNK_BYTES / BLOCKS_IN_A_CHUNK || strategies.granuleBytes() > ChunkMap.UNIT_BYTES) {
            return 0;
        }
        final long good = Math.min(arenas.totals.heldBytes() / GOOD_SHARE, MOST_GRANULES * strategies.granuleBytes());
        final long bytes = Math.max(good, Math.max(ChunkMap.UNIT_BYTES, BLOCKS_IN_A_CHUNK * least));
        final long chunkBytes = Math.min(MOST_CHUNK_BYTES, Long.highestOneBit(2 * bytes - 1));
        return chunkBytes <= arenas.totals.heldBytes() / LARGEST_SHARE ? chunkBytes : 0;
    }

    /** Releases what is ready in the main arena until it fits, in several holds if it is much. */
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
        for (final Segment region : main.parts.all()) {
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
            return starts.add(chunkAddress);
        } catch (final OutOfMemoryError e) {
            starts.remove(chunkAddress);
            return false;
        }
    }

    /** Whether a chunk starts there, which isn't a block that anybody may free. The main arena's lock is held. */
    boolean isChunk(final long address) {
        return !starts.isEmpty() && starts.contains(address);
    }

    private static long placeChunk(final Segment region, final long chunkBytes) {
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

    /** The main arena's lock is held. */
    private void freeChunk(final long address) {
        for (final Segment region : main.parts.all()) {
            if (region.holds(address)) {
                region.strategy.free(address);
                region.gained();
            }
        }
        starts.remove(address);
    }

    /** Its arena's lock is held. Nothing changes if it can't be done now. */
    private boolean giveBack(final ArenaBlocks arena, final Segment chunk) {
        try {
            main.lock();
        } catch (final StackOverflowError e) {
            return false;
        }
        try {
            remove(arena, chunk);
            freeChunk(chunk.used.address());
            return true;
        } catch (final OutOfMemoryError e) {
            // The host has none for the shorter list of parts: the chunk stays, empty.
            return false;
        } finally {
            main.taken = false;
        }
    }

    private long addAndPlace(final Arena arena, final Segment chunk, final long sizeBytes, final long alignmentBytes) {
        arena.lock();
        boolean placed = false;
        try {
            arenas.checkOpen();
            arena.parts.add(chunk);
            map.put(chunk.used.address(), chunk.used.endAddress(), chunk);
            final long address = arena.placeIn(chunk, sizeBytes, alignmentBytes);
            placed = address != Strategy.NO_SPACE;
            return address;
        } finally {
            try {
                if (!placed && arena.parts.has(chunk)) {
                    remove(arena, chunk);
                }
            } finally {
                arena.taken = false;
            }
        }
    }

    /** Its arena's lock is held. */
    private void remove(final ArenaBlocks arena, final Segment chunk) {
        arena.parts.remove(chunk);
        map.put(chunk.used.address(), chunk.used.endAddress(), null);
    }

    /** Nothing is in use in a chunk of an arena, whose lock is held: it goes back unless it is the only empty one there. */
    void emptied(final ArenaBlocks arena, final Segment chunk) {
        for (final Segment other : arena.parts.all()) {
            if (other != chunk && other.isEmpty()) {
                giveBack(arena, chunk);
                return;
            }
        }
    }

    /** Takes all empty chunks from their arenas. True if there were any. */
    boolean giveBackEmpty() {
        boolean any = false;
        for (final Arena arena : arenas.all()) {
            if (!arena.isMain()) {
                arena.lock();
                try {
                    for (final Segment chunk : arena.parts.all()) {
                        any |= chunk.isEmpty() && giveBack(arena, chunk);
                    }
                } finally {
                    arena.taken = false;
                }
            }
        }
        return any;
    }

    /** All locks are held, and all of the arena's memory goes. */
    void removeAll(final Arena arena) {
        for (final Segment chunk : arena.parts.all()) {
            remove(arena, chunk);
            starts.remove(chunk.used.address());
        }
    }
}
