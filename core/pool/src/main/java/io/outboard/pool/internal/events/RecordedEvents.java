package io.outboard.pool.internal.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/**
 * The JFR events of a pool. Their names begin with {@code io.outboard.}; all say which pool they are of and, but for
 * that of statistics, have a stack.
 *
 * <p>An event is begun before what it tells of and committed after it. So that a reader sees an address freed before it is
 * allocated again, he orders frees by their start and allocations by their end: between the two the pool did it.
 *
 * <p>Safe for any number of threads; an event is confined to one. Cost: when nobody records, {@link #wantsAllocations} and
 * {@link #wantsFrees} are a constant or one load, and nothing else runs on the way of a request that finds memory. Events of
 * regions are made even then, since those are rare.
 */
public final class PoolEvents {

    private static final AllocationEvent ALLOCATION = new AllocationEvent();
    private static final FreeEvent FREE = new FreeEvent();
    private static final SynchronisedEvent SYNCHRONISED = new SynchronisedEvent();

    private final String pool;

    public PoolEvents(final @Nullable String name) {
        pool = name == null ? "" : name;
    }

    public static boolean wantsAllocations() {
        return ALLOCATION.isEnabled();
    }

    public static boolean wantsFrees() {
        return FREE.isEnabled();
    }

    /** The event as one of this pool, to be filled and committed. */
    public <E extends PoolEvent> E of(final E event) {
        event.pool = pool;
        return event;
    }

    public <E extends PoolEvent> E begin(final E event) {
        event.begin();
        return of(event);
    }

    /** Null if nobody records: synchronising is on the way of frees, where no garbage is made. */
    @Nullable
    public SynchronisedEvent beginSynchronised() {
        return SYNCHRONISED.isEnabled() ? begin(new SynchronisedEvent()) : null;
    }

    /** What the events share. */
    @Category("Outboard")
    public abstract static class PoolEvent extends Event {

        @Label("Pool")
        @Description("Name of the pool, empty if it has none")
        String pool = "";
    }

    @Name("io.outboard.Allocation")
    @Label("Device Memory Allocation")
    @Description("A pool handed a block out")
    @Enabled(false)
    public static final class AllocationEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        public long address;

        @Label("Requested Size")
        @DataAmount
        public long requestedBytes;

        @Label("Alignment")
        @Description("What the address was asked to be a multiple of; 1 for the granule")
        @DataAmount
        public long alignmentBytes;

        @Label("Stream")
        @Description("Handle of the CUDA stream that the block is for; -1 if any")
        public long stream;
    }

    @Name("io.outboard.Free")
    @Label("Device Memory Free")
    @Description("A block was given back to its pool")
    @Enabled(false)
    public static final class FreeEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        public long address;

        @Label("Block Size")
        @DataAmount
        public long sizeBytes;

        @Label("Stream")
        @Description("Handle of the only CUDA stream whose work uses the block; -1 if any may")
        public long stream;
    }

    /** A region, or a part of one that grows in place. */
    public abstract static class RegionEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Size")
        @DataAmount
        long sizeBytes;

        public void commit(final long ofAddress, final long ofBytes) {
            address = ofAddress;
            sizeBytes = ofBytes;
            try {
                commit();
            } catch (final OutOfMemoryError ignored) {
                // It has happened, and nobody hears of it.
            }
        }
    }

    @Name("io.outboard.RegionTaken")
    @Label("Region Taken")
    @Description("A pool took a region of device memory from its source")
    public static final class RegionTakenEvent extends RegionEvent {}

    @Name("io.outboard.RegionGivenBack")
    @Label("Region Given Back")
    @Description("A pool gave a region of device memory back to its source")
    public static final class RegionGivenBackEvent extends RegionEvent {}

    @Name("io.outboard.MemoryMoved")
    @Label("Memory Moved")
    @Description("A pool put memory where a request needed it that no free block had room for")
    public static final class MemoryMovedEvent extends PoolEvent {

        @Label("Requested")
        @DataAmount
        long requestedBytes;

        @Label("Moved")
        @Description("From free blocks elsewhere")
        @DataAmount
        long movedBytes;

        @Label("Added")
        @Description("From the device")
        @DataAmount
        long addedBytes;

        public void commit(final long requested, final long moved, final long added) {
            requestedBytes = requested;
            movedBytes = moved;
            addedBytes = added;
            commit();
        }
    }

    @Name("io.outboard.Synchronised")
    @Label("Device Synchronised")
    @Description("A pool waited for the device, to give limbo back or to close")
    public static final class SynchronisedEvent extends PoolEvent {}

    /** What the events of a pool's state share. */
    public abstract static class StateEvent extends PoolEvent {

        @Label("Held")
        @DataAmount
        public long heldBytes;

        @Label("Limit")
        @Description("Most that the pool may hold; -1 if only the device limits it")
        @DataAmount
        public long limitBytes;

        @Label("Limbo")
        @Description("Freed, but possibly still in use by the device")
        @DataAmount
        public long limboBytes;

        @Label("Free")
        @DataAmount
        public long freeBytes;
    }

    @Name("io.outboard.OutOfMemory")
    @Label("Device Out of Memory")
    @Description("A pool found no memory for a request, and could neither recycle nor grow")
    public static final class OutOfMemoryEvent extends StateEvent {

        @Label("Requested")
        @DataAmount
        public long requestedBytes;

        @Label("Largest Free Block")
        @DataAmount
        public long largestFreeBlockBytes;

        @Label("Reason")
        @Description("full or fragmented")
        public String reason = "";
    }

    /** How a pool is, told once a second while that is recorded. */
    @Name("io.outboard.PoolStatistics")
    @Label("Pool Statistics")
    @Description("How a pool is")
    @Period("1 s")
    @StackTrace(false)
    public static final class StatisticsEvent extends StateEvent {

        @Label("Policy")
        @Description("When a freed block may be handed out again")
        public String policy = "";

        @Label("Strategy")
        @Description("What divides regions")
        public String strategy = "";

        @Label("Regions")
        public int regions;

        @Label("In Use")
        @DataAmount
        public long usedBytes;

        @Label("Peak in Use")
        @DataAmount
        public long peakUsedBytes;

        @Label("Live Blocks")
        public long liveBlocks;

        @Label("Allocations")
        @Description("Blocks handed out so far")
        public long allocations;

        @Label("Synchronizations")
        @Description("How often the pool waited for the device so far")
        public long synchronizations;

        @Label("Mappings")
        @Description("How often memory was taken, moved or given back so far")
        public long mappings;

        @Label("Moved")
        @Description("Memory that moved so far")
        @DataAmount
        public long movedBytes;

        @Label("Failures")
        @Description("Requests so far that failed")
        public long failures;

        @Label("Leaks")
        @Description("Buffers so far that were collected without having been closed")
        public long leaks;
    }
}
