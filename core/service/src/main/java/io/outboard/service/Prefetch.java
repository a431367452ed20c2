package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.session.Answer;
import io.outboard.service.internal.session.LenderGoneException;
import io.outboard.service.internal.wire.MessageType;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a client asks for a lease before it needs it: when it has just taken several of one size, one soon after
 * the other. There is never more than one such lease, and it goes back if it isn't taken soon. The clock is the
 * caller's.
 *
 * <p>External lock required: the connection's.
 */
final class Prefetch {

    /** What is done with what comes, or doesn't, which is null. */
    interface Coming {
        void came(Asked asked, @Nullable Lease lease);
    }

    /** The lender's answer, which nobody waits for as a rule. */
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

    /** So many of one size are steady growth. */
    private static final int STEADY = 3;

    /** What comes later than that isn't steady, and what isn't taken by then wasn't needed. */
    static final long SOON_NANOS = 1_000_000_000;

    private long lastBytes;
    private long lastNanos;
    private int count;

    /** Whether one has been asked for and hasn't come. */
    private boolean isComing;

    private @Nullable Lease ready;
    private long readyNanos;

    /** Of the one that is there, in bytes; 0 if none is. */
    long bytes() {
        return ready == null ? 0 : ready.bytes();
    }

    boolean isComing() {
        return isComing;
    }

    /** One of that size that is there; or null. */
    @Nullable
    Lease take(final long bytes) {
        final Lease lease = ready;
        if (lease == null || lease.bytes() != bytes) {
            return null;
        }
        ready = null;
        return lease;
    }

    /** A lease of that size has just been taken: whether another is to be asked for now. */
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

    /** What was asked for has come; or hasn't, which is null. What is to go back instead: null, or the lease. */
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
     * The client shrinks, or others need memory: nothing is kept ahead, and growth isn't steady. What is to go back; or
     * null.
     */
    @Nullable
    Lease stop() {
        count = 0;
        final Lease lease = ready;
        ready = null;
        return lease;
    }

    /** As {@link #stop}, if what is ready wasn't taken for too long. */
    @Nullable
    Lease stale(final long nowNanos) {
        return ready != null && nowNanos - readyNanos >= SOON_NANOS ? stop() : null;
    }
}
