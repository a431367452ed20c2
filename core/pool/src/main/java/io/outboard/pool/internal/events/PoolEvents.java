package io.outboard.pool.internal.events;

import io.outboard.pool.internal.guard.JavaRuntime;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What a pool tells Java Flight Recorder, or nobody where the runtime hasn't got that: nothing here names its classes.
 *
 * <p>An event is begun before what it tells of and ended after it. So that a reader sees an address freed before it is
 * allocated again, he orders frees by their start and allocations by their end: between the two the pool did it.
 *
 * <p>Safe for any number of threads; an event is confined to one. Cost: when nobody records, {@link #wantsAllocations} and
 * {@link #wantsFrees} are a constant or one load, and nothing else runs on the way of a request that finds memory. Events of
 * regions are made even then, since those are rare.
 */
public final class PoolEvents {

    private static final boolean RECORDABLE = JavaRuntime.HAS_FLIGHT_RECORDER;

    /** A region, or a part of one that grows in place, is taken or given back. */
    public interface RegionEvent {
        void done(long address, long sizeBytes);
    }

    /** Memory is put where a request needs it. */
    public interface MoveEvent {
        void done(long requestedBytes, long movedBytes, long addedBytes);
    }

    /** A block is handed out. */
    public interface AllocationEvent {
        void done(long address, long requestedBytes, long alignmentBytes, long stream);
    }

    /** A block is given back. */
    public interface FreeEvent {
        void done(long address, long sizeBytes, long stream);
    }

    /** The pool waits for the device. */
    public interface WaitEvent {
        void done();
    }

    private static final AtomicLong UNNAMED = new AtomicLong();

    private final String pool;

    public PoolEvents(final @Nullable String name) {
        pool = name == null ? "#" + UNNAMED.incrementAndGet() : name;
    }

    /** What events call the pool: its name, or a number, which tells it from others without a name. */
    public String pool() {
        return pool;
    }

    public static boolean wantsAllocations() {
        return RECORDABLE && RecordedEvents.wantsAllocations();
    }

    public static boolean wantsFrees() {
        return RECORDABLE && RecordedEvents.wantsFrees();
    }

    /** Null if nobody records. */
    public @Nullable AllocationEvent beginAllocation() {
        return wantsAllocations() ? RecordedEvents.allocation(pool) : null;
    }

    /** Null if nobody records. */
    public @Nullable FreeEvent beginFree() {
        return wantsFrees() ? RecordedEvents.free(pool) : null;
    }

    public RegionEvent beginTaking() {
        return RECORDABLE ? RecordedEvents.taking(pool) : (address, sizeBytes) -> {};
    }

    public RegionEvent beginGivingBack() {
        return RECORDABLE ? RecordedEvents.givingBack(pool) : (address, sizeBytes) -> {};
    }

    public MoveEvent beginMoving() {
        return RECORDABLE ? RecordedEvents.moving(pool) : (requestedBytes, movedBytes, addedBytes) -> {};
    }

    /** Null if nobody records: waiting is on the way of frees, where no garbage is made. */
    public @Nullable WaitEvent beginWaiting() {
        return RECORDABLE ? RecordedEvents.waiting(pool) : null;
    }
}
