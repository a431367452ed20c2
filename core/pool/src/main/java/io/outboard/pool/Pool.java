package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.MemorySource;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyProvider;
import io.outboard.pool.internal.guard.Failures;
import io.outboard.pool.internal.guard.OwnThreads;
import io.outboard.pool.internal.limbo.Limbo;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * Device memory for an application: regions from a {@link MemorySource}, a strategy for each, growth, many threads, and
 * reuse that is as safe as {@code cudaFree}.
 *
 * <p>A request that finds nothing makes the pool, in this order: give limbo back, as far as its {@link ReusePolicy} allows;
 * take another region; ask the {@link OutOfMemoryHandler}s; wait for what is still in limbo; throw
 * {@link DeviceOutOfMemoryException}. With {@link ReusePolicy#STRICT} and a busy device, a thread of the pool's own waits for
 * it. A request waits for that thread for a moment, which is no longer than taking a region takes, then the pool grows as
 * long as it holds no more than eight times what was in use at the peak; then the request waits for the device, and only then
 * are handlers asked.
 *
 * <p>Growth: the first region has {@link PoolBuilder#firstRegionBytes}, each further one as much as the pool holds by then,
 * so that regions stay few, but at least what the strategy needs to serve the request ({@link
 * StrategyProvider#regionBytesFor}) and never more than the limit leaves. Where the device hasn't so much, half is tried, and
 * so on down to that. A block never spans regions.
 *
 * <p>Growth in place, where the source can ({@link MemorySource#reserve}; {@link PoolBuilder#growInPlace}): one region has
 * addresses for all that the limit and the device allow, and one strategy divides it; memory is put behind it piece by piece:
 * what a large request needs, of its own, and for small ones as much as costs little, {@link PoolBuilder#firstRegionBytes} at first.
 * A strategy that prefers low addresses keeps that short; one that goes round all addresses, as next fit does, works as well but has
 * more committed. Whole regions follow only if addresses or the strategy's tables run out.
 *
 * <p>Memory that moves, where the strategy can give up free memory as well ({@link StrategyProvider#canRetireFree}: {@code tlsf}, {@code
 * tlsf-frugal}, {@code segregated-fit} and {@code pooled}): the region has 16 times as many addresses as memory, and when limit or device allow no more,
 * a request for which there is room in all but in no one place is served from whole pieces in free blocks, which move to addresses
 * side by side: after the wait for what is in limbo, and before handlers are asked unless the policy isn't {@link
 * ReusePolicy#STRICT} and something is in limbo. So <em>fragmented</em> is what lies within pieces alone. That takes some 40
 * microseconds a piece, of which a block of some size has its own. It waits for the device with {@link ReusePolicy#IMMEDIATE}
 * alone, whose free memory may still be worked on; and nothing moves while a stream is captured.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the strategy and some ten nanoseconds for one thread;
 * the policies other than {@link ReusePolicy#IMMEDIATE} add some ten more. No garbage on the way of a request that
 * finds memory. Host memory: that of the strategies, and some 30 bytes for each block in limbo.
 */
public final class Pool extends PoolBlocks implements AutoCloseable {

    Pool(final PoolBuilder builder) {
        super(builder, new OwnThreads());
    }

    /**
     * BlockStarts to describe a pool.
     *
     * @param source where regions come from; the pool doesn't close it
     * @return a builder with defaults: {@code tlsf}, {@link ReusePolicy#STRICT} over a {@link DeviceMemorySource} and
     *     {@link ReusePolicy#IMMEDIATE} over any other, regions from 64 MiB, no limit
     */
    public static PoolBuilder over(final MemorySource source) {
        return new PoolBuilder(source);
    }

    // Allocating

    /**
     * Takes a block.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @return absolute device address, a multiple of the granule
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing changes
     * @throws IllegalStateException if the pool is closed
     * @throws DeviceOutOfMemoryException if there is no memory for it, after all that the class comment lists
     * @throws BlockTableFullException if a block fits but the host-side tables can't hold one more; nothing changes
     */
    public long allocate(final long sizeBytes) {
        return allocate(sizeBytes, 1);
    }

    /**
     * Takes a block whose address is a multiple of {@code alignmentBytes}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param alignmentBytes any power of two
     * @return absolute device address, a multiple of the granule and of {@code alignmentBytes}
     * @throws IllegalArgumentException if {@code sizeBytes <= 0} or {@code alignmentBytes} isn't a power of two; nothing
     *     changes
     * @throws IllegalStateException if the pool is closed
     * @throws DeviceOutOfMemoryException if there is no memory for it, after all that the class comment lists
     * @throws BlockTableFullException if a block fits but the host-side tables can't hold one more; nothing changes
     */
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        return take(sizeBytes, alignmentBytes);
    }

    /**
     * Takes a block as an object that is closed instead of freed, and whose loss is noticed; see
     * {@link PoolBuilder#leakLevel}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @return a buffer, open
     * @throws RuntimeException as {@link #allocate(long)}
     */
    public DeviceBuffer buffer(final long sizeBytes) {
        return own(allocate(sizeBytes), sizeBytes, Limbo.ALL_STREAMS);
    }

    /**
     * As {@link #buffer(long)}, at an address that is a multiple of {@code alignmentBytes}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param alignmentBytes any power of two
     * @return a buffer, open
     * @throws RuntimeException as {@link #allocate(long, long)}
     */
    public DeviceBuffer buffer(final long sizeBytes, final long alignmentBytes) {
        return own(allocate(sizeBytes, alignmentBytes), sizeBytes, Limbo.ALL_STREAMS);
    }

    /**
     * As {@link #buffer(long)}, for work on one stream: taken as by {@link #allocateAsync}, and closing it frees it as {@link #freeAsync}
     * does on that stream, which must exist until then.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param stream handle of the stream, 0 for the default one
     * @return a buffer, open
     * @throws RuntimeException as {@link #allocate(long)}
     */
    public DeviceBuffer bufferAsync(final long sizeBytes, final long stream) {
        return own(allocateAsync(sizeBytes, stream), sizeBytes, stream);
    }

    /**
     * Takes a block for work on one stream. With {@link ReusePolicy#STREAM_ORDERED}, blocks that were freed on the same
     * stream come first: they need no wait. With other policies as {@link #allocate(long)}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param stream handle of the stream, 0 for the default one
     * @return absolute device address, a multiple of the granule
     * @throws RuntimeException as {@link #allocate(long)}
     */
    public long allocateAsync(final long sizeBytes, final long stream) {
        return takeAsync(sizeBytes, stream);
    }

    // Freeing

    /**
     * Gives a block back. When it may be handed out again is up to the {@link ReusePolicy}. This call asks the device now and
     * then what it has finished, with {@link ReusePolicy#STRICT} when limbo passes a limit that was set, and doesn't wait for
     * its work. What the device fails with then is thrown, and the block is freed all the same.
     *
     * @param address what an allocation returned, not freed since
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalStateException if the pool is closed
     */
    public void free(final long address) {
        freeAsync(address, Limbo.ALL_STREAMS);
    }

    /**
     * Gives a block back that only work on one stream uses: with {@link ReusePolicy#STREAM_ORDERED} it may be handed out
     * for the same stream at once. With other policies as {@link #free}.
     *
     * @param address what an allocation returned, not freed since
     * @param stream handle of the stream, 0 for the default one
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalStateException if the pool is closed
     */
    public void freeAsync(final long address, final long stream) {
        giveBack(address, stream);
    }

    /**
     * Tells the pool that a stream is about to be destroyed: what was freed on it must be marked while it exists. What the
     * device fails with is thrown, and the stream may be destroyed all the same.
     *
     * @param stream its handle
     */
    public void streamEnds(final long stream) {
        recycler.streamEnds(stream);
    }

    // Resizing and asking

    /**
     * Shrinks a block in place. The tail is freed as {@link #free} frees a block: it comes back when the {@link ReusePolicy}
     * allows, since a kernel may still write to it. A strategy whose blocks have fixed sizes may keep some of the tail, and with
     * a policy other than {@link ReusePolicy#IMMEDIATE} those other than {@code tlsf}, {@code tlsf-frugal},
     * {@code segregated-fit} and {@code pooled} keep all of it; {@link #sizeOf} tells.
     *
     * @param address start of a block in use
     * @param newSizeBytes what to keep, in bytes, {@code 0 < newSizeBytes <= sizeOf(address)}
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is outside of its range; nothing changes
     * @throws BlockTableFullException if the tables can't hold the tail as a block of its own; nothing changes
     * @throws IllegalStateException if the pool is closed
     */
    public void trim(final long address, final long newSizeBytes) {
        shrink(address, newSizeBytes);
    }

    /**
     * Grows a block in place if what follows is free; a region that grows in place does so for it. See
     * {@link Strategy#extend}.
     *
     * @param address start of a block in use
     * @param newSizeBytes the new size in bytes, {@code sizeOf(address) <= newSizeBytes}
     * @return true if the block has the new size now, false if there is no room and nothing changed
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is less than the block's size; nothing changes
     * @throws IllegalStateException if the pool is closed
     */
    public boolean extend(final long address, final long newSizeBytes) {
        return grow(address, newSizeBytes);
    }

    /**
     * The size of a block in use.
     *
     * @param address start of a block in use
     * @return bytes, a multiple of the granule
     * @throws InvalidAddressException if no block in use starts at {@code address}
     * @throws IllegalStateException if the pool is closed
     */
    public long sizeOf(final long address) {
        return measure(address);
    }

    /**
     * Whether an address lies in a region of this pool, in use or not. Never waits.
     *
     * @param address any number
     * @return true if it does; of a region whose memory moves, also where its memory has moved away
     */
    public boolean contains(final long address) {
        return arenas.holds(address);
    }

    // Giving back

    /**
     * Gives limbo back as far as the policy allows, then regions to the memory source in which nothing is in use, the one
     * taken last first, until the pool holds no more than so much. Of a region that grows in place goes what lies behind its
     * last block in use, and where the source's memory can move, whole free units from anywhere. While a stream is captured into a
     * graph nothing is given back, since that would break the capture.
     *
     * @param bytes what the pool may keep, in bytes, {@code 0 <= bytes}
     * @return what it holds now, in bytes; more than asked for if blocks in use stand in the way
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     */
    public long trimTo(final long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
        }
        if (arenas.totals.heldBytes() > bytes && !recycler.isCapturing()) {
            recycler.recycle();
            arenas.releaseAll();
            growth.trimTo(bytes, recycler::isCapturing);
        }
        return arenas.totals.heldBytes();
    }

    /**
     * Waits for the device, and gives every region back. Blocks that are still in use are reported as a warning to the
     * logger {@code io.outboard.core}, with the largest of them. Idempotent; afterwards the pool is
     * empty, and what takes, frees, resizes or measures a block throws {@link IllegalStateException}. What the device or the
     * memory source fails with is thrown when all regions have been tried: the first failure, with others suppressed.
     */
    @Override
    public void close() {
        synchronized (exhaustion) {
            if (arenas.isClosed()) {
                return;
            }
            arenas.close();
        }
        idle.end();
        final Failures failures = new Failures();
        failures.attempt(exhaustion::end);
        failures.attempt(diagnosis::reportLeft);
        failures.attempt(recycler::end);
        failures.attempt(growth::end);
        failures.attempt(this::hide);
        failures.attempt(this::stopRecording);
        failures.rethrow();
    }

    /**
     * Tells that a step of the program begins that it repeats: a strategy that follows a plan begins with it anew. Others do nothing. It
     * stops the pool for a moment. One thread is to call this and to allocate what the plan has.
     *
     * @throws IllegalStateException if the pool is closed
     */
    public void step() {
        beginStep();
    }

    // Observing

    /**
     * Adds one that is asked when memory is exhausted, after those that are there.
     *
     * @param handler what to ask
     */
    public void addOutOfMemoryHandler(final OutOfMemoryHandler handler) {
        exhaustion.add(Objects.requireNonNull(handler, "handler"));
    }

    /**
     * The state now. Never waits.
     *
     * @return numbers
     */
    public PoolStatistics statistics() {
        return diagnosis.statistics();
    }

    /**
     * Size of the largest free block. For diagnosis: it stops the pool, and may look at many blocks.
     *
     * @return bytes, 0 if no block is free
     */
    public long largestFreeBlockBytes() {
        return diagnosis.largestFreeBlockBytes();
    }

    /**
     * The largest blocks in use, largest first. For diagnosis: it stops the pool, and looks at every block.
     *
     * @return up to eight
     */
    public List<Holder> largestHolders() {
        return diagnosis.largestHolders();
    }

    /**
     * Writes the state as JSON: an object with {@code statistics} as {@link PoolStatistics}, without a limit that there isn't, {@code regions},
     * {@code blocks} of all regions, with {@code state} {@code free}, {@code used} or {@code limbo}, and {@code holders},
     * the largest blocks in use, largest first. Addresses are strings such as {@code "0x10000000000"}; {@code site} is the
     * call that allocated a block, where it is known, see {@link Holder#site}. {@code name} is there if the pool has one.
     * The pool is stopped while its blocks are copied, 24 bytes each, but not while they are written.
     *
     * @param path the file; replaced if it exists
     * @throws IOException if it can't be written; what is there may be incomplete
     */
    public void dump(final Path path) throws IOException {
        Objects.requireNonNull(path, "path");
        diagnosis.dump(path);
    }

    /**
     * Writes every allocation, free and change of a size to a file from now on, with time, thread, stream and size, until what this
     * returns is closed, the pool is, or the Java virtual machine ends: {@code ./outboard replay}, {@code advise} and {@code plan} read
     * it. What fails isn't in it, and nothing else is left out; where the disk is slow, the program waits for it. Some 50 to 150 ns and 32 bytes of the file for each of them; 0.5
     * to 4 MiB of host memory. Blocks that are in use already aren't in it.
     *
     * @param path the file; replaced if it exists
     * @return what ends the recording. To close it throws an {@link IOException} if not all could be written, which doesn't hinder the pool
     * @throws IOException if the file can't be written, or the machine ends
     * @throws IllegalArgumentException if the path isn't one of the default file system
     * @throws IllegalStateException if the pool is closed, or being recorded already
     */
    public Closeable record(final Path path) throws IOException {
        return startRecording(Objects.requireNonNull(path, "path"));
    }

    /**
     * Shows every block of every region, in the order of addresses within a region; blocks in limbo as in use. It stops the
     * pool meanwhile.
     *
     * @param visitor sees each block; it must not call this pool
     */
    public void forEachBlock(final BlockVisitor visitor) {
        diagnosis.forEachBlock(visitor);
    }

    /**
     * The pool as a person reads it.
     *
     * @return for example {@code pool gpu0 [strict, tlsf, 1 region, 64MiB, no limit: in use 1MiB in 2 blocks ...]}, or {@code closed}
     */
    @Override
    public String toString() {
        return diagnosis.toString();
    }
}
