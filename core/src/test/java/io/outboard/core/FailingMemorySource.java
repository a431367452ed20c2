package io.outboard.core;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Virtual regions from a source that fails when a test says so, and counts. Safe for any number of threads. */
public final class FailingMemorySource implements MemorySource {

    private final VirtualMemorySource source;
    private final long shiftBytes;
    private long calls;
    private long takes;
    private int regionsOut;
    private long failingCall = Long.MAX_VALUE;
    private @Nullable Supplier<RuntimeException> failure;

    /**
     * A source of regions aligned to 2 MiB.
     *
     * @param limitBytes most bytes out at a time
     */
    public FailingMemorySource(final long limitBytes) {
        this(limitBytes, 0);
    }

    /**
     * A source of regions that aren't aligned so well.
     *
     * @param limitBytes most bytes out at a time, with {@code shiftBytes} more for each region
     * @param shiftBytes regions start so far after a multiple of 2 MiB
     */
    public FailingMemorySource(final long limitBytes, final long shiftBytes) {
        source = new VirtualMemorySource(limitBytes);
        this.shiftBytes = shiftBytes;
    }

    /**
     * Makes one call of {@link #take} or {@link #giveBack} fail, and change nothing.
     *
     * @param call which of those from now on, from 1
     * @param newFailure makes what it throws
     */
    public synchronized void failAt(final long call, final Supplier<RuntimeException> newFailure) {
        failingCall = calls + call;
        failure = newFailure;
    }

    /**
     * How often a region was taken or given back.
     *
     * @return calls, failed ones included
     */
    public synchronized long calls() {
        return calls;
    }

    /**
     * How often a region was asked for.
     *
     * @return calls, failed ones included
     */
    public synchronized long takes() {
        return takes;
    }

    /**
     * Regions that weren't given back.
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
    public long availableBytes() {
        return source.availableBytes();
    }

    @Override
    public void close() {
        source.close();
    }

    private void call() {
        if (++calls == failingCall && failure != null) {
            throw failure.get();
        }
    }
}
