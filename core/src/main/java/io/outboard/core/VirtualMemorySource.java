package io.outboard.core;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * A source of <em>virtual</em> regions: ranges of numbers that nothing backs.
 *
 * <p>Strategies work on addresses alone, so over a virtual region they run exactly as over device memory. It serves
 * tests, replays of recorded traces, planning (would this program fit into 24 GiB?) and machines without a GPU. Ranges
 * start at 2^40, are aligned to 2 MiB, as the driver's large allocations are, and are never handed out twice, so a stale
 * address is always recognised. Regions that grow in place are offered too, in units of 2 MiB; what is committed of them
 * counts as taken.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: O(1) a call. When the limit is reached,
 * {@link DeviceOutOfMemoryException}.
 */
public final class VirtualMemorySource implements MemorySource {

    private static final long FIRST_ADDRESS = 1L << 40;
    private static final long ALIGNMENT_BYTES = 1L << 21;

    private final long limitBytes;
    private final boolean moves;
    private final Set<Region> out = new HashSet<>();
    private final Set<Growable> growables = new HashSet<>();
    private long nextAddress = FIRST_ADDRESS;
    private long takenBytes;
    private boolean closed;

    /** A source of up to 2^62 bytes at a time. */
    public VirtualMemorySource() {
        this(1L << 62);
    }

    /**
     * A source that runs out, as a device does.
     *
     * @param limitBytes most bytes out at a time, {@code 0 < limitBytes <= 2^62}
     * @throws IllegalArgumentException if the limit is outside of its range
     */
    public VirtualMemorySource(final long limitBytes) {
        this(limitBytes, false);
    }

    private VirtualMemorySource(final long limitBytes, final boolean moves) {
        if (limitBytes <= 0 || limitBytes > 1L << 62) {
            throw new IllegalArgumentException("limitBytes=" + limitBytes + " must be > 0 and <= 2^62");
        }
        this.limitBytes = limitBytes;
        this.moves = moves;
    }

    /**
     * A source of regions whose memory can move, with up to 16 times as many addresses as the limit is bytes.
     *
     * @param limitBytes most bytes out at a time, {@code 0 < limitBytes <= 2^62}
     * @return the source
     * @throws IllegalArgumentException if the limit is outside of its range
     */
    public static VirtualMemorySource moving(final long limitBytes) {
        return new VirtualMemorySource(limitBytes, true);
    }

    /**
     * One virtual region, for those who need no more than that.
     *
     * @param sizeBytes length in bytes, {@code 0 < sizeBytes <= 2^62}
     * @return the region
     * @throws IllegalArgumentException if {@code sizeBytes} is outside of its range
     */
    public static Region region(final long sizeBytes) {
        if (sizeBytes <= 0 || sizeBytes > 1L << 62) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0 and <= 2^62");
        }
        return new Region(FIRST_ADDRESS, sizeBytes);
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        checkOpen();
        final long addressesLeft = Long.MAX_VALUE - ALIGNMENT_BYTES - nextAddress;
        if (sizeBytes > Math.min(limitBytes - takenBytes, addressesLeft)) {
            throw DeviceOutOfMemoryException.ofDevice(sizeBytes, limitBytes - takenBytes, limitBytes, "virtual limit");
        }
        final Region region = new Region(nextAddress, sizeBytes);
        nextAddress += (sizeBytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
        takenBytes += sizeBytes;
        out.add(region);
        return region;
    }

    @Override
    public synchronized void giveBack(final Region region) {
        if (!out.remove(region)) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        takenBytes -= region.sizeBytes();
    }

    @Override
    public Optional<GrowableRegion> reserve(final long bytes) {
        return reserve(bytes, 1, bytes);
    }

    @Override
    public Optional<GrowableRegion> reserveToMove(final long bytes, final long addressBytes) {
        if (addressBytes <= 0) {
            throw new IllegalArgumentException("addressBytes=" + addressBytes + " must be > 0");
        }
        return moves ? reserve(bytes, ADDRESSES_FOR_A_BYTE, addressBytes) : Optional.empty();
    }

