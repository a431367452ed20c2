package io.outboard.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Device memory for an application: regions from a {@link MemorySource}, a strategy for each, growth, many threads, and
 * reuse that is as safe as {@code cudaFree}.
 *
 * <p>A request that finds nothing makes the pool, in this order: give limbo back, as far as its {@link ReusePolicy} allows;
 * take another region; ask the {@link OutOfMemoryHandler}s; wait for what is still in limbo; throw
 * {@link DeviceOutOfMemoryException}.
 *
 * <p>Growth: the first region has {@link Builder#firstRegionBytes}, each further one as much as the pool holds by then, so
 * that regions stay few, but at least what the request needs and never more than the limit leaves. Where the device hasn't
 * so much, half is tried, and so on down to the request. A block never spans regions.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the strategy and some ten nanoseconds for one thread;
 * the policies other than {@link ReusePolicy#IMMEDIATE} add a look-up or two. No garbage on the way of a request that
 * finds memory. Host memory: that of the strategies, and 30 bytes for each block in limbo.
 */
public final class Pool implements AutoCloseable {

    /** Regions are multiples of this, which is what the driver maps device memory by. */
    private static final long REGION_UNIT_BYTES = 1L << 21;

    /** Of what the pool holds, the share that may be in limbo before {@link ReusePolicy#STRICT} synchronises. */
    private static final long LIMBO_SHARE = 8;

    /** Work finishes in the order of submission as a rule, so behind so many unfinished batches none is looked at. */
    private static final int MOST_UNFINISHED = 4;

    private static final int HOLDERS = 8;
    private static final System.Logger LOGGER = System.getLogger("io.outboard.core");

    private final MemorySource source;
    private final DeviceWork work;
    private final StrategyProvider provider;
    private final StrategyOptions strategyOptions;
    private final ReusePolicy policy;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final long limboLimitBytes;
    private final List<OutOfMemoryHandler> handlers = new CopyOnWriteArrayList<>();
    private final PoolCounters counters = new PoolCounters();

    /** Guards regions, strategies, limbo's open batches and the counters; held for tens of nanoseconds. */
    private final SpinLock lock = new SpinLock();

    /** Guards the batches that were taken from limbo; held while the device is asked or waited for. */
    private final ReentrantLock limboLock = new ReentrantLock();

    /** Guards growing and giving back; held while the memory source works. Never taken while {@link #lock} is held. */
    private final ReentrantLock regionLock = new ReentrantLock();

    private final Limbo limbo = new Limbo();
    private final List<Limbo.Batch> waiting = new ArrayList<>();

    /** Replaced, never changed, under {@link #lock}. Empty once the pool is closed. */
    private volatile PoolRegion[] regions = {};

    /** Where the last block was placed. */
    private int current;

    private volatile boolean closed;

    private record PoolRegion(Region taken, Region used, Strategy strategy) {}

    private Pool(final Builder builder) {
        source = builder.source;
        work = builder.work;
        provider = Strategies.named(builder.strategy);
        strategyOptions = builder.strategyOptions;
        policy = builder.policy;
        limitBytes = builder.limitBytes;
        firstRegionBytes = builder.firstRegionBytes;
        limboLimitBytes = builder.limboLimitBytes;
    }

    /**
     * Starts to describe a pool.
     *
     * @param source where regions come from; the pool doesn't close it
     * @return a builder with defaults: {@code tlsf}, {@link ReusePolicy#IMMEDIATE} over {@link DeviceWork#NONE}, regions
     *     from 64 MiB, no limit
     */
    public static Builder over(final MemorySource source) {
        return new Builder(source);
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
     */
    public long allocate(final long sizeBytes) {
        lock.lock();
        try {
            final long address = place(sizeBytes, 1);
            if (address != Strategy.NO_SPACE) {
                return address;
            }
        } finally {
            lock.unlock();
        }
        return allocateSlowly(sizeBytes, 1);
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
     * @throws DeviceOutOfMemoryException if there is no memory for it
     */
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        AbstractStrategy.checkAlignment(alignmentBytes);
        lock.lock();
        try {
            final long address = place(sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE) {
                return address;
            }
        } finally {
            lock.unlock();
        }
        return allocateSlowly(sizeBytes, alignmentBytes);
    }

    /**
     * Takes a block for work on one stream. With {@link ReusePolicy#STREAM_ORDERED}, blocks that were freed on the same
     * stream come first: they need no wait. With other policies as {@link #allocate(long)}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param stream handle of the stream, 0 for the default one
     * @return absolute device address, a multiple of the granule
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing changes
     * @throws IllegalStateException if the pool is closed
     * @throws DeviceOutOfMemoryException if there is no memory for it
     */
    public long allocateAsync(final long sizeBytes, final long stream) {
        if (policy != ReusePolicy.STREAM_ORDERED) {
            return allocate(sizeBytes);
        }
        AbstractStrategy.checkSize(sizeBytes);
        lock.lock();
        try {
            final long reused = limbo.reuse(sizeBytes, stream);
            if (reused != Strategy.NO_SPACE) {
                counters.reused(find(reused).strategy.sizeOf(reused), limbo.bytes());
                return reused;
            }
            final long address = place(sizeBytes, 1);
            if (address != Strategy.NO_SPACE) {
                return address;
            }
        } finally {
            lock.unlock();
        }
        return allocateSlowly(sizeBytes, 1);
    }

    /** The lock is held. Tries each region once, from the one that served last. */
    private long place(final long sizeBytes, final long alignmentBytes) {
        final PoolRegion[] all = regions;
        int index = current;
        for (int tried = 0; tried < all.length; tried++) {
            final Strategy strategy = all[index].strategy;
            final long before = strategy.freeBytes();
            final long address =
                    alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE) {
                current = index;
                counters.allocated(before - strategy.freeBytes());
                return address;
            }
            index = index + 1 == all.length ? 0 : index + 1;
        }
        return Strategy.NO_SPACE;
    }

    private long placeLocked(final long sizeBytes, final long alignmentBytes) {
        lock.lock();
        try {
            return place(sizeBytes, alignmentBytes);
        } finally {
            lock.unlock();
        }
    }

    private long allocateSlowly(final long sizeBytes, final long alignmentBytes) {
        AbstractStrategy.checkSize(sizeBytes);
        checkOpen();
        long address = Strategy.NO_SPACE;
        if (recycle(true, false)) {
            address = placeLocked(sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE) {
            address = growAndPlace(sizeBytes, alignmentBytes);
        }
        for (final OutOfMemoryHandler handler : handlers) {
            while (address == Strategy.NO_SPACE && handler.free(sizeBytes, statistics())) {
                recycle(true, false);
                address = placeLocked(sizeBytes, alignmentBytes);
            }
        }
        if (address == Strategy.NO_SPACE && recycle(true, true)) {
            address = placeLocked(sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE) {
            throw DeviceOutOfMemoryException.ofPool(sizeBytes, statistics(), largestFreeBlockBytes(), largestHolders());
        }
        return address;
    }

    // Freeing

    /**
     * Gives a block back. When it may be handed out again is up to the {@link ReusePolicy}; for {@link ReusePolicy#STRICT}
     * this call waits for the device when limbo passes its limit.
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
        final boolean limboIsFull;
        lock.lock();
        try {
            final Strategy strategy = find(address).strategy;
            if (policy == ReusePolicy.IMMEDIATE) {
                final long before = strategy.freeBytes();
                strategy.free(address);
                counters.freed(strategy.freeBytes() - before, 0);
                return;
            }
            final long sizeBytes = strategy.sizeOf(address);
            if (!limbo.add(address, sizeBytes, policy == ReusePolicy.STREAM_ORDERED ? stream : Limbo.ALL_STREAMS)) {
                throw inLimbo(address);
            }
            counters.freed(sizeBytes, limbo.bytes());
            limboIsFull = policy == ReusePolicy.STRICT ? limbo.bytes() > limboLimitBytes() : limbo.hasFullBatch();
        } finally {
            lock.unlock();
        }
        if (limboIsFull) {
            recycle(policy == ReusePolicy.STRICT, false);
        }
    }

    /** The lock is held. */
    private long limboLimitBytes() {
        return Math.min(limboLimitBytes, counters.heldBytes() / LIMBO_SHARE);
    }

    /**
     * Tells the pool that a stream is about to be destroyed: what was freed on it must be marked while it exists.
     *
     * @param stream its handle
     */
    public void streamEnds(final long stream) {
        if (policy != ReusePolicy.STREAM_ORDERED) {
            return;
        }
        limboLock.lock();
        try {
            lock.lock();
            try {
                limbo.takeBatch(stream, waiting);
            } finally {
                lock.unlock();
            }
            markWaiting();
        } finally {
            limboLock.unlock();
        }
    }

    /**
     * Gives back what is in limbo and no longer used by the device.
     *
     * @param needed false if it only saves work to do it now: then another thread that is at it does it for this one
     * @param wait whether to wait for unfinished work; {@code STRICT} always does
     * @return whether any memory came back meanwhile
     */
    private boolean recycle(final boolean needed, final boolean wait) {
        final long before = counters.recycled();
        if (needed) {
            limboLock.lock();
        } else if (!limboLock.tryLock()) {
            return false;
        }
        try {
            // Who waited for another thread's synchronisation may find that this was enough.
            if ((!needed || counters.recycled() == before) && !closed && !work.isCapturing()) {
                lock.lock();
                try {
                    limbo.takeBatches(needed, waiting);
                } finally {
                    lock.unlock();
                }
                if (policy == ReusePolicy.STRICT) {
                    releaseAfterSynchronising();
                } else {
                    releaseFinished(wait);
                }
            }
        } finally {
            limboLock.unlock();
        }
        return counters.recycled() != before;
    }

    /** The limbo lock is held. If synchronising fails, all stays in limbo. */
    private void releaseAfterSynchronising() {
        if (!waiting.isEmpty()) {
            work.synchronize();
            counters.synchronised();
            while (!waiting.isEmpty()) {
                release(waiting.remove(waiting.size() - 1));
            }
        }
    }

    /** The limbo lock is held. If the device fails, what isn't released yet stays in limbo. */
    private void releaseFinished(final boolean wait) {
        markWaiting();
        int unfinished = 0;
        int i = 0;
        while (i < waiting.size() && unfinished < MOST_UNFINISHED) {
            final Limbo.Batch batch = waiting.get(i);
            if (wait) {
                work.await(batch.mark);
            }
            if (work.isFinished(batch.mark)) {
                waiting.remove(i);
                work.release(batch.mark);
                release(batch);
            } else {
                unfinished++;
                i++;
            }
        }
    }

    /** The limbo lock is held. */
    private void markWaiting() {
        for (int i = 0; i < waiting.size(); i++) {
            final Limbo.Batch batch = waiting.get(i);
            if (batch.mark == Limbo.Batch.UNMARKED) {
                batch.mark = batch.stream == Limbo.ALL_STREAMS ? work.mark() : work.mark(batch.stream);
            }
        }
    }

    /** Frees the blocks of a batch for good: some microseconds. */
    private void release(final Limbo.Batch batch) {
        lock.lock();
        try {
            for (int i = 0; i < batch.count; i++) {
                limbo.remove(batch.addresses[i], batch.sizes[i]);
                find(batch.addresses[i]).strategy.free(batch.addresses[i]);
            }
            counters.recycled(limbo.bytes());
            limbo.recycle(batch);
        } finally {
            lock.unlock();
        }
    }

    // Resizing and asking

    /**
     * Shrinks a block in place; the tail is free at once, whatever the policy. See {@link Strategy#trim}.
     *
     * @param address start of a block in use
     * @param newSizeBytes what to keep, in bytes, {@code 0 < newSizeBytes <= sizeOf(address)}
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is outside of its range; nothing changes
     */
    public void trim(final long address, final long newSizeBytes) {
        lock.lock();
        try {
            final Strategy strategy = findLive(address).strategy;
            final long before = strategy.freeBytes();
            strategy.trim(address, newSizeBytes);
            counters.resized(before - strategy.freeBytes());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Grows a block in place if what follows is free. See {@link Strategy#extend}.
     *
     * @param address start of a block in use
     * @param newSizeBytes the new size in bytes, {@code sizeOf(address) <= newSizeBytes}
     * @return true if the block has the new size now, false if there is no room and nothing changed
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is less than the block's size; nothing changes
     */
    public boolean extend(final long address, final long newSizeBytes) {
        lock.lock();
        try {
            final Strategy strategy = findLive(address).strategy;
            final long before = strategy.freeBytes();
            final boolean granted = strategy.extend(address, newSizeBytes);
            counters.resized(before - strategy.freeBytes());
            return granted;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The size of a block in use.
     *
     * @param address start of a block in use
     * @return bytes, a multiple of the granule
     * @throws InvalidAddressException if no block in use starts at {@code address}
     */
    public long sizeOf(final long address) {
        lock.lock();
        try {
            return findLive(address).strategy.sizeOf(address);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether an address lies in a region of this pool, in use or not. Never waits.
     *
     * @param address any number
     * @return true if the pool holds the byte at this address
     */
    public boolean contains(final long address) {
        return indexOf(regions, address) >= 0;
    }

    private static int indexOf(final PoolRegion[] regions, final long address) {
        for (int i = 0; i < regions.length; i++) {
            if (regions[i].used.contains(address)) {
                return i;
            }
        }
        return -1;
    }

    /** The lock is held. */
    private PoolRegion find(final long address) {
        final PoolRegion[] all = regions;
        final int index = indexOf(all, address);
        if (index < 0) {
            checkOpen();
            throw new InvalidAddressException(
                    address,
                    "address=0x" + Long.toHexString(address)
                            + " must be the start of a block in use: it lies in none of the pool's " + all.length
                            + " regions");
        }
        return all[index];
    }

    /** The lock is held. */
    private PoolRegion findLive(final long address) {
        final PoolRegion region = find(address);
        if (limbo.contains(address)) {
            throw inLimbo(address);
        }
        return region;
    }

    private static InvalidAddressException inLimbo(final long address) {
        return new InvalidAddressException(
                address,
                "address=0x" + Long.toHexString(address)
                        + " must be the start of a block in use: it was freed already and waits in limbo");
    }

    // Growing and giving back

    private long growAndPlace(final long sizeBytes, final long alignmentBytes) {
        regionLock.lock();
        try {
            // Another thread may have grown the pool while this one waited to do so.
            final long address = placeLocked(sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE || !grow(sizeBytes, alignmentBytes)) {
                return address;
            }
            return placeLocked(sizeBytes, alignmentBytes);
        } finally {
            regionLock.unlock();
        }
    }

    /** The region lock is held. False if the limit or the device doesn't allow a region that serves the request. */
    private boolean grow(final long sizeBytes, final long alignmentBytes) {
        checkOpen();
        final long granuleBytes = strategyOptions.granuleBytes();
        final long leftBytes = limitBytes - counters.heldBytes();
        final long paddingBytes = Math.max(alignmentBytes, granuleBytes);
        if (sizeBytes > leftBytes || paddingBytes > leftBytes) {
            return false;
        }
        // Regions start at a multiple of 256 bytes at least; where more is asked for, the worst padding is added.
        final long leastBytes = roundUp(sizeBytes, granuleBytes) + (paddingBytes > 256 ? paddingBytes : 0);
        final long goodBytes =
                Math.max(leastBytes, counters.heldBytes() == 0 ? firstRegionBytes : counters.heldBytes());
        long regionBytes = Math.min(roundUp(goodBytes, REGION_UNIT_BYTES), leftBytes);
        while (regionBytes >= leastBytes) {
            try {
                add(source.take(regionBytes));
                return true;
            } catch (final DeviceOutOfMemoryException e) {
                regionBytes = regionBytes == leastBytes ? 0 : Math.max(regionBytes / 2, leastBytes);
            }
        }
        return false;
    }

    private void add(final Region taken) {
        try {
            // A source may know nothing of large granules.
            final long paddingBytes = -taken.address() & (strategyOptions.granuleBytes() - 1);
            final Region used = new Region(taken.address() + paddingBytes, taken.sizeBytes() - paddingBytes);
            final PoolRegion added = new PoolRegion(taken, used, provider.create(used, strategyOptions));
            lock.lock();
            try {
                final PoolRegion[] all = Arrays.copyOf(regions, regions.length + 1);
                all[all.length - 1] = added;
                replaceRegions(all, taken.sizeBytes());
                current = all.length - 1;
            } finally {
                lock.unlock();
            }
        } catch (final RuntimeException e) {
            source.giveBack(taken);
            throw e;
        }
    }

    /** The lock is held. */
    private void replaceRegions(final PoolRegion[] all, final long addedBytes) {
        regions = all;
        current = 0;
        counters.held(all.length, counters.heldBytes() + addedBytes);
    }

    /**
     * Gives limbo back as far as the policy allows, then regions to the memory source in which nothing is in use, until
     * the pool holds no more than so much.
     *
     * @param bytes what the pool may keep, in bytes, {@code 0 <= bytes}
     * @return what it holds now, in bytes; more than asked for if blocks in use stand in the way
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     */
    public long trimTo(final long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
        }
        if (counters.heldBytes() > bytes) {
            recycle(true, false);
        }
        regionLock.lock();
        try {
            while (counters.heldBytes() > bytes) {
                final PoolRegion empty = removeEmptyRegion();
                if (empty == null) {
                    break;
                }
                giveBack(empty);
            }
            return counters.heldBytes();
        } finally {
            regionLock.unlock();
        }
    }

    /** The one taken last, since it is the largest as a rule; null if something is in use in each. */
    private @Nullable PoolRegion removeEmptyRegion() {
        lock.lock();
        try {
            for (int i = regions.length - 1; i >= 0; i--) {
                final PoolRegion region = regions[i];
                if (region.strategy.liveBlocks() == 0) {
                    final List<PoolRegion> rest = new ArrayList<>(List.of(regions));
                    rest.remove(i);
                    replaceRegions(rest.toArray(new PoolRegion[0]), -region.taken.sizeBytes());
                    return region;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(final PoolRegion region) {
        try {
            source.giveBack(region.taken);
        } catch (final RuntimeException e) {
            // It is still ours, and empty.
            add(region.taken);
            throw e;
        }
    }

    /**
     * Waits for the device, and gives every region back. Blocks that are still in use are reported as a warning to the
     * logger {@code io.outboard.core}, with the largest of them. Idempotent; every later call but {@link #statistics}
     * throws {@link IllegalStateException}.
     */
    @Override
    public void close() {
        regionLock.lock();
        try {
            if (closed) {
                return;
            }
            if (counters.liveBlocks() > 0) {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "a pool is closed with " + counters.liveBlocks() + " blocks in use, " + counters.usedBytes()
                                + " bytes; the largest: " + largestHolders());
            }
            giveBackAll(end());
        } finally {
            regionLock.unlock();
        }
    }

    /** The region lock is held. Nothing is in any region afterwards, nor handed out. */
    private PoolRegion[] end() {
        limboLock.lock();
        try {
            closed = true;
            work.synchronize();
            waiting.clear();
            lock.lock();
            try {
                final PoolRegion[] all = regions;
                replaceRegions(new PoolRegion[0], -counters.heldBytes());
                return all;
            } finally {
                lock.unlock();
            }
        } finally {
            limboLock.unlock();
        }
    }

    private void giveBackAll(final PoolRegion[] all) {
        RuntimeException failure = null;
        for (final PoolRegion region : all) {
            try {
                source.giveBack(region.taken);
            } catch (final RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the pool is closed");
        }
    }

    // Observing

    /**
     * Adds one that is asked when memory is exhausted, after those that are there.
     *
     * @param handler what to ask
     */
    public void addOutOfMemoryHandler(final OutOfMemoryHandler handler) {
        handlers.add(Objects.requireNonNull(handler, "handler"));
    }

    /**
     * The state now. Never waits.
     *
     * @return numbers
     */
    public PoolStatistics statistics() {
        return counters.statistics(limitBytes);
    }

    /**
     * Size of the largest free block. For diagnosis: it stops the pool, and may look at many blocks.
     *
     * @return bytes, 0 if no block is free
     */
    public long largestFreeBlockBytes() {
        lock.lock();
        try {
            long largest = 0;
            for (final PoolRegion region : regions) {
                largest = Math.max(largest, region.strategy.largestFreeBlockBytes());
            }
            return largest;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The largest blocks in use, largest first. For diagnosis: it stops the pool, and looks at every block.
     *
     * @return up to eight
     */
    public List<Holder> largestHolders() {
        final List<Holder> holders = new ArrayList<>();
        forEachBlock((address, sizeBytes, free) -> {
            if (!free && !limbo.contains(address)) {
                holders.add(new Holder(address, sizeBytes));
                if (holders.size() == 2 * HOLDERS) {
                    keepLargest(holders);
                }
            }
        });
        keepLargest(holders);
        return List.copyOf(holders);
    }

    private static void keepLargest(final List<Holder> holders) {
        holders.sort(Comparator.comparingLong(Holder::sizeBytes).reversed());
        holders.subList(Math.min(HOLDERS, holders.size()), holders.size()).clear();
    }

    /**
     * Shows every block of every region, in the order of addresses within a region; blocks in limbo as in use. It stops the
     * pool meanwhile.
     *
     * @param visitor sees each block; it must not call this pool
     */
    public void forEachBlock(final BlockVisitor visitor) {
        lock.lock();
        try {
            for (final PoolRegion region : regions) {
                region.strategy.forEachBlock(visitor);
            }
        } finally {
            lock.unlock();
        }
    }

    private static long roundUp(final long value, final long multiple) {
        return (value + multiple - 1) & -multiple;
    }

    /** Describes a pool. Confined to one thread. */
    public static final class Builder {

        private final MemorySource source;
        private DeviceWork work = DeviceWork.NONE;
        private String strategy = "tlsf";
        private StrategyOptions strategyOptions = StrategyOptions.DEFAULTS;
        private ReusePolicy policy = ReusePolicy.IMMEDIATE;
        private long firstRegionBytes = 64L << 20;
        private long limitBytes = 1L << 62;
        private long limboLimitBytes = Long.MAX_VALUE;

        private Builder(final MemorySource source) {
            this.source = Objects.requireNonNull(source, "source");
        }

        /**
         * When freed blocks may be handed out again.
         *
         * @param newPolicy the policy
         * @param newWork tells it what the device has finished; {@link DeviceWork#NONE} for {@link ReusePolicy#IMMEDIATE}
         * @return this builder
         */
        public Builder reuse(final ReusePolicy newPolicy, final DeviceWork newWork) {
            policy = Objects.requireNonNull(newPolicy, "newPolicy");
            work = Objects.requireNonNull(newWork, "newWork");
            return this;
        }

        /**
         * The algorithm that divides regions.
         *
         * @param newStrategy name of a strategy, such as {@code tlsf}
         * @param newOptions granule and table sizes, for each region
         * @return this builder
         */
        public Builder strategy(final String newStrategy, final StrategyOptions newOptions) {
            strategy = Objects.requireNonNull(newStrategy, "newStrategy");
            strategyOptions = Objects.requireNonNull(newOptions, "newOptions");
            return this;
        }

        /**
         * Size of the first region, which is taken when memory is first asked for.
         *
         * @param bytes {@code 0 < bytes <= 2^62}; rounded up to 2 MiB where the limit allows
         * @return this builder
         * @throws IllegalArgumentException if {@code bytes} is outside of its range
         */
        public Builder firstRegionBytes(final long bytes) {
            firstRegionBytes = checkBytes("firstRegionBytes", bytes);
            return this;
        }

        /**
         * Most that the pool may hold.
         *
         * @param bytes {@code 0 < bytes <= 2^62}
         * @return this builder
         * @throws IllegalArgumentException if {@code bytes} is outside of its range
         */
        public Builder limitBytes(final long bytes) {
            limitBytes = checkBytes("limitBytes", bytes);
            return this;
        }

        /**
         * Most that may be in limbo before {@link ReusePolicy#STRICT} synchronises though memory isn't needed; never more
         * than an eighth of what the pool holds, which is the default.
         *
         * @param bytes {@code 0 < bytes <= 2^62}
         * @return this builder
         * @throws IllegalArgumentException if {@code bytes} is outside of its range
         */
        public Builder limboLimitBytes(final long bytes) {
            limboLimitBytes = checkBytes("limboLimitBytes", bytes);
            return this;
        }

        /**
         * Makes the pool, which holds nothing yet.
         *
         * @return a new pool
         * @throws IllegalArgumentException if no strategy has that name
         */
        public Pool build() {
            return new Pool(this);
        }

        private static long checkBytes(final String name, final long bytes) {
            if (bytes <= 0 || bytes > 1L << 62) {
                throw new IllegalArgumentException(name + "=" + bytes + " must be > 0 and <= 2^62");
            }
            return bytes;
        }
    }
}
