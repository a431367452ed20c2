package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.session.Answer;
import io.outboard.service.internal.session.LenderGoneException;
import io.outboard.service.internal.wire.MessageType;
import org.jspecify.annotations.Nullable;

/**
 * The prefetch decides when a client asks for a lease before it needs it: when it has just taken several of one size in
 * quick succession. There is at most one such lease. It goes back if it isn't taken soon. The clock is the caller's.
 *
 * <p>External lock required: that of the connection.
 */
final class Prefetch {

    /** A listener is told of the prefetched lease, or null if it isn't granted. */
    interface Coming {
        void came(Asked asked, @Nullable Lease lease);
    }

    /** The answer to a prefetch is usually awaited by nobody. */
    static final class Asked extends Answer {

        private final long bytes;
        private final Coming coming;

        Asked(final long bytes, final Coming coming) {
            this.bytes = bytes;
            this.coming = coming;
        }

        boolean isUsable(final @Nullable Lease lease) {
            return lease != null && lease.bytes() == bytes && lease.descriptor() != Linux.NONE;
        }

        @Override
        public void complete() {
            try {
                coming.came(this, is(MessageType.LEASED) ? new Lease(last().a(), last().b(), descriptor()) : null);
            } finally {
                super.complete();
            }
        }

        @Override
        public void fail(final LenderGoneException failure) {
            coming.came(this, null);
            super.fail(failure);
        }
    }

    /** The number of leases of one size that count as steady growth. */
    private static final int STEADY = 3;

    /** The longest time between two leases of steady growth. A prefetched lease that waits longer wasn't needed. */
    static final long SOON_NANOS = 1_000_000_000;

    private long lastBytes;
    private long lastNanos;
    private int count;

    /** Whether a prefetched lease is on its way. */
    private boolean isComing;

    private @Nullable Lease ready;
    private long readyNanos;

    /** Returns the size of the prefetched lease, in bytes; 0 if there is none. */
    long bytes() {
        return ready == null ? 0 : ready.bytes();
    }

    boolean isComing() {
        return isComing;
    }

    /** Takes the prefetched lease, or returns null if there is none of {@code bytes}. */
    @Nullable
    Lease take(final long bytes) {
        final Lease lease = ready;
        if (lease == null || lease.bytes() != bytes) {
            return null;
        }
        ready = null;
        return lease;
    }

    /** Records that a lease of {@code bytes} was taken, and returns whether to prefetch another one now. */
    boolean wants(final long bytes, final long nowNanos) {
        final boolean isSteady = bytes == lastBytes && nowNanos - lastNanos < SOON_NANOS;
        count = isSteady ? count + 1 : 1;
        lastBytes = bytes;
        lastNanos = nowNanos;
        if (count < STEADY || isComing || ready != null) {
            return false;
        }
        isComing = true;
        return true;
    }

    /** Takes a prefetched lease, or null if it wasn't granted. Returns a lease that must go back, or null. */
    @Nullable
    Lease came(final @Nullable Lease lease, final long nowNanos) {
        isComing = false;
        if (lease == null || count == 0) {
            return lease;
        }
        ready = lease;
        readyNanos = nowNanos;
        return null;
    }

    /**
     * Ends prefetching, since the client shrinks or others need memory: growth isn't steady any more. Returns a lease
     * that must go back, or null.
     */
    @Nullable
    Lease stop() {
        count = 0;
        final Lease lease = ready;
        ready = null;
        return lease;
    }

    /** Does what {@link #stop} does if the prefetched lease wasn't taken for too long. */
    @Nullable
    Lease stale(final long nowNanos) {
        return ready != null && nowNanos - readyNanos >= SOON_NANOS ? stop() : null;
    }
}
