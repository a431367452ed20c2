package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.PiecedRegion;
import io.outboard.core.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * This memory source is a device of real pages, whose regions can move them. A {@link Memfd} is divided into slots of 2
 * MiB, each of which is free or mapped at one unit of a region's addresses. There is nothing behind any other address,
 * so access to it ends the process. Memory that is given back loses its pages, which the kernel counts.
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

    private final long limitBytes;
    private final Memfd memory;
    private final BitSet freeSlots = new BitSet();
    private final Set<Growable> growables = new HashSet<>();

    /** The regions that don't grow; all their memory is committed from the start. */
    private final Map<Region, Growable> out = new HashMap<>();

    private long unitsMoved;
    private boolean closed;

    /** Creates a device of {@code limitBytes}, a multiple of {@link #UNIT_BYTES}. */
    MemfdMemorySource(final long limitBytes) {
        this.limitBytes = limitBytes;
        memory = new Memfd(limitBytes);
        freeSlots.set(0, (int) (limitBytes / UNIT_BYTES));
    }

    /** Returns how much this device holds, as the kernel says: pages that were touched, and not given back since. */
    synchronized long heldBytes() {
        return memory.heldBytes();
    }

    /** Returns how many units have moved so far. */
    synchronized long moves() {
        return unitsMoved;
    }

    /** Returns how many regions weren't given back. */
    synchronized int regionsOut() {
        return growables.size();
    }

    /**
     * Tells whether memory is behind all of a block, by what this source was told; access shows whether that is true.
     */
    synchronized boolean hasMemory(final long address, final long sizeBytes) {
        for (final Growable growable : growables) {
            if (growable.region().contains(address)) {
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
        final Growable growable = reserved(roundUp(sizeBytes));
        growable.commit(growable.region().address(), roundUp(sizeBytes), roundUp(sizeBytes));
        final Region region = new Region(growable.region().address(), sizeBytes);
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
    public synchronized Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        if (bytes <= 0 || addressBytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + ", addressBytes=" + addressBytes + " must be > 0");
        }
        checkOpen();
        final long mostBytes = Math.min(bytes, limitBytes) * ADDRESSES_FOR_A_BYTE;
        final long sizeBytes = Math.min(addressBytes, mostBytes) & -UNIT_BYTES;
        if (sizeBytes == 0) {
            return Optional.empty();
        }
        return Optional.of(reserved(sizeBytes));
    }

    /** Reserves one unit more than {@code sizeBytes}, since pages are smaller than units, and so less aligned. */
    private Growable reserved(final long sizeBytes) {
        final Growable growable = new Growable(memory.reserve(sizeBytes + UNIT_BYTES), sizeBytes);
        growables.add(growable);
        return growable;
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

    /** A growable region is used under the source's lock, since all regions share its slots. */
    private final class Growable extends PiecedRegion {

        private final long reserved;

        /** The slots that a piece's units have, by piece. */
        private final Map<Long, int[]> slots = new HashMap<>();

        Growable(final long reserved, final long sizeBytes) {
            super(MemfdMemorySource.this, new Region(roundUp(reserved), sizeBytes), UNIT_BYTES);
            this.reserved = reserved;
        }

        boolean hasMemory(final long address, final long sizeBytes) {
            long end = region().address();
            for (final long piece : pieces()) {
                end = piece > end ? piece : end;
                if (piece <= address) {
                    end = piece + pieceBytes(piece);
                } else if (piece == end && end > address) {
                    end += pieceBytes(piece);
                } else {
                    break;
                }
            }
            return end >= address + sizeBytes;
        }

        @Override
        protected void addChecked(final long address, final long bytes, final long pieceBytes) {
            checkFree(bytes);
            for (long done = 0; done < bytes; done += pieceBytes) {
                putNew(address + done, Math.min(pieceBytes, bytes - done));
            }
        }

        @Override
        protected void giveBackChecked(final long[] begins, final int count) {
            for (int i = 0; i < count; i++) {
                drop(begins[i]);
            }
        }

        @Override
        protected void moveChecked(final long[] begins, final int count) {
            long to = region().address() + endBytes();
            for (int i = 0; i < count; i++) {
                final int[] moved = takeAway(begins[i]);
                put(to, moved);
                to += moved.length * UNIT_BYTES;
                unitsMoved += moved.length;
            }
        }

        @Override
        public void close() {
            synchronized (MemfdMemorySource.this) {
                if (endCalls()) {
                    pieces().forEach(this::drop);
                    growables.remove(this);
                    memory.freeAddresses(reserved, region().sizeBytes() + UNIT_BYTES);
                }
            }
        }

        private void putNew(final long address, final long bytes) {
            final int[] taken = freeSlots.stream().limit(bytes / UNIT_BYTES).toArray();
            Arrays.stream(taken).forEach(freeSlots::clear);
            put(address, taken);
        }

        private void drop(final long piece) {
            for (final int slot : takeAway(piece)) {
                memory.freePages(slot * UNIT_BYTES, UNIT_BYTES);
                freeSlots.set(slot);
            }
        }

        private void put(final long address, final int[] taken) {
            for (int i = 0; i < taken.length; i++) {
                memory.map(address + i * UNIT_BYTES, UNIT_BYTES, taken[i] * UNIT_BYTES);
            }
            addPiece(address, taken.length * UNIT_BYTES, 0);
            slots.put(address, taken);
        }

        private int[] takeAway(final long piece) {
            memory.unmap(piece, pieceBytes(piece));
            removePiece(piece);
            return Objects.requireNonNull(slots.remove(piece));
        }
    }
}
