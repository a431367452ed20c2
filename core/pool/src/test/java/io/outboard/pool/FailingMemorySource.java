package io.outboard.pool;

import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import io.outboard.core.VirtualMemorySource;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** This source makes virtual regions, fails when a test says so, and counts calls. Safe for any number of threads. */
public final class FailingMemorySource implements MemorySource {

    private static final long UNIT_BYTES = 1L << 21;

    private final VirtualMemorySource source;
    private final long shiftBytes;
    private long mostAddressBytes = Long.MAX_VALUE;
    private boolean growsInPlace;
    private boolean captured;
    private long calls;
    private long takes;
    private long questions;
    private Runnable whenAsked = () -> {};
    private LongConsumer whenGone = unit -> {};
    private @Nullable Thread lastCaller;
    private long piecesMoved;
    private int regionsOut;

    /** The addresses of the units that have memory, in regions that grow in place. */
    private final Set<Long> units = new HashSet<>();

    private long failingCall = Long.MAX_VALUE;
    private @Nullable Supplier<RuntimeException> failure;
    private @Nullable Supplier<? extends RuntimeException> refusal;

    /**
     * Makes a source of regions that are aligned to 2 MiB.
     *
     * @param limitBytes the most bytes that may be out at a time
     */
    public FailingMemorySource(final long limitBytes) {
        this(limitBytes, 0);
    }

    /**
     * Makes a source of regions that are less aligned.
     *
     * @param limitBytes the most bytes that may be out at a time, with {@code shiftBytes} more for each region
     * @param shiftBytes how far behind a multiple of 2 MiB regions start
     */
    public FailingMemorySource(final long limitBytes, final long shiftBytes) {
        source = new VirtualMemorySource(limitBytes);
        this.shiftBytes = shiftBytes;
    }

    /**
     * Offers regions that grow in place from now on.
     *
     * @return this source
     */
    public FailingMemorySource growingInPlace() {
        growsInPlace = true;
        return this;
    }

    /**
     * Limits the addresses of regions that grow in place.
     *
     * @param bytes the most bytes of addresses
     * @return this source
     */
    public FailingMemorySource withAddresses(final long bytes) {
        mostAddressBytes = bytes;
        return this;
    }

    /**
     * Makes regions neither move nor give back memory from now on, as if a stream were captured that the pool doesn't
     * know of.
     */
    public synchronized void capture() {
        captured = true;
    }

    /**
     * Takes memory that a pool can't have.
     *
     * @param bytes how much
     */
    public void takeForOthers(final long bytes) {
        source.take(bytes);
    }

