package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A device of real pages, whose regions can move them: a {@link Memfd} divided into slots of 2 MiB, each of which is free or mapped
 * at one unit of a region's addresses. There is nothing behind any other address, so to touch it ends the process; and what is
 * given back loses its pages, which the kernel counts.
 *
 * <pre>{@code
 *   | unit | hole | unit | hole | hole | unit |      addresses      |
 *       \          /                      |
 *        \--------/------------\          |
 *   | slot | slot | free |    slot   | slot 4 |        the file
 * }</pre>
 *
 * <p>Safe for any number of threads.
 */
final class MemfdMemorySource implements MemorySource {

    static final long UNIT_BYTES = 1L << 21;

    private static final int NO_SLOT = -1;

    private final long limitBytes;
    private final Memfd memory;
    private final BitSet freeSlots = new BitSet();
    private final Set<Growable> growables = new HashSet<>();

    /** Those that don't grow: all is committed from the start. */
    private final Map<Region, Growable> out = new HashMap<>();

    private long unitsMoved;
    private boolean closed;

    /** A device of so many bytes, a multiple of {@link #UNIT_BYTES}. */
    MemfdMemorySource(final long limitBytes) {
        this.limitBytes = limitBytes;
        memory = new Memfd(limitBytes);
        freeSlots.set(0, (int) (limitBytes / UNIT_BYTES));
    }

    /** What the kernel says that it holds: pages that were touched, and not given back since. */
    synchronized long heldBytes() {
        return memory.heldBytes();
    }

    /** How many units have moved so far. */
    synchronized long moves() {
        return unitsMoved;
    }

    /** Regions that weren't given back. */
    synchronized int regionsOut() {
        return growables.size();
    }

    /** Whether memory is behind all of a block, by what this source was told; touching it shows whether that is so. */
    synchronized boolean hasMemory(final long address, final long sizeBytes) {
        for (final Growable growable : growables) {
            if (growable.region.contains(address)) {
                return growable.hasMemory(address, sizeBytes);
            }
        }
        return false;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        checkOpen();
        checkFree(sizeBytes);
        final Growable growable = new Growable(roundUp(sizeBytes));
        growables.add(growable);
        growable.commit(sizeBytes);
        final Region region = new Region(growable.region.address(), sizeBytes);
        out.put(region, growable);
        return region;
    }

    @Override
    public synchronized void giveBack(final Region region) {
        final Growable growable = out.remove(region);
        if (growable == null) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        growable.close();
    }

