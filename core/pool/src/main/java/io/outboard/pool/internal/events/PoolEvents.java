package io.outboard.pool.internal.events;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/**
 * The JFR events of a pool. Their names begin with {@code io.outboard.}; all say which pool they are of and, but for
 * that of statistics, have a stack.
 *
 * <p>An event is begun before what it tells of and committed after it. So that a reader sees an address freed before it is
 * allocated again, he orders frees by their start and allocations by their end: between the two the pool did it.
 *
 * <p>Safe for any number of threads. Cost: when nobody records, {@link #wantsAllocations} and {@link #wantsFrees} are a
 * constant or one load, and nothing else runs on the way of a request that finds memory. Events of regions are made even
 * then, since those are rare.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class PoolEvents {

    private static final AllocationEvent ALLOCATION = new AllocationEvent("");
    private static final FreeEvent FREE = new FreeEvent("");
    private static final SynchronisedEvent SYNCHRONISED = new SynchronisedEvent("");

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

    public AllocationEvent beginAllocation() {
        final AllocationEvent event = new AllocationEvent(pool);
        event.begin();
        return event;
    }

    public FreeEvent beginFree() {
        final FreeEvent event = new FreeEvent(pool);
        event.begin();
        return event;
    }

    public RegionTakenEvent beginRegionTaken() {
        final RegionTakenEvent event = new RegionTakenEvent(pool);
        event.begin();
        return event;
    }

    public RegionGivenBackEvent beginRegionGivenBack() {
        final RegionGivenBackEvent event = new RegionGivenBackEvent(pool);
        event.begin();
        return event;
    }

    public MemoryMovedEvent beginMemoryMoved() {
        final MemoryMovedEvent event = new MemoryMovedEvent(pool);
        event.begin();
        return event;
    }

    /** Null if nobody records: synchronising is on the way of frees, where no garbage is made. */
    @Nullable
    public SynchronisedEvent beginSynchronised() {
        if (!SYNCHRONISED.isEnabled()) {
            return null;
        }
        final SynchronisedEvent event = new SynchronisedEvent(pool);
        event.begin();
        return event;
    }

    public void outOfMemory(
            final DeviceOutOfMemoryException thrown,
            final long heldBytes,
            final long limboBytes,
            final long limitBytes) {
        final OutOfMemoryEvent event = new OutOfMemoryEvent(pool);
        if (!event.isEnabled()) {
            // The largest free block isn't looked for in vain.
            return;
        }
        event.requestedBytes = thrown.requestedBytes();
        event.freeBytes = thrown.freeBytes();
        event.largestFreeBlockBytes = thrown.largestFreeBlockBytes();
        event.limboBytes = limboBytes;
        event.heldBytes = heldBytes;
        event.limitBytes = limitBytes;
        event.reason = thrown.reason();
        event.commit();
    }

    /** Null if nobody records. */
    @Nullable
    public StatisticsEvent statistics() {
        final StatisticsEvent event = new StatisticsEvent(pool);
        return event.isEnabled() ? event : null;
    }

    /** What the events share. */
    @Category("Outboard")
    abstract static class PoolEvent extends Event {

        @Label("Pool")
        @Description("Name of the pool, empty if it has none")
        final String pool;

        PoolEvent(final String pool) {
            this.pool = pool;
        }
    }

    @Name("io.outboard.Allocation")
    @Label("Device Memory Allocation")
    @Description("A pool handed a block out")
    @Enabled(false)
    public static final class AllocationEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Requested Size")
        @DataAmount
        long requestedBytes;

        @Label("Alignment")
        @Description("What the address was asked to be a multiple of; 1 for the granule")
        @DataAmount
        long alignmentBytes;

        @Label("Stream")
        @Description("Handle of the CUDA stream that the block is for; -1 if any")
        long stream;

        AllocationEvent(final String pool) {
            super(pool);
        }

        public void commit(final long newAddress, final long bytes, final long alignment, final long newStream) {
            address = newAddress;
            requestedBytes = bytes;
            alignmentBytes = alignment;
            stream = newStream;
            commit();
        }
    }

    @Name("io.outboard.Free")
    @Label("Device Memory Free")
    @Description("A block was given back to its pool")
    @Enabled(false)
    public static final class FreeEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Block Size")
        @DataAmount
        long sizeBytes;

        @Label("Stream")
        @Description("Handle of the only CUDA stream whose work uses the block; -1 if any may")
        long stream;

        FreeEvent(final String pool) {
            super(pool);
        }

        public void commit(final long oldAddress, final long bytes, final long onlyStream) {
            address = oldAddress;
            sizeBytes = bytes;
            stream = onlyStream;
            commit();
        }
    }

    @Name("io.outboard.RegionTaken")
    @Label("Region Taken")
    @Description("A pool took a region of device memory from its source")
    public static final class RegionTakenEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Size")
        @DataAmount
        long sizeBytes;

        RegionTakenEvent(final String pool) {
            super(pool);
        }

        public void commit(final Region region) {
            address = region.address();
            sizeBytes = region.sizeBytes();
            commit();
        }
    }

    @Name("io.outboard.RegionGivenBack")
    @Label("Region Given Back")
    @Description("A pool gave a region of device memory back to its source")
    public static final class RegionGivenBackEvent extends PoolEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Size")
        @DataAmount
        long sizeBytes;

        RegionGivenBackEvent(final String pool) {
            super(pool);
        }

        public void commit(final Region region) {
            address = region.address();
            sizeBytes = region.sizeBytes();
            commit();
        }
    }

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

        MemoryMovedEvent(final String pool) {
            super(pool);
        }

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
    public static final class SynchronisedEvent extends PoolEvent {

        SynchronisedEvent(final String pool) {
            super(pool);
        }
    }

    @Name("io.outboard.OutOfMemory")
    @Label("Device Out of Memory")
    @Description("A pool found no memory for a request, and could neither recycle nor grow")
    static final class OutOfMemoryEvent extends PoolEvent {

        @Label("Requested")
        @DataAmount
        long requestedBytes;

        @Label("Free")
        @DataAmount
        long freeBytes;

        @Label("Largest Free Block")
        @DataAmount
        long largestFreeBlockBytes;

        @Label("Limbo")
        @Description("Freed, but possibly still in use by the device")
        @DataAmount
        long limboBytes;

        @Label("Held")
        @DataAmount
        long heldBytes;

        @Label("Limit")
        @Description("Most that the pool may hold; -1 if only the device limits it")
        @DataAmount
        long limitBytes;

        @Label("Reason")
        @Description("full or fragmented")
        String reason = "";

        OutOfMemoryEvent(final String pool) {
            super(pool);
        }
    }
}
