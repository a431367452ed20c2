package io.outboard.pool.internal.events;

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
 * The JFR events of {@link PoolEvents}. Their names begin with {@code io.outboard.}; all say which pool they are of, and have a stack. Loaded only
 * where the runtime has JFR.
 */
final class RecordedEvents {

    private static final Allocation ALLOCATION = new Allocation();
    private static final Free FREE = new Free();
    private static final Synchronised SYNCHRONISED = new Synchronised();

    private RecordedEvents() {}

    static boolean wantsAllocations() {
        return ALLOCATION.isEnabled();
    }

    static boolean wantsFrees() {
        return FREE.isEnabled();
    }

    static PoolEvents.AllocationEvent allocation(final String pool) {
        return begin(new Allocation(), pool);
    }

    static PoolEvents.FreeEvent free(final String pool) {
        return begin(new Free(), pool);
    }

    static PoolEvents.RegionEvent taking(final String pool) {
        return begin(new RegionTaken(), pool);
    }

    static PoolEvents.RegionEvent givingBack(final String pool) {
        return begin(new RegionGivenBack(), pool);
    }

    static PoolEvents.MoveEvent moving(final String pool) {
        return begin(new MemoryMoved(), pool);
    }

    static PoolEvents.@Nullable WaitEvent waiting(final String pool) {
        return SYNCHRONISED.isEnabled() ? begin(new Synchronised(), pool) : null;
    }

    private static <E extends OfPool> E begin(final E event, final String pool) {
        event.pool = pool;
        event.begin();
        return event;
    }

    /** What the events share. */
    @Category("Outboard")
    abstract static class OfPool extends Event {

        @Label("Pool")
        @Description("Name of the pool, or # and a number if it has none")
        String pool = "";

        /** It has happened: if the host has no memory for the event, nobody hears of it, and the caller goes on. */
        final void commitIfItCan() {
            try {
                commit();
            } catch (final OutOfMemoryError ignored) {
                // Said above.
            }
        }
    }

    @Name("io.outboard.Allocation")
    @Label("Device Memory Allocation")
    @Description("A pool handed a block out")
    @Enabled(false)
    static final class Allocation extends OfPool implements PoolEvents.AllocationEvent {

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

        @Override
        public void done(
                final long itsAddress, final long itsBytes, final long itsAlignmentBytes, final long itsStream) {
            address = itsAddress;
            requestedBytes = itsBytes;
            alignmentBytes = itsAlignmentBytes;
            stream = itsStream;
            commitIfItCan();
        }
    }

    @Name("io.outboard.Free")
    @Label("Device Memory Free")
    @Description("A block was given back to its pool")
    @Enabled(false)
    static final class Free extends OfPool implements PoolEvents.FreeEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Block Size")
        @DataAmount
        long sizeBytes;

        @Label("Stream")
        @Description("Handle of the only CUDA stream whose work uses the block; -1 if any may")
        long stream;

        @Override
        public void done(final long itsAddress, final long itsBytes, final long itsStream) {
            address = itsAddress;
            sizeBytes = itsBytes;
            stream = itsStream;
            commitIfItCan();
        }
    }

    /** A region, or a part of one that grows in place. */
    abstract static class OfRegion extends OfPool implements PoolEvents.RegionEvent {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Size")
        @DataAmount
        long sizeBytes;

        @Override
        public void done(final long itsAddress, final long itsBytes) {
            address = itsAddress;
            sizeBytes = itsBytes;
            commitIfItCan();
        }
    }

    @Name("io.outboard.RegionTaken")
    @Label("Region Taken")
    @Description("A pool took a region of device memory from its source")
    static final class RegionTaken extends OfRegion {}

    @Name("io.outboard.RegionGivenBack")
    @Label("Region Given Back")
    @Description("A pool gave a region of device memory back to its source")
    static final class RegionGivenBack extends OfRegion {}

    @Name("io.outboard.MemoryMoved")
    @Label("Memory Moved")
    @Description("A pool put memory where a request needed it that no free block had room for")
    static final class MemoryMoved extends OfPool implements PoolEvents.MoveEvent {

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

        @Override
        public void done(final long requested, final long moved, final long added) {
            requestedBytes = requested;
            movedBytes = moved;
            addedBytes = added;
            commitIfItCan();
        }
    }

    @Name("io.outboard.Synchronised")
    @Label("Device Synchronised")
    @Description("A pool waited for the device, to give limbo back or to close")
    static final class Synchronised extends OfPool implements PoolEvents.WaitEvent {

        @Override
        public void done() {
            commitIfItCan();
        }
    }
}
