package io.outboard.pool;

import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.pool.internal.arena.Streams;
import io.outboard.pool.internal.guard.Failures;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The poison check finds writes behind the end of a block and after its free. It fills memory with a pattern, and looks
 * later whether the pattern is still there:
 *
 * <pre>
 *   |  block as asked for  |   red zone   |  another block  ...      in use
 *   |  FRESH at first      |     DEAD     |
 *   |                 DEAD                |  another block  ...      freed
 *   address            + sizeBytes    endAddress
 * </pre>
 *
 * <p>A red zone is verified when its block is freed or resized, and freed memory when it is handed out again or leaves
 * the pool; all of both by {@link #checkAll} and {@link #end}. A free waits until the work has finished that may use
 * the block. While a stream is captured, nobody may wait, fill or read: blocks that are allocated, freed or resized
 * meanwhile aren't watched. What is found is kept until {@link #report}, which the pool calls without a lock.
 *
 * <p>Thread-safety: safe for any number of threads, one of which fills and reads at a time. Cost: the device's time to
 * fill and read memory; 2 MiB of host memory, and about a kilobyte for each block in use, and for each freed one of
 * which no other block has all bytes yet.
 */
final class PoisonCheck {

    /** The least size of a red zone, so that 32 threads of which each writes 16 bytes don't reach over it. */
    private static final long RED_ZONE_BYTES = 512;

    /** The value of fresh bytes: they are a NaN in every format of floating-point numbers, and -1 as integers. */
    private static final byte FRESH = -1;

    /**
     * The value of bytes that nobody may write. It is another one, since programs do fill memory with -1. Floats of
     * these bytes are huge.
     */
    private static final byte DEAD = (byte) 0xFB;

    private static final int CHUNK_BYTES = 1 << 20;

    private static final String BEHIND_END = "behind the end";
    private static final String AFTER_FREE = "after the free";

    private final String label;
    private final AccessibleMemorySource source;
    private final DeviceWork work;
    private final Consumer<? super MemoryCorruptionException> handler;

    // The monitor guards all below, except what was found.

    private final Map<Long, Block> used = new HashMap<>();

    /** The parts of freed blocks that nobody was handed yet, by their first addresses. They don't overlap. */
    private final NavigableMap<Long, Poisoned> poisoned = new TreeMap<>();

    private boolean ended;

    private final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
    private final ByteBuffer pattern = ByteBuffer.allocate(CHUNK_BYTES);

    private final Queue<MemoryCorruptionException> found = new ConcurrentLinkedQueue<>();

    /** This is a block in use, or one that was freed as long as a part of it is poisoned. */
    static final class Block {

        private final long address;
        private final Throwable allocatedAt = new Throwable("allocated here");
        private @Nullable Throwable freedAt;
        private long sizeBytes;
        private long endAddress;
        private boolean watched;

        /** True once a wrong byte was found: one is told of each block in use, and of each freed one. */
        private boolean told;

        Block(final long address, final long sizeBytes, final long endAddress) {
            this.address = address;
            this.sizeBytes = sizeBytes;
            this.endAddress = endAddress;
        }

        long redZone() {
            return address + sizeBytes;
        }
    }

    private record Poisoned(long endAddress, Block block) {}

    PoisonCheck(
            final String label,
            final AccessibleMemorySource source,
            final DeviceWork work,
            final Consumer<? super MemoryCorruptionException> handler) {
        this.label = label;
        this.source = source;
        this.work = work;
        this.handler = handler;
        Arrays.fill(pattern.array(), DEAD);
    }

    /** Returns what to ask a pool for, so that a red zone fits behind; a wrong size as it is. */
    static long withRedZone(final long sizeBytes) {
        return sizeBytes <= 0 || sizeBytes > Long.MAX_VALUE - RED_ZONE_BYTES ? sizeBytes : sizeBytes + RED_ZONE_BYTES;
    }

    /** Returns the size of a block as it was asked for; the pool's own if another thread frees the block. */
    synchronized long sizeOf(final long address, final long blockBytes) {
        final Block block = used.get(address);
        return block == null ? blockBytes : block.sizeBytes;
    }

    /** Takes note of a block that nobody uses yet. */
    synchronized void allocated(final long address, final long sizeBytes, final long blockBytes) {
        final Block block = new Block(address, sizeBytes, address + blockBytes);
        verifyPoisoned(address, block.endAddress);
        block.watched = fill(address, block.redZone(), FRESH) && fill(block.redZone(), block.endAddress, DEAD);
        used.put(address, block);
    }

    /** Takes a block out of those in use, for one thread. */
    synchronized Block take(final long address) {
        final Block block = used.remove(address);
        if (block == null) {
            throw new InvalidAddressException(
                    address,
                    "address=0x" + Long.toHexString(address)
                            + " must be the start of a block in use: another thread frees it at this moment");
        }
        return block;
    }

    /** Forgets a block that nobody was handed. */
    synchronized void forget(final long address) {
        used.remove(address);
    }

    /**
     * Poisons a block that was taken, before the pool may hand it on. Returns false if the work that may use the block
     * goes on, since a stream is captured.
     */
    boolean poison(final Block block, final long stream) {
        block.freedAt = new Throwable("freed here");
        if (!awaitWork(stream)) {
            return false;
        }
        synchronized (this) {
            if (block.watched) {
                verify(block, block.redZone(), block.endAddress, BEHIND_END);
                block.told = false;
                if (fill(block.address, block.endAddress, DEAD)) {
                    poisoned.put(block.address, new Poisoned(block.endAddress, block));
                }
            }
        }
        return true;
    }

    /** Moves the red zone of a block that has another size now, and perhaps more memory. */
    void resized(final long address, final long newSizeBytes, final long blockBytes) {
        final boolean idle = awaitWork(Streams.ALL);
        synchronized (this) {
            final Block block = used.get(address);
            if (block == null) {
                // Another thread frees it.
                return;
            }
            final long redZone = block.redZone();
            if (idle && block.watched) {
                verify(block, redZone, block.endAddress, BEHIND_END);
            }
            verifyPoisoned(block.endAddress, address + blockBytes);
            block.sizeBytes = newSizeBytes;
            block.endAddress = address + blockBytes;
            block.watched &=
                    idle && fill(redZone, block.redZone(), FRESH) && fill(block.redZone(), block.endAddress, DEAD);
        }
    }

    /** Verifies memory that is about to leave the pool, and forgets it. */
    synchronized void leaving(final Region region) {
        verifyPoisoned(region.address(), region.endAddress());
    }

    /** Verifies all red zones and all freed memory, as far as they are written by now. */
    synchronized void checkAll() {
        for (final Block block : used.values()) {
            if (block.watched) {
                verify(block, block.redZone(), block.endAddress, BEHIND_END);
            }
        }
        poisoned.forEach((begin, range) -> verify(range.block, begin, range.endAddress, AFTER_FREE));
    }

    /** Does the same for the last time, before the memory goes back. */
    synchronized void end() {
        try {
            checkAll();
        } finally {
            ended = true;
        }
    }

    /** Tells the handler what was found; what it throws is thrown when it was told all. */
    void report() {
        final Failures failures = new Failures();
        for (MemoryCorruptionException next = found.poll(); next != null; next = found.poll()) {
            final MemoryCorruptionException each = next;
            failures.attempt(() -> handler.accept(each));
        }
        failures.rethrow();
    }

    /** Waits for the work that may use a block; returns false if a stream is captured, so that nobody can tell. */
    private boolean awaitWork(final long stream) {
        final long mark = stream == Streams.ALL ? work.mark() : work.mark(stream);
        if (mark == DeviceWork.NO_MARK_LEFT) {
            work.awaitAll();
            return !work.isCapturing();
        }
        if (mark < 0) {
            return false;
        }
        try {
            work.await(mark);
            return work.isFinished(mark);
        } finally {
            work.release(mark);
        }
    }

    // Under the monitor

    private boolean fill(final long begin, final long end, final byte value) {
        return !ended && (begin >= end || source.fill(begin, end - begin, value));
    }

    /** Verifies what is poisoned between two addresses, and forgets it. */
    private void verifyPoisoned(final long begin, final long end) {
        Map.Entry<Long, Poisoned> last = poisoned.lowerEntry(end);
        while (last != null && last.getValue().endAddress > begin) {
            final long from = last.getKey();
            final Poisoned range = last.getValue();
            poisoned.remove(from);
            if (from < begin) {
                poisoned.put(from, new Poisoned(begin, range.block));
            }
            if (range.endAddress > end) {
                poisoned.put(end, range);
            }
            verify(range.block, Math.max(from, begin), Math.min(range.endAddress, end), AFTER_FREE);
            last = poisoned.lowerEntry(from);
        }
    }

    private void verify(final Block block, final long begin, final long end, final String when) {
        for (long at = begin; at < end && !block.told && !ended; at += CHUNK_BYTES) {
            final int bytes = (int) Math.min(CHUNK_BYTES, end - at);
            chunk.limit(bytes);
            if (!source.read(at, chunk)) {
                return;
            }
            final int wrong = chunk.mismatch(pattern.limit(bytes));
            if (wrong >= 0) {
                block.told = true;
                found.add(corruption(block, at + wrong - block.address, chunk.get(wrong), when));
            }
        }
    }

    private MemoryCorruptionException corruption(
            final Block block, final long offsetBytes, final byte value, final String when) {
        final String freed = LeakTracker.lineOf(block.freedAt);
        return new MemoryCorruptionException(
                label + ": 0x" + HexFormat.of().toHexDigits(value) + " was written at offset " + offsetBytes + ", "
                        + when + " of block "
                        + new Holder(block.address, block.sizeBytes, LeakTracker.lineOf(block.allocatedAt))
                        + (freed == null ? "" : ", freed at " + freed),
                block.address,
                block.sizeBytes,
                offsetBytes,
                block.allocatedAt,
                block.freedAt);
    }
}
