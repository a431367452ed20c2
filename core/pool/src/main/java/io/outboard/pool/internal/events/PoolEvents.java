package io.outboard.pool.internal.events;

import static io.outboard.pool.internal.guard.JavaRuntime.HAS_FLIGHT_RECORDER;

import java.util.concurrent.atomic.AtomicLong;
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
 * This class makes the events that a pool tells Java Flight Recorder. Where the runtime lacks the recorder, no event
 * class is loaded, and each event is null. So that to verify callers loads none either, a method's type is the event's
 * own class, never one above it.
 *
 * <p>An event begins when it is made, before what it tells of, and ends after it. A reader who orders frees by their
 * start and allocations by their end sees an address freed before it is allocated again.
 *
 * <p>Safe for any number of threads; an event is confined to one. Cost while nobody records: a constant or one load for
 * allocations, frees and waits. Events of regions and of memory that moves are made even then, since those are rare.
 */
public final class PoolEvents {

    private static final AtomicLong UNNAMED = new AtomicLong();

    /** What events call the pool: its name, or a number that tells it from others without a name. */
    public final String pool;

    public PoolEvents(final @Nullable String name) {
        pool = name == null ? "#" + UNNAMED.incrementAndGet() : name;
    }

    public static boolean wantsAllocations() {
        return HAS_FLIGHT_RECORDER && Probes.ALLOCATION.isEnabled();
    }

    public static boolean wantsFrees() {
        return HAS_FLIGHT_RECORDER && Probes.FREE.isEnabled();
    }

    public @Nullable Allocation beginAllocation() {
        return wantsAllocations() ? new Allocation().begin(pool) : null;
    }

    public @Nullable Free beginFree() {
        return wantsFrees() ? new Free().begin(pool) : null;
    }

    /** Begins an event, or returns null while nobody records, since frees may wait, and they make no garbage. */
    public @Nullable Synchronised beginWaiting() {
        return HAS_FLIGHT_RECORDER && Probes.SYNCHRONISED.isEnabled() ? new Synchronised().begin(pool) : null;
    }

    public @Nullable RegionTaken beginTaking() {
        return HAS_FLIGHT_RECORDER ? new RegionTaken().begin(pool) : null;
    }

    public @Nullable RegionGivenBack beginGivingBack() {
        return HAS_FLIGHT_RECORDER ? new RegionGivenBack().begin(pool) : null;
    }

    public @Nullable MemoryMoved beginMoving() {
        return HAS_FLIGHT_RECORDER ? new MemoryMoved().begin(pool) : null;
    }

    /**
     * Probes are asked whether anybody wants events of their kind. They are loaded together, so that the first wait
     * loads nothing.
     */
    private static final class Probes {
        static final Allocation ALLOCATION = new Allocation();
        static final Free FREE = new Free();
        static final Synchronised SYNCHRONISED = new Synchronised();
    }

    @Category("Outboard")
    abstract static class OfPool<E extends OfPool<E>> extends Event {

        @Label("Pool")
        @Description("Name of the pool, or # and a number if it has none")
        String pool = "";

        @SuppressWarnings("unchecked")
        final E begin(final String itsPool) {
            pool = itsPool;
            begin();
            return (E) this;
        }

        /** Without host memory the event is lost, but what it tells of has happened, and the caller goes on. */
        public final void done() {
            try {
                commit();
            } catch (final OutOfMemoryError ignored) {
                // The event is lost, as the comment above says.
            }
        }
    }

    @Name("io.outboard.Allocation")
    @Label("Device Memory Allocation")
    @Description("A pool handed a block out")
    @Enabled(false)
    public static final class Allocation extends OfPool<Allocation> {

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

        public void done(
                final long itsAddress, final long itsBytes, final long itsAlignmentBytes, final long itsStream) {
            address = itsAddress;
            requestedBytes = itsBytes;
            alignmentBytes = itsAlignmentBytes;
            stream = itsStream;
            done();
        }
    }

    @Name("io.outboard.Free")
    @Label("Device Memory Free")
    @Description("A block was given back to its pool")
    @Enabled(false)
    public static final class Free extends OfPool<Free> {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Block Size")
        @DataAmount
        long sizeBytes;

        @Label("Stream")
        @Description("Handle of the only CUDA stream whose work uses the block; -1 if any may")
        long stream;

        public void done(final long itsAddress, final long itsBytes, final long itsStream) {
            address = itsAddress;
            sizeBytes = itsBytes;
            stream = itsStream;
            done();
        }
    }

    @Name("io.outboard.Synchronised")
    @Label("Device Synchronised")
    @Description("A pool waited for the device, to give limbo back or to close")
    public static final class Synchronised extends OfPool<Synchronised> {}

    /** This event is about a region, or a part of one that grows in place. */
    abstract static class OfRegion<E extends OfRegion<E>> extends OfPool<E> {

        @Label("Address")
        @MemoryAddress
        long address;

        @Label("Size")
        @DataAmount
        long sizeBytes;

        public final void done(final long itsAddress, final long itsBytes) {
            address = itsAddress;
            sizeBytes = itsBytes;
            done();
        }
    }

    @Name("io.outboard.RegionTaken")
    @Label("Region Taken")
    @Description("A pool took a region of device memory from its source")
    public static final class RegionTaken extends OfRegion<RegionTaken> {}

    @Name("io.outboard.RegionGivenBack")
    @Label("Region Given Back")
    @Description("A pool gave a region of device memory back to its source")
    public static final class RegionGivenBack extends OfRegion<RegionGivenBack> {}

    @Name("io.outboard.MemoryMoved")
    @Label("Memory Moved")
    @Description("A pool put memory where a request needed it that no free block had room for")
    public static final class MemoryMoved extends OfPool<MemoryMoved> {

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

        public void done(final long requested, final long moved, final long added) {
            requestedBytes = requested;
            movedBytes = moved;
            addedBytes = added;
            done();
        }
    }
}
