package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.PiecedRegion;
import io.outboard.core.Region;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A leased region is a range of reserved addresses. Leases are mapped behind some of them; each lease is a piece.
 * Nothing is behind the other addresses, and access to them ends the process. A piece's descriptor is closed once the
 * piece is mapped; to move a piece, its memory is mapped again elsewhere.
 * <p>Safe for any number of threads.
 */
final class LeasedRegion extends PiecedRegion {

    private final Linux linux;
    private final LenderConnection connection;
    private final Region reserved;
    private final Consumer<LeasedRegion> onClose;

    private LeasedRegion(
            final Linux linux,
            final LenderConnection connection,
            final Region reserved,
            final Region region,
            final Consumer<LeasedRegion> onClose) {
        super(region, connection.unitBytes());
        this.linux = linux;
        this.connection = connection;
        this.reserved = reserved;
        this.onClose = onClose;
    }

    /**
     * Reserves {@code sizeBytes} of addresses, a multiple of the unit. Returns nothing if Linux has no such range left.
     */
    static Optional<LeasedRegion> reserve(
            final Linux linux,
            final LenderConnection connection,
            final long sizeBytes,
            final Consumer<LeasedRegion> onClose) {
        final long unitBytes = connection.unitBytes();
        // Linux aligns addresses to pages, which are smaller than units.
        final Region reserved;
        try {
            reserved = new Region(linux.reserve(sizeBytes + unitBytes), sizeBytes + unitBytes);
        } catch (final LinuxException e) {
            return Optional.empty();
        }
        final Region region = new Region((reserved.address() + unitBytes - 1) & -unitBytes, sizeBytes);
        return Optional.of(new LeasedRegion(linux, connection, reserved, region, onClose));
    }

    @Override
    protected void addChecked(final long address, final long bytes, final long pieceBytes) {
        long done = 0;
        try {
            while (done < bytes) {
                final long nextBytes = Math.min(pieceBytes, bytes - done);
                add(address + done, nextBytes, bytes - done);
                done += nextBytes;
            }
        } finally {
            if (done < bytes) {
                final int count = (int) (done / pieceBytes);
                final long[] begins = new long[count];
                for (int i = 0; i < count; i++) {
                    begins[i] = address + i * pieceBytes;
                }
                giveBackChecked(begins, count);
            }
        }
    }

    private void add(final long address, final long bytes, final long wantedBytes) {
        final Lease lease = connection.lease(bytes, wantedBytes);
        boolean done = false;
        try {
            linux.map(address, bytes, lease.descriptor(), false);
            addPiece(address, bytes, lease.number());
            done = true;
        } catch (final LinuxException e) {
            throw DeviceOutOfMemoryException.ofDevice(bytes, 0, e.getMessage());
        } finally {
            connection.closeDescriptor(lease);
            if (!done) {
                connection.giveBack(lease.number());
            }
        }
    }

    @Override
    protected void giveBackChecked(final long[] begins, final int count) {
        final long[] leases = new long[count];
        for (int i = 0; i < count; i++) {
            unmap(begins[i]);
            leases[i] = removePiece(begins[i]);
        }
        connection.giveBack(leases);
    }

    @Override
    protected void moveChecked(final long[] begins, final int count) {
        long to = region().address() + endBytes();
        for (int i = 0; i < count; i++) {
            final long bytes = pieceBytes(begins[i]);
            try {
                linux.mapAgain(begins[i], to, bytes);
            } catch (final LinuxException e) {
                throw new IllegalStateException("a lease can't be mapped elsewhere: " + e.getMessage(), e);
            }
            unmap(begins[i]);
            addPiece(to, bytes, removePiece(begins[i]));
            to += bytes;
        }
    }

    private void unmap(final long piece) {
        try {
            linux.unmap(piece, pieceBytes(piece));
        } catch (final LinuxException e) {
            throw new IllegalStateException("a lease can't be unmapped: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (!endCalls()) {
                return;
            }
            try {
                linux.free(reserved.address(), reserved.sizeBytes());
            } catch (final LinuxException e) {
                throw new IllegalStateException("addresses can't be given back: " + e.getMessage(), e);
            }
            connection.giveBack(pieces().stream().mapToLong(this::removePiece).toArray());
        }
        // The source closes its regions under its own lock, so this call must not hold the region's lock.
        onClose.accept(this);
    }
}
