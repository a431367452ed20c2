package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.MemorySource;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.spi.Arguments;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.BlockStarts;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.arena.StreamLimbo;
import io.outboard.pool.internal.arena.Streams;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.growth.Growth;
import io.outboard.pool.internal.growth.Regions;
import io.outboard.pool.internal.guard.Failures;
import io.outboard.pool.internal.guard.JavaRuntime;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A pool has device memory for an application: regions from a {@link MemorySource}, a strategy for each, growth, many
 * threads, and reuse that is as safe as {@code cudaFree}.
 *
 * <p>Threads that contend have <em>arenas</em> of their own: a lock, regions, and limbo, where blocks are that were
 * freed while the device may still be using them. A request is placed in what is free in its thread's arena. If nothing
 * fits, the pool takes more memory within its <em>slack</em> ({@link PoolBuilder#slackBytes}), asks the device what it
 * has finished, grows within a bound, looks in other arenas, waits, moves memory to where it is needed, and asks the
 * {@link OutOfMemoryHandler}s, in this order. It throws {@link DeviceOutOfMemoryException} when nothing of that serves
 * the request. Requests that wait stand in a queue, and the oldest is served first.
 *
 * <p>Growth: the first region has {@link PoolBuilder#firstRegionBytes}. A further one of the first arena has as much as
 * the pool holds by then, so that regions stay few. One of another arena has as much as that arena holds, or 32 MiB if
 * that is more, but no more than a first region. Limit, slack and device may leave less. A region has at least what the
 * request needs, and a block never spans regions.
 *
 * <p>Growth in place, where the source can ({@link MemorySource#reserve}; {@link PoolBuilder#growInPlace}): an arena
 * has one region with addresses for all that the limit and the device allow, and memory is put behind it piece by
 * piece: what a large request needs, and for small ones as much as costs little. A strategy that goes round all
 * addresses, as next fit does, has more committed than one that prefers low ones. Whole regions follow only if
 * addresses run out.
 *
 * <p>Memory that moves, where the strategy can give up free memory as well ({@link PartRetiringStrategy}:
 * {@code tlsf}, {@code segregated-fit} and {@code pooled}): when limit or device allow no more, a
 * request for which there is room, but not in one place, is served from whole pieces in free blocks, which move to
 * addresses side by side once what is in limbo has come back. So a request that fails as <em>fragmented</em> has its
 * room in parts of pieces only. Moving takes some 40 microseconds a piece, and a block of some size has pieces of its
 * own. Moving waits for the device only with {@link ReusePolicy#IMMEDIATE}, with which the device may still be using
 * free memory. Nothing moves while a stream is captured.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the strategy and some ten nanoseconds for one thread;
 * the policies other than {@link ReusePolicy#IMMEDIATE} add a few more. A request that finds memory makes no garbage.
 * Host memory: that of the strategies, and some 12 bytes for each block in limbo. A {@link StackOverflowError} in the
 * middle of a change leaves the pool broken: from then on it throws {@link IllegalStateException}, except for {@link
 * #close}. Once a pool is closed, each method that takes, frees, resizes or measures a block throws {@link
 * IllegalStateException}.
 */
public final class Pool implements AutoCloseable {

    /** A stream's work is marked when what was freed on it since the last mark is this share of the slack. */
    private static final long MARKED_SHARE = 8;

    private final ReusePolicy policy;
    private final DeviceWork work;
    final Arenas arenas;
    private final Growth growth;
    final DeviceMarks marks;
    private final AllocationSlowPath slowPath;
    private final PoolEvents events;
    private final PoolObservers observers;
    final Diagnosis diagnosis;
    private final @Nullable LeakTracker tracker;
    private final @Nullable PoisonCheck check;
    final IdleTrimmer idle;
    private final @Nullable String name;

    /** True once JMX doesn't show the pool: another pool may have the name by now. */
    private final AtomicBoolean hidden = new AtomicBoolean();

    /** True once a thread has begun to close the pool. */
    private final AtomicBoolean ending = new AtomicBoolean();

    Pool(final PoolBuilder builder) {
        policy = builder.policy;
        work = builder.work;
        name = builder.name;
        events = new PoolEvents(name);
        arenas = new Arenas(
                policy == ReusePolicy.IMMEDIATE,
                HeldBytes.firstSlackBytes(builder.slackBytes),
                builder.limboLimitBytes,
                builder.spreadArenas);
        check = builder.poisonCheck();
        final Regions regions = new Regions(
                builder.source,
                Strategies.named(builder.strategy),
                builder.strategyOptions,
                builder.limitBytes,
                builder.firstRegionBytes,
                arenas,
                events,
                check == null ? null : check::leaving);
        growth = new Growth(regions, builder.growInPlace, work::isCapturing, freeIsIdle(builder));
        marks = new DeviceMarks(work, arenas.progress, arenas.streams);
        tracker = builder.leakLevel == LeakLevel.OFF
                ? null
                : new LeakTracker(
                        builder.label(),
                        builder.leakLevel,
                        arenas::isClosed,
                        builder.reclaimLeaks ? address -> freeIfOpen(address, Streams.ALL) : null);
        diagnosis = new Diagnosis(builder.facts(events.pool), arenas, marks, tracker);
        final HeldBytes heldBytes = new HeldBytes(arenas, regions, builder.firstRegionBytes, builder.slackBytes);
        slowPath = new AllocationSlowPath(arenas, regions, growth, heldBytes, marks, events, diagnosis);
        observers = new PoolObservers(this, events, builder.strategyOptions.granuleBytes(), builder.listener, check);
        idle = new IdleTrimmer(this, builder, arenas, growth, heldBytes);
    }

    private static BooleanSupplier freeIsIdle(final PoolBuilder builder) {
        final boolean waits = builder.policy == ReusePolicy.IMMEDIATE;
        final DeviceWork work = builder.workOnMemory();
        // Nothing moves while a stream is captured, or while the device may be working on free memory.
        return () -> !work.isCapturing() && (!waits || hasFinished(work));
    }

    private static boolean hasFinished(final DeviceWork work) {
        final long mark = work.mark();
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

    /**
     * Starts to describe a pool.
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
        if (observers.watchAllocations()) {
            return observers.allocated(sizeBytes, 1, Streams.ALL);
        }
        final Arena home = arenas.home();
        final long address = home.allocate(sizeBytes, 1);
        return address >= 0 ? address : slowPath.allocate(home, sizeBytes, 1, Streams.ALL);
    }

    /**
     * Takes a block at an address that is a multiple of {@code alignmentBytes}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param alignmentBytes any power of two
     * @return absolute device address
     * @throws IllegalArgumentException also if {@code alignmentBytes} isn't a power of two; nothing changes
     * @throws RuntimeException as {@link #allocate(long)}
     */
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        return observers.watchAllocations()
                ? observers.allocated(sizeBytes, alignmentBytes, Streams.ALL)
                : allocateUnwatched(sizeBytes, alignmentBytes, Streams.ALL);
    }

    /** Takes a block for one stream or all, and tells no observer. */
    long allocateUnwatched(final long sizeBytes, final long alignmentBytes, final long stream) {
        final Arena home = arenas.home();
        long id = Streams.ALL;
        if (stream != Streams.ALL && policy == ReusePolicy.STREAM_ORDERED) {
            Arguments.checkSize(sizeBytes);
            // This is checked first, since the device that numbers the stream may be gone.
            arenas.checkOpen();
            id = work.idOf(stream);
            final long reused = slowPath.reuse(sizeBytes, id, false);
            if (reused >= 0) {
                return reused;
            }
        }
        final long address = home.allocate(sizeBytes, alignmentBytes);
        return address >= 0 ? address : slowPath.allocate(home, sizeBytes, alignmentBytes, id);
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
        return own(allocate(sizeBytes), sizeBytes, Streams.ALL);
    }

    /**
     * Takes a block at an address that is a multiple of {@code alignmentBytes}, as an object.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param alignmentBytes any power of two
     * @return a buffer, open
     * @throws RuntimeException as {@link #allocate(long, long)}
     */
    public DeviceBuffer buffer(final long sizeBytes, final long alignmentBytes) {
        return own(allocate(sizeBytes, alignmentBytes), sizeBytes, Streams.ALL);
    }

    /**
     * Takes a block as {@link #allocateAsync} does, as an object. Closing it frees it as {@link #freeAsync} does on
     * that stream, which must exist until then.
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
        return observers.watchAllocations()
                ? observers.allocated(sizeBytes, 1, stream)
                : allocateUnwatched(sizeBytes, 1, stream);
    }

    // Freeing

    /**
     * Gives a block back. The {@link ReusePolicy} says when it may be handed out again. This call asks the device now
     * and then what it has finished, and doesn't wait for its work. It throws what the device fails with then, and the
     * block is freed all the same.
     *
     * @param address what an allocation returned, not freed since
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalStateException if the pool is closed
     */
    public void free(final long address) {
        if (observers.watchFrees()) {
            observers.freed(address, Streams.ALL);
        } else {
            askFor(freeUnwatched(address, Streams.ALL));
        }
    }

    /**
     * Gives a block back that only work on one stream uses: with {@link ReusePolicy#STREAM_ORDERED} it may be handed
     * out for the same stream at once. With other policies as {@link #free}.
     *
     * @param address what an allocation returned, not freed since
     * @param stream handle of the stream, 0 for the default one
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     */
    public void freeAsync(final long address, final long stream) {
        if (observers.watchFrees()) {
            observers.freed(address, stream);
        } else {
            askFor(freeUnwatched(address, stream));
        }
    }

    /** Frees a block and tells no observer. Returns an arena for which the device should be asked now, or null. */
    @Nullable
    Arena freeUnwatched(final long address, final long stream) {
        final Segment segment = segmentAt(address);
        final Arena owner = segment.owner;
        if (stream != Streams.ALL && policy == ReusePolicy.STREAM_ORDERED) {
            freeOrdered(segment, address, stream);
            return null;
        }
        final Arena home = arenas.home();
        final BlockStarts starts = owner == home ? null : segment.starts;
        if (starts == null) {
            owner.free(segment, address);
        } else {
            final int done = home.freeRemotely(segment, starts, address);
            if (done == Arena.NOT_FREED) {
                throw owner.refusal(segment, address);
            }
            if (done == Arena.FREED) {
                return null;
            }
        }
        return owner.wantsAsking() ? owner : null;
    }

    /**
     * Asks the device for an arena, if it isn't null. The block is freed whatever comes of it. No thread of the pool
     * asks instead: to wake it takes a free 1.5 microseconds, twice as long as the question, and 16 threads would wait
     * for its answers (H200, 2026-11-28).
     */
    void askFor(final @Nullable Arena wanting) {
        if (wanting != null && marks.askAhead(wanting.asking())) {
            // This notes the answer, so that the arena's blocks are released little by little.
            wanting.asking();
        }
    }

    private Segment segmentAt(final long address) {
        final Segment segment = arenas.segmentAt(address);
        if (segment == null) {
            arenas.checkOpen();
            throw new InvalidAddressException(
                    address,
                    "address=0x" + Long.toHexString(address)
                            + " must be the start of a block in use: it lies in none of the "
                            + arenas.segments().length + " regions of the pool");
        }
        return segment;
    }

    private void freeOrdered(final Segment segment, final long address, final long stream) {
        final long id;
        try {
            id = work.idOf(stream);
        } catch (final RuntimeException e) {
            // The block waits for all work instead.
            segment.owner.free(segment, address);
            throw e;
        }
        final StreamLimbo closed = arenas.streams.free(segment, address, id, arenas.slackBytes() / MARKED_SHARE);
        if (closed != null) {
            // The stream exists as long as this call: later another may have its handle.
            marks.mark(closed, stream);
        }
    }

    /** Frees a block unless the pool is closed. */
    void freeIfOpen(final long address, final long stream) {
        try {
            freeAsync(address, stream);
        } catch (final IllegalStateException e) {
            // The pool may have been closed meanwhile.
            if (!isClosed()) {
                throw e;
            }
        }
    }

    /** Makes an object of a block that was just taken. */
    private DeviceBuffer own(final long address, final long sizeBytes, final long stream) {
        try {
            return new DeviceBuffer(this, address, sizeBytes, stream, tracker);
        } catch (final OutOfMemoryError e) {
            // The host has no memory for the object, so no program would own the block.
            freeIfOpen(address, Streams.ALL);
            throw e;
        }
    }

    // Resizing and asking

    /**
     * Shrinks a block in place, see {@link Strategy#trim}. The tail comes back when the {@link ReusePolicy} allows, as
     * a freed block does, since a kernel may still write to it. With a policy other than {@link ReusePolicy#IMMEDIATE},
     * strategies other than {@code tlsf}, {@code segregated-fit} and {@code pooled} keep all of
     * the tail; {@link #sizeOf} tells.
     *
     * @param address start of a block in use
     * @param newSizeBytes what to keep, in bytes, {@code 0 < newSizeBytes <= sizeOf(address)}
     * @throws InvalidAddressException if no block in use starts at {@code address}; nothing changes
     * @throws IllegalArgumentException if {@code newSizeBytes} is outside of its range; nothing changes
     * @throws BlockTableFullException if the tables can't hold the tail as a block of its own; nothing changes
     */
    public void trim(final long address, final long newSizeBytes) {
        final Segment segment = segmentAt(address);
        if (check == null) {
            segment.owner.trim(segment, address, newSizeBytes);
        } else {
            // The tail belongs to the red zone from now on.
            Arguments.checkTrim(newSizeBytes, sizeOf(address));
            check.resized(address, newSizeBytes, blockBytes(address));
        }
        observers.resized(address, newSizeBytes);
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
     */
    public boolean extend(final long address, final long newSizeBytes) {
        final boolean done =
                check == null ? extendUnwatched(address, newSizeBytes) : extendChecked(check, address, newSizeBytes);
        if (done) {
            observers.resized(address, newSizeBytes);
        }
        return done;
    }

    private boolean extendUnwatched(final long address, final long newSizeBytes) {
        final Segment segment = segmentAt(address);
        final long extended = segment.owner.extend(segment, address, newSizeBytes);
        return extended < Strategy.NO_SPACE ? slowPath.extend(segment, address, newSizeBytes) : extended >= 0;
    }

    private boolean extendChecked(final PoisonCheck with, final long address, final long newSizeBytes) {
        final long sizeBytes = sizeOf(address);
        if (newSizeBytes < sizeBytes) {
            throw Arguments.lessThanTheBlock(newSizeBytes, sizeBytes);
        }
        final long wholeBytes = PoisonCheck.withRedZone(newSizeBytes);
        final boolean done = wholeBytes <= blockBytes(address) || extendUnwatched(address, wholeBytes);
        if (done) {
            with.resized(address, newSizeBytes, blockBytes(address));
        }
        return done;
    }

    /**
     * {@return the size of a block in use, in bytes, a multiple of the granule; as it was asked for if the pool has a
     * {@linkplain PoolBuilder#check check}}
     *
     * @param address start of a block in use
     * @throws InvalidAddressException if no block in use starts at {@code address}
     */
    public long sizeOf(final long address) {
        final long blockBytes = blockBytes(address);
        return check == null ? blockBytes : check.sizeOf(address, blockBytes);
    }

    /** Returns the size of all that a block in use takes. */
    long blockBytes(final long address) {
        final Segment segment = segmentAt(address);
        return segment.owner.sizeOf(segment, address);
    }

    /**
     * {@return whether an address lies in a region of this pool, in use or not, also if its memory has moved away}
     * Never waits.
     *
     * @param address any number
     */
    public boolean contains(final long address) {
        return arenas.segmentAt(address) != null;
    }

    // Giving back

    /**
     * Gives free memory to the memory source until the pool holds no more than {@code bytes}: what the device has
     * finished with, and regions in which nothing is in use then, the one taken last first. Of a region that grows in
     * place goes what lies behind its last block in use, and where the source's memory can move, whole free units from
     * anywhere. While a stream is captured into a graph nothing is given back, since that would break the capture.
     *
     * @param bytes what the pool may keep, in bytes, {@code 0 <= bytes}
     * @return what it holds now, in bytes; more than asked for if blocks in use stand in the way
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     */
    public long trimTo(final long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
        }
        final long heldBytes = trimUnwatched(bytes);
        if (check != null) {
            check.report();
        }
        return heldBytes;
    }

    /** Does the same without a report, since nobody hears what is thrown on a thread of the pool's own. */
    long trimUnwatched(final long bytes) {
        try {
            if (arenas.totals.heldBytes() > bytes && !work.isCapturing()) {
                if (policy != ReusePolicy.IMMEDIATE) {
                    marks.askAll(arenas.closeAll());
                }
                arenas.releaseAll();
                if (arenas.totals.limboBytes() == 0) {
                    marks.forgetAll();
                }
                growth.trimTo(bytes);
            }
        } catch (final StackOverflowError e) {
            // Memory may be on its way.
            arenas.breakage.cause = e;
            throw e;
        } catch (final IllegalStateException e) {
            // The pool may have been closed meanwhile, and then it holds nothing.
            if (!isClosed()) {
                throw e;
            }
        }
        return arenas.totals.heldBytes();
    }

    /**
     * Looks for writes behind the end of blocks in use and to freed memory, as far as they have happened by now, and
     * reports them as {@link PoolBuilder#check} says. The device copies all freed memory to the host for that. Nothing
     * happens without a check, nor once the pool is closed: {@link #close} has looked then.
     *
     * @throws RuntimeException what the device fails with, or what the check's handler throws
     */
    public void checkMemory() {
        if (check != null) {
            check.checkAll();
            check.report();
        }
    }

    /**
     * Waits for the device, and gives every region back. Blocks that are still in use are reported as a warning to the
     * logger {@code io.outboard.pool}, with the largest of them. Idempotent. What the device or the
     * memory source fails with is thrown when all regions have been tried: the first failure, with others suppressed.
     * A {@linkplain PoolBuilder#check check}'s handler is called, too, and what it throws is thrown in the same way.
     */
    @Override
    public void close() {
        if (!ending.compareAndSet(false, true)) {
            return;
        }
        arenas.close();
        idle.end();
        final Failures failures = new Failures();
        failures.attempt(slowPath::end);
        failures.attempt(diagnosis::reportLeft);
        failures.attempt(this::awaitWork);
        if (check != null) {
            failures.attempt(check::end);
            failures.attempt(check::report);
        }
        failures.attempt(marks::end);
        failures.attempt(growth::end);
        failures.attempt(this::hide);
        failures.attempt(observers::stopRecording);
        failures.attempt(idle::leaveSource);
        failures.rethrow();
    }

    private void awaitWork() {
        final PoolEvents.@Nullable Synchronised event = events.beginWaiting();
        try {
            marks.await();
        } finally {
            if (event != null) {
                event.done();
            }
        }
    }

    /**
     * Tells that a step of the program begins that it repeats: a strategy that follows a plan begins with it anew, and
     * others do nothing. It stops the pool for a moment. One thread is to call this and to allocate what the plan has.
     *
     * @throws IllegalStateException if the pool is closed
     */
    public void step() {
        arenas.whileLocked(() -> {
            arenas.checkOpen();
            arenas.step();
        });
    }

    // Observing

    /**
     * Adds a handler that is asked when memory is exhausted, after those that are there.
     *
     * @param handler what to ask
     */
    public void addOutOfMemoryHandler(final OutOfMemoryHandler handler) {
        slowPath.handlers.add(Objects.requireNonNull(handler, "handler"));
    }

    /** {@return when freed blocks may be handed out again} */
    public ReusePolicy reusePolicy() {
        return policy;
    }

    /** {@return the state now} Never waits. */
    public PoolStatistics statistics() {
        return diagnosis.statistics();
    }

    /**
     * {@return size of the largest free block in bytes, 0 if none is free} It stops the pool, and may look at many
     * blocks.
     */
    public long largestFreeBlockBytes() {
        return diagnosis.largestFreeBlockBytes();
    }

    /**
     * {@return up to eight of the largest blocks in use, largest first} It stops the pool, and looks at every block.
     */
    public List<Holder> largestHolders() {
        return diagnosis.largestHolders();
    }

    /**
     * Writes the state as JSON: an object with {@code statistics} as {@link PoolStatistics}, without a limit if there
     * is none; {@code regions}; {@code blocks} of all regions, with {@code state} {@code free}, {@code used} or {@code
     * limbo}; and {@code holders}, the largest blocks in use, largest first. Addresses are strings such as {@code
     * "0x10000000000"}. {@code site} is the call that allocated a block, where it is known, see {@link Holder#site}.
     * {@code name} is there if the pool has one. The pool is stopped while its blocks are copied, 24 bytes each, but
     * not while they are written.
     *
     * @param path the file; replaced if it exists
     * @throws IOException if it can't be written; what is there may be incomplete
     */
    public void dump(final Path path) throws IOException {
        Objects.requireNonNull(path, "path");
        diagnosis.dump(path);
    }

    /**
     * Writes every allocation, free and change of a size to a file from now on, with time, thread, stream and size,
     * until what this returns is closed, the pool is, or the Java virtual machine ends: {@code ./outboard replay},
     * {@code advise} and {@code plan} read it. Requests that find no memory are in it, too; blocks that are in use
     * already aren't. Where the disk is slow, the program waits for it. Costs some 50 to 150 ns and 32 bytes of the
     * file for each of them; 0.25 to 2 MiB of host memory.
     *
     * @param path the file; what it holds is replaced
     * @return what ends the recording. To close it throws an {@link IOException} if not all could be written, which
     *     doesn't hinder the pool
     * @throws java.nio.file.AccessDeniedException if another recording writes the file, of this process or another;
     *     nothing changes
     * @throws IOException if the file can't be written, or the machine ends
     * @throws IllegalArgumentException if the path isn't one of the default file system
     * @throws IllegalStateException if the pool is closed, or being recorded already
     */
    public Closeable record(final Path path) throws IOException {
        arenas.checkOpen();
        return observers.startRecording(Objects.requireNonNull(path, "path"));
    }

    /**
     * Shows every block of every region, in the order of addresses within a region; blocks in limbo as in use. It stops
     * the pool meanwhile.
     *
     * @param visitor sees each block; it must not call this pool
     */
    public void forEachBlock(final BlockVisitor visitor) {
        diagnosis.forEachBlock(visitor);
    }

    /**
     * {@return for example {@code pool gpu0 [strict, tlsf, 1 region, 64MiB, no limit: in use 1MiB in 2 blocks ...]}}
     */
    @Override
    public String toString() {
        return diagnosis.toString();
    }

    boolean isClosed() {
        return arenas.isClosed();
    }

    // What shows the pool

    /** Begins to show the pool, and to give idle memory back. */
    void start(final @Nullable Path dumpFolder) {
        if (name != null && JavaRuntime.HAS_MANAGEMENT) {
            PoolManagement.register(diagnosis, this::trimTo, name, dumpFolder);
        }
        try {
            diagnosis.show();
            idle.start();
        } catch (final RuntimeException | Error e) {
            // The host may have no thread: the caller gets no pool that it could close, and the name is free again.
            hide();
            throw e;
        }
    }

    /** Shows the pool no more, and gives no idle memory back, since the device is gone. Idempotent. */
    void leave() {
        idle.end();
        idle.leaveSource();
        hide();
        observers.stopRecording();
    }

    /** Shows the pool no more, except to those that have it. Idempotent. */
    private void hide() {
        diagnosis.hide();
        final String registered = name;
        if (registered != null && JavaRuntime.HAS_MANAGEMENT && hidden.compareAndSet(false, true)) {
            PoolManagement.unregister(registered);
        }
    }
}