    private synchronized Optional<GrowableRegion> reserve(final long bytes, final int times, final long addressBytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0");
        }
        checkOpen();
        final long addressesLeft =
                Math.min(Long.MAX_VALUE - ALIGNMENT_BYTES - nextAddress, Integer.MAX_VALUE * ALIGNMENT_BYTES);
        final long mostBytes = Math.min(addressBytes, addressesLeft);
        final long memoryBytes = Math.min(bytes, limitBytes);
        final long sizeBytes = (memoryBytes > mostBytes / times ? mostBytes : memoryBytes * times) & -ALIGNMENT_BYTES;
        if (sizeBytes <= 0 || memoryBytes < ALIGNMENT_BYTES) {
            return Optional.empty();
        }
        final Growable growable = new Growable(new Region(nextAddress, sizeBytes), times > 1);
        nextAddress += sizeBytes;
        growables.add(growable);
        return Optional.of(growable);
    }

    @Override
    public boolean canMove() {
        return moves;
    }

    @Override
    public synchronized long availableBytes() {
        return closed ? 0 : limitBytes - takenBytes;
    }

    @Override
    public synchronized void close() {
        closed = true;
        out.clear();
        growables.clear();
        takenBytes = 0;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }

    /** Under the source's lock, since all share its limit. */
    private final class Growable implements GrowableRegion {

        private final Region region;
        private final boolean isToMove;

        /** The units that have memory, by their numbers. */
        private final BitSet units = new BitSet();

        Growable(final Region region, final boolean isToMove) {
            this.region = region;
            this.isToMove = isToMove;
        }

        @Override
        public Region region() {
            return region;
        }

        @Override
        public long unitBytes() {
            return ALIGNMENT_BYTES;
        }

        @Override
        public long committedBytes() {
            synchronized (VirtualMemorySource.this) {
                return growables.contains(this) ? units.cardinality() * ALIGNMENT_BYTES : 0;
            }
        }

        @Override
        public long endBytes() {
            synchronized (VirtualMemorySource.this) {
                return growables.contains(this) ? units.length() * ALIGNMENT_BYTES : 0;
            }
        }

        @Override
        public boolean hasMemory(final long address) {
            synchronized (VirtualMemorySource.this) {
                return growables.contains(this)
                        && region.contains(address)
                        && units.get((int) ((address - region.address()) / ALIGNMENT_BYTES));
            }
        }

        @Override
        public void move(final long[] from, final long[] to, final int count) {
            synchronized (VirtualMemorySource.this) {
                checkMoves();
                final BitSet after = (BitSet) units.clone();
                for (int i = 0; i < count; i++) {
                    takeUnit(after, from[i]);
                }
                for (int i = 0; i < count; i++) {
                    final int unit = unitOf("to", to[i]);
                    if (units.get(unit) || after.get(unit) || unit > Math.max(units.length(), after.length())) {
                        throw new IllegalArgumentException("to=" + to[i] + " must be in a hole, or where memory ends");
                    }
                    after.set(unit);
                }
                units.clear();
                units.or(after);
            }
        }

        @Override
        public void giveBack(final long[] from, final int count) {
            synchronized (VirtualMemorySource.this) {
                checkMoves();
                final BitSet after = (BitSet) units.clone();
                for (int i = 0; i < count; i++) {
                    takeUnit(after, from[i]);
                }
                units.and(after);
                takenBytes -= count * ALIGNMENT_BYTES;
            }
        }

        private void takeUnit(final BitSet after, final long from) {
            final int unit = unitOf("from", from);
            if (!after.get(unit)) {
                throw new IllegalArgumentException("from=" + from + " must have memory");
            }
            after.clear(unit);
        }

        @Override
        public void fill(final long address, final long bytes) {
            synchronized (VirtualMemorySource.this) {
                final int count = countOf(bytes);
                final int target = targetOf("address", address, bytes);
                takeOfLimit(bytes);
                units.set(target, target + count);
            }
        }

        private void checkMoves() {
            checkNotClosed();
            if (!isToMove) {
                throw new UnsupportedOperationException("this region can't move memory");
            }
        }

        private int countOf(final long bytes) {
            checkMoves();
            if (bytes <= 0 || bytes % ALIGNMENT_BYTES != 0) {
                throw new IllegalArgumentException(
                        "bytes=" + bytes + " must be > 0 and a multiple of " + ALIGNMENT_BYTES);
            }
            return (int) (bytes / ALIGNMENT_BYTES);
        }

        private int targetOf(final String name, final long address, final long bytes) {
            final int target = unitOf(name, address);
            final int taken = units.nextSetBit(target);
            if (target > units.length()
                    || bytes > region.endAddress() - address
                    || (taken >= 0 && taken < target + bytes / ALIGNMENT_BYTES)) {
                throw new IllegalArgumentException(name + "=" + address
                        + " must be in a hole, or where memory ends, with room for bytes=" + bytes);
            }
            return target;
        }

        private void takeOfLimit(final long bytes) {
            if (bytes > limitBytes - takenBytes) {
                throw DeviceOutOfMemoryException.ofDevice(bytes, limitBytes - takenBytes, limitBytes, "virtual limit");
            }
            takenBytes += bytes;
        }

        private int unitOf(final String name, final long address) {
            if (!region.contains(address) || (address - region.address()) % ALIGNMENT_BYTES != 0) {
                throw new IllegalArgumentException(name + "=" + address + " must be in " + region + ", a multiple of "
                        + ALIGNMENT_BYTES + " from its begin");
            }
            return (int) ((address - region.address()) / ALIGNMENT_BYTES);
        }

        @Override
        public void commit(final long bytes) {
            if (bytes < 0 || bytes > region.sizeBytes()) {
                throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0 and <= " + region.sizeBytes());
            }
            synchronized (VirtualMemorySource.this) {
                checkNotClosed();
                final long moreBytes = Math.max(roundUp(bytes) - endBytes(), 0);
                takeOfLimit(moreBytes);
                units.set(units.length(), units.length() + (int) (moreBytes / ALIGNMENT_BYTES));
            }
        }

        @Override
        public void decommit(final long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
            }
            synchronized (VirtualMemorySource.this) {
                checkNotClosed();
                keep(roundUp(Math.min(bytes, endBytes())));
            }
        }

        @Override
        public void close() {
            synchronized (VirtualMemorySource.this) {
                if (growables.contains(this)) {
                    keep(0);
                    growables.remove(this);
                }
            }
        }

        private void keep(final long bytes) {
            final long before = committedBytes();
            units.clear((int) (bytes / ALIGNMENT_BYTES), units.length());
            takenBytes -= before - committedBytes();
        }

        private void checkNotClosed() {
            if (!growables.contains(this)) {
                throw new IllegalStateException("the growable region is closed");
            }
        }

        private static long roundUp(final long bytes) {
            return (bytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
        }
    }
}