    /**
     * Tells whether all of a block has memory, in a region that grows in place.
     *
     * @param address where the block begins
     * @param sizeBytes the block's size
     * @return whether all of it has memory
     */
    public synchronized boolean hasMemory(final long address, final long sizeBytes) {
        for (long unit = address & -UNIT_BYTES; unit < address + sizeBytes; unit += UNIT_BYTES) {
            if (!units.contains(unit)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Makes one call of {@link #take}, {@link #giveBack} or {@link #reserve}, or of a method of a region that grows in
     * place, fail and change nothing.
     *
     * @param call which call from now on, from 1
     * @param newFailure makes the exception to throw
     */
    public synchronized void failAt(final long call, final Supplier<RuntimeException> newFailure) {
        failingCall = calls + call;
        failure = newFailure;
    }

    /**
     * Makes every call that takes memory fail from now on, and change nothing.
     *
     * @param newRefusal makes the exception to throw; null to end the failures
     */
    public synchronized void refuse(final @Nullable Supplier<? extends RuntimeException> newRefusal) {
        refusal = newRefusal;
    }

    /**
     * Returns how often a region was taken, given back, reserved, grown, shrunk, moved or closed.
     *
     * @return the number of calls, including failed ones
     */
    public synchronized long calls() {
        return calls;
    }

    /**
     * Sets what to do each time this source is asked what it has.
     *
     * @param newWhenAsked what to do
     */
    public synchronized void whenAsked(final Runnable newWhenAsked) {
        whenAsked = newWhenAsked;
    }

    /**
     * Sets what to do with the address of each unit of 2 MiB that loses its memory, in regions that grow in place.
     *
     * @param newWhenGone what to do
     */
    public synchronized void whenGone(final LongConsumer newWhenGone) {
        whenGone = newWhenGone;
    }

    /**
     * Returns how often this source was asked what it has.
     *
     * @return calls of {@link #availableBytes}
     */
    public synchronized long questions() {
        return questions;
    }

    /**
     * Returns the thread that made the last counted call.
     *
     * @return the thread, null if there was no call
     */
    public synchronized @Nullable Thread lastCaller() {
        return lastCaller;
    }

    /**
     * Returns how often a region was asked for.
     *
     * @return the number of calls, including failed ones
     */
    public synchronized long takes() {
        return takes;
    }

    /**
     * Returns how many pieces were moved.
     *
     * @return the number of pieces, including those whose move failed
     */
    public synchronized long moves() {
        return piecesMoved;
    }

    /**
     * Returns how many regions weren't given back.
     *
     * @return how many
     */
    public synchronized int regionsOut() {
        return regionsOut;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        takes++;
        call();
        checkServed();
        final Region region = source.take(sizeBytes + shiftBytes);
        regionsOut++;
        return new Region(region.address() + shiftBytes, sizeBytes);
    }

    @Override
    public synchronized void giveBack(final Region region) {
        call();
        source.giveBack(new Region(region.address() - shiftBytes, region.sizeBytes() + shiftBytes));
        regionsOut--;
    }

    @Override
    public synchronized Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        if (!growsInPlace) {
            return Optional.empty();
        }
        call();
        final Optional<GrowableRegion> reserved = source.reserve(bytes, Math.min(addressBytes, mostAddressBytes));
        regionsOut++;
        return Optional.of(new Failing(reserved.orElseThrow()));
    }

    @Override
    public synchronized long availableBytes() {
        questions++;
        whenAsked.run();
        return source.availableBytes();
    }

    @Override
    public void close() {
        source.close();
    }

    private void call() {
        lastCaller = Thread.currentThread();
        if (++calls == failingCall && failure != null) {
            throw failure.get();
        }
    }

    private void checkServed() {
        if (refusal != null) {
            throw refusal.get();
        }
    }

    private final class Failing implements GrowableRegion {

        private final GrowableRegion inner;

        Failing(final GrowableRegion inner) {
            this.inner = inner;
        }

        @Override
        public Region region() {
            return inner.region();
        }

        @Override
        public long unitBytes() {
            return inner.unitBytes();
        }

        @Override
        public long committedBytes() {
            return inner.committedBytes();
        }

        @Override
        public long endBytes() {
            return inner.endBytes();
        }

        @Override
        public long pieceFrom(final long address) {
            return inner.pieceFrom(address);
        }

        @Override
        public long pieceBytes(final long address) {
            return inner.pieceBytes(address);
        }

        @Override
        public void commit(final long address, final long bytes, final long pieceBytes) {
            synchronized (FailingMemorySource.this) {
                call();
                checkServed();
                inner.commit(address, bytes, pieceBytes);
                change(address, bytes, true);
            }
        }

        /** Gives pieces back one by one, as each may be the call that fails. */
        @Override
        public void giveBack(final long[] pieces, final int count) {
            synchronized (FailingMemorySource.this) {
                for (int i = 0; i < count && !captured; i++) {
                    call();
                    final long bytes = inner.pieceBytes(pieces[i]);
                    inner.giveBack(new long[] {pieces[i]}, 1);
                    change(pieces[i], bytes, false);
                }
            }
        }

        @Override
        public void move(final long[] pieces, final int count) {
            synchronized (FailingMemorySource.this) {
                for (int i = 0; i < count && !captured; i++) {
                    piecesMoved++;
                    call();
                    final long to = region().address() + inner.endBytes();
                    final long bytes = inner.pieceBytes(pieces[i]);
                    inner.move(new long[] {pieces[i]}, 1);
                    change(pieces[i], bytes, false);
                    change(to, bytes, true);
                }
            }
        }

        private void change(final long address, final long bytes, final boolean memory) {
            for (long unit = address; unit < address + bytes; unit += UNIT_BYTES) {
                if (memory) {
                    units.add(unit);
                } else {
                    units.remove(unit);
                    whenGone.accept(unit);
                }
            }
        }

        @Override
        public void close() {
            synchronized (FailingMemorySource.this) {
                call();
                inner.close();
                regionsOut--;
            }
        }
    }
}
