package io.outboard.core;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * This source has <em>virtual</em> regions: ranges of numbers that nothing backs.
 *
 * <p>Strategies work on addresses alone, so over a virtual region they run exactly as over device memory. It serves
 * tests, replays of recorded traces, planning (would this program fit into 24 GiB?) and machines without a GPU. Ranges
 * start at 2^40, are aligned to 2 MiB, as the driver's large allocations are, and are never handed out twice, so a
 * stale address is always recognised. Regions that grow in place are offered too, in units of 2 MiB; their pieces count
 * as taken.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: O(1) a call. When the limit is reached, the source throws
 * {@link DeviceOutOfMemoryException}.
 */
public final class VirtualMemorySource implements MemorySource {

    private static final long FIRST_ADDRESS = 1L << 40;
    private static final long ALIGNMENT_BYTES = 1L << 21;

    private final long limitBytes;
    private final Set<Region> out = new HashSet<>();
    private final Set<Growable> growables = new HashSet<>();
    private long nextAddress = FIRST_ADDRESS;
    private long takenBytes;
    private boolean closed;

    /** Makes a source of up to 2^62 bytes at a time. */
    public VirtualMemorySource() {
        this(1L << 62);
    }

    /**
     * Makes a source that runs out, as a device does.
     *
     * @param limitBytes most bytes out at a time, {@code 0 < limitBytes <= 2^62}
     * @throws IllegalArgumentException if the limit is outside of its range
     */
    public VirtualMemorySource(final long limitBytes) {
        if (limitBytes <= 0 || limitBytes > 1L << 62) {
            throw new IllegalArgumentException("limitBytes=" + limitBytes + " must be > 0 and <= 2^62");
        }
        this.limitBytes = limitBytes;
    }

    /**
     * Makes one virtual region, for those who need no more than that.
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
    public synchronized Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0");
        }
        if (addressBytes <= 0) {
            throw new IllegalArgumentException("addressBytes=" + addressBytes + " must be > 0");
        }
        checkOpen();
        final long mostBytes = Math.min(addressBytes, Long.MAX_VALUE - ALIGNMENT_BYTES - nextAddress);
        final long memoryBytes = Math.min(bytes, limitBytes);
        final long wantedBytes =
                memoryBytes > mostBytes / ADDRESSES_FOR_A_BYTE ? mostBytes : memoryBytes * ADDRESSES_FOR_A_BYTE;
        final long sizeBytes = wantedBytes & -ALIGNMENT_BYTES;
        if (sizeBytes <= 0 || memoryBytes < ALIGNMENT_BYTES) {
            return Optional.empty();
        }
        final Growable growable = new Growable(new Region(nextAddress, sizeBytes));
        nextAddress += sizeBytes;
        growables.add(growable);
        return Optional.of(growable);
    }

    @Override
    public synchronized long availableBytes() {
        return closed ? 0 : limitBytes - takenBytes;
    }

    @Override
    public synchronized void close() {
        closed = true;
        out.clear();
        Set.copyOf(growables).forEach(Growable::close);
        takenBytes = 0;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }

    /** Calls are made under the source's lock, since all regions share its limit. */
    private final class Growable extends PiecedRegion {

        Growable(final Region region) {
            super(VirtualMemorySource.this, region, ALIGNMENT_BYTES);
        }

        @Override
        protected void addChecked(final long address, final long bytes, final long pieceBytes) {
            if (bytes > limitBytes - takenBytes) {
                throw DeviceOutOfMemoryException.ofDevice(bytes, limitBytes - takenBytes, limitBytes, "virtual limit");
            }
            for (long done = 0; done < bytes; done += pieceBytes) {
                addPiece(address + done, Math.min(pieceBytes, bytes - done), 0);
            }
            takenBytes += bytes;
        }

        @Override
        protected void giveBackChecked(final long[] begins, final int count) {
            for (int i = 0; i < count; i++) {
                takenBytes -= pieceBytes(begins[i]);
                removePiece(begins[i]);
            }
        }

        @Override
        protected void moveChecked(final long[] begins, final int count) {
            long to = region().address() + endBytes();
            for (int i = 0; i < count; i++) {
                final long bytes = pieceBytes(begins[i]);
                removePiece(begins[i]);
                addPiece(to, bytes, 0);
                to += bytes;
            }
        }

        @Override
        public void close() {
            synchronized (VirtualMemorySource.this) {
                if (endCalls()) {
                    growables.remove(this);
                    takenBytes -= committedBytes();
                    pieces().forEach(this::removePiece);
                }
            }
        }
    }
}
