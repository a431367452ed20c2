package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Patterned blocks are a pool's blocks over a {@link MemfdMemorySource}. Each piece of a block, such as a page, begins
 * and ends with bytes that no other block or piece has. They are written when the block is handed out, and read again
 * before it is freed. Confined to one thread.
 */
final class PatternedBlocks {

    /** The size of pieces with which blocks touch all of the memory. */
    static final long PAGE_BYTES = 4096;

    /** A block is one in use; its pieces hold its number. */
    record Block(long address, long sizeBytes, long number) {}

    private final MemfdMemorySource source;
    private final Pool pool;
    private final long pieceBytes;
    private final List<Block> live = new ArrayList<>();
    private long usedBytes;
    private long nextNumber;

    /** Starts without blocks. Different threads begin with different numbers. */
    PatternedBlocks(final MemfdMemorySource source, final Pool pool, final long pieceBytes, final long firstNumber) {
        this.source = source;
        this.pool = pool;
        this.pieceBytes = pieceBytes;
        nextNumber = firstNumber;
    }

    List<Block> live() {
        return live;
    }

    long usedBytes() {
        return usedBytes;
    }

    /** Allocates a block of a multiple of 16 bytes. */
    Block allocate(final long sizeBytes) {
        return add(pool.allocate(sizeBytes), sizeBytes);
    }

    Block allocate(final long sizeBytes, final long alignmentBytes) {
        final long address = pool.allocate(sizeBytes, alignmentBytes);
        assertEquals(0, address & (alignmentBytes - 1));
        return add(address, sizeBytes);
    }

    private Block add(final long address, final long sizeBytes) {
        final Block block = new Block(address, sizeBytes, nextNumber++);
        fill(block);
        live.add(block);
        usedBytes += sizeBytes;
        return block;
    }

    void free(final int index) {
        final Block block = remove(index);
        check(block);
        pool.free(block.address);
    }

    /** Frees any block; there must be one. */
    void freeAny(final Random random) {
        free(random.nextInt(live.size()));
    }

    void freeAll() {
        while (!live.isEmpty()) {
            free(live.size() - 1);
        }
    }

    /** Makes a block shorter, or longer if there is room behind it. */
    void resizeAny(final Random random) {
        final Block block = remove(random.nextInt(live.size()));
        check(block);
        long sizeBytes = block.sizeBytes;
        if (random.nextBoolean() && sizeBytes > 2 * MemfdMemorySource.UNIT_BYTES) {
            // The block is cut at a whole piece, so that each piece ends as it was written.
            sizeBytes = (sizeBytes - MemfdMemorySource.UNIT_BYTES) & -pieceBytes;
            pool.trim(block.address, sizeBytes);
        } else if (pool.extend(block.address, sizeBytes + MemfdMemorySource.UNIT_BYTES)) {
            sizeBytes += MemfdMemorySource.UNIT_BYTES;
        }
        check(new Block(block.address, Math.min(sizeBytes, block.sizeBytes), block.number));
        add(block.address, sizeBytes);
    }

    private Block remove(final int index) {
        final Block block = live.get(index);
        // The blocks are in no order, so the last one can take the place of the removed one.
        live.set(index, live.get(live.size() - 1));
        live.remove(live.size() - 1);
        usedBytes -= block.sizeBytes;
        return block;
    }

    void checkAll() {
        live.forEach(this::check);
    }

    private void fill(final Block block) {
        checkHasMemory(block);
        for (long offset = 0; offset < block.sizeBytes; offset += pieceBytes) {
            Memfd.write(block.address + offset, pattern(block, offset));
            final long last = lastOfPiece(block, offset);
            Memfd.write(block.address + last, pattern(block, last));
        }
    }

    private void check(final Block block) {
        checkHasMemory(block);
        for (long offset = 0; offset < block.sizeBytes; offset += pieceBytes) {
            checkBytes(block, offset);
            checkBytes(block, lastOfPiece(block, offset));
        }
    }

    private static void checkBytes(final Block block, final long offset) {
        final long found = Memfd.read(block.address + offset);
        if (found != pattern(block, offset)) {
            throw new AssertionError(block + " has lost its bytes at " + offset + ": " + Long.toHexString(found));
        }
    }

    /** Checks the source's records first, since a crash would say less. */
    private void checkHasMemory(final Block block) {
        assertTrue(source.hasMemory(block.address, block.sizeBytes), () -> block + " must have memory");
    }

    private long lastOfPiece(final Block block, final long offset) {
        return Math.min(offset + pieceBytes, block.sizeBytes) - Long.BYTES;
    }

    /** Returns a pattern. The factor is odd, so no two patterns are equal. */
    private static long pattern(final Block block, final long offset) {
        return (block.number << 32 | offset) * 0x9E3779B97F4A7C15L;
    }
}