    @Override
    public synchronized Optional<GrowableRegion> reserveToMove(final long bytes, final long addressBytes) {
        if (bytes <= 0 || addressBytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + ", addressBytes=" + addressBytes + " must be > 0");
        }
        checkOpen();
        final long mostBytes = Math.min(bytes, limitBytes) * ADDRESSES_FOR_A_BYTE;
        final long sizeBytes = Math.min(addressBytes, mostBytes) & -UNIT_BYTES;
        if (sizeBytes == 0) {
            return Optional.empty();
        }
        final Growable growable = new Growable(sizeBytes);
        growables.add(growable);
        return Optional.of(growable);
    }

    @Override
    public boolean canMove() {
        return true;
    }

    @Override
    public synchronized long availableBytes() {
        return closed ? 0 : freeSlots.cardinality() * UNIT_BYTES;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Set.copyOf(growables).forEach(Growable::close);
            out.clear();
            memory.close();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }

    private void checkFree(final long bytes) {
        if (bytes > availableBytes()) {
            throw DeviceOutOfMemoryException.ofDevice(bytes, availableBytes(), limitBytes, "no slots left");
        }
    }

    private static long roundUp(final long bytes) {
        return (bytes + UNIT_BYTES - 1) & -UNIT_BYTES;
    }

    /** Under the source's lock, since all share its slots. */
    private final class Growable implements GrowableRegion {

        private final long reserved;
        private final long reservedBytes;
        private final Region region;

        /** The units that have memory, by their numbers, and which slot each has. */
        private final BitSet units = new BitSet();

        private final int[] slots;

        Growable(final long sizeBytes) {
            // Pages are aligned to less than units are.
            reservedBytes = sizeBytes + UNIT_BYTES;
            reserved = memory.reserve(reservedBytes);
            region = new Region(roundUp(reserved), sizeBytes);
            slots = new int[(int) (sizeBytes / UNIT_BYTES)];
            Arrays.fill(slots, NO_SLOT);
        }

        @Override
        public Region region() {
            return region;
        }

        @Override
        public long unitBytes() {
            return UNIT_BYTES;
        }

        @Override
        public long committedBytes() {
            synchronized (MemfdMemorySource.this) {
                return units.cardinality() * UNIT_BYTES;
            }
        }

        @Override
        public long endBytes() {
            synchronized (MemfdMemorySource.this) {
                return units.length() * UNIT_BYTES;
            }
        }

        @Override
        public boolean hasMemory(final long address) {
            synchronized (MemfdMemorySource.this) {
                return region.contains(address) && units.get((int) ((address - region.address()) / UNIT_BYTES));
            }
        }

        boolean hasMemory(final long address, final long sizeBytes) {
            final int first = (int) ((address - region.address()) / UNIT_BYTES);
            final long end = roundUp(address + sizeBytes - region.address()) / UNIT_BYTES;
            return units.nextClearBit(first) >= end;
        }

        @Override
        public void move(final long[] from, final long[] to, final int count) {
            synchronized (MemfdMemorySource.this) {
                final BitSet after = without(from, count);
                for (int i = 0; i < count; i++) {
                    final int unit = unitOf("to", to[i]);
                    if (units.get(unit) || after.get(unit) || unit > Math.max(units.length(), after.length())) {
                        throw new IllegalArgumentException("to=" + to[i] + " must be in a hole, or where memory ends");
                    }
                    after.set(unit);
                }
                for (int i = 0; i < count; i++) {
                    put(unitOf("to", to[i]), takeAway(unitOf("from", from[i])));
                }
                unitsMoved += count;
            }
        }

        @Override
        public void giveBack(final long[] from, final int count) {
            synchronized (MemfdMemorySource.this) {
                without(from, count);
                for (int i = 0; i < count; i++) {
                    drop(unitOf("from", from[i]));
                }
            }
        }

        /** The units that have memory once so many haven't any more, which is to say that each has some now. */
        private BitSet without(final long[] from, final int count) {
            checkNotClosed();
            final BitSet after = (BitSet) units.clone();
            for (int i = 0; i < count; i++) {
                final int unit = unitOf("from", from[i]);
                if (!after.get(unit)) {
                    throw new IllegalArgumentException("from=" + from[i] + " must have memory");
                }
                after.clear(unit);
            }
            return after;
        }

        @Override
        public void fill(final long address, final long bytes) {
            synchronized (MemfdMemorySource.this) {
                checkNotClosed();
                final int first = unitOf("address", address);
                if (bytes <= 0 || bytes % UNIT_BYTES != 0 || bytes > region.endAddress() - address) {
                    throw new IllegalArgumentException(
                            "bytes=" + bytes + " must be > 0, units, and within the addresses behind " + address);
                }
                final int end = first + (int) (bytes / UNIT_BYTES);
                final int taken = units.nextSetBit(first);
                if (first > units.length() || (taken >= 0 && taken < end)) {
                    throw new IllegalArgumentException(
                            "address=" + address + " must be in a hole, or where memory ends");
                }
                checkFree(bytes);
                putNew(first, end);
            }
        }

        @Override
        public void commit(final long bytes) {
            if (bytes < 0 || bytes > region.sizeBytes()) {
                throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0 and <= " + region.sizeBytes());
            }
            synchronized (MemfdMemorySource.this) {
                checkNotClosed();
                checkFree(Math.max(roundUp(bytes) - endBytes(), 0));
                putNew(units.length(), (int) (roundUp(bytes) / UNIT_BYTES));
            }
        }

        @Override
        public void decommit(final long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
            }
            synchronized (MemfdMemorySource.this) {
                checkNotClosed();
                keep(roundUp(Math.min(bytes, endBytes())));
            }
        }

        @Override
        public void close() {
            synchronized (MemfdMemorySource.this) {
                if (growables.contains(this)) {
                    keep(0);
                    growables.remove(this);
                    memory.freeAddresses(reserved, reservedBytes);
                }
            }
        }

        private void checkNotClosed() {
            if (!growables.contains(this)) {
                throw new IllegalStateException("the growable region is closed");
            }
        }

        private void keep(final long bytes) {
            final int first = (int) (bytes / UNIT_BYTES);
            for (int unit = units.nextSetBit(first); unit >= 0; unit = units.nextSetBit(unit + 1)) {
                drop(unit);
            }
        }

        private void putNew(final int first, final int end) {
            for (int unit = first; unit < end; unit++) {
                final int slot = freeSlots.nextSetBit(0);
                freeSlots.clear(slot);
                put(unit, slot);
            }
        }

        private void drop(final int unit) {
            final int slot = takeAway(unit);
            memory.freePages(slot * UNIT_BYTES, UNIT_BYTES);
            freeSlots.set(slot);
        }

        private void put(final int unit, final int slot) {
            memory.map(addressOf(unit), UNIT_BYTES, slot * UNIT_BYTES);
            units.set(unit);
            slots[unit] = slot;
        }

        private int takeAway(final int unit) {
            final int slot = slots[unit];
            memory.unmap(addressOf(unit), UNIT_BYTES);
            units.clear(unit);
            slots[unit] = NO_SLOT;
            return slot;
        }

        private long addressOf(final int unit) {
            return region.address() + unit * UNIT_BYTES;
        }

        private int unitOf(final String name, final long address) {
            if (!region.contains(address) || (address - region.address()) % UNIT_BYTES != 0) {
                throw new IllegalArgumentException(name + "=" + address + " must be in " + region + ", a multiple of "
                        + UNIT_BYTES + " from its begin");
            }
            return (int) ((address - region.address()) / UNIT_BYTES);
        }
    }
}
