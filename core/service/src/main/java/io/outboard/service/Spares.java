package io.outboard.service;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Spares are memory that is made ahead of need and has never been lent. Their size is the one requested most often of
 * late. They take a bounded part of the device, and go when nobody has asked for their size for a while. The caller
 * provides the clock. Confined to the lender's thread.
 */
final class Spares {

    /** The number of recent requests that decide the most frequent size. */
    private static final int REMEMBERED = 16;

    /** The part of the device that spares take at most. */
    static final int SHARE_OF_DEVICE = 8;

    /** How long spares are kept for which nobody asks. */
    static final long KEPT_NANOS = 10_000_000_000L;

    private int most;
    private final long mostBytes;
    private final Deque<LendingDevice.Memory> ready = new ArrayDeque<>();
    private final long[] asked = new long[REMEMBERED];

    /** The number of requests, which starts from {@link #REMEMBERED} again after twice as many. */
    private int askedCount;

    /** The size of the spares that are ready, in bytes. */
    private long sizeBytes;

    /** The time at which somebody asked for that size last. */
    private long askedNanos;

    /** The number of spares that are being made. */
    private int coming;

    /**
     * Creates spares, of which none is made yet.
     *
     * @param most how many spares are kept ready; 0 for none
     * @param limitBytes how much the device lends in all
     */
    Spares(final int most, final long limitBytes) {
        this.most = most;
        mostBytes = limitBytes / SHARE_OF_DEVICE;
    }

    /** Records that a client asks for a lease of {@code bytes}. */
    void asked(final long bytes, final long nowNanos) {
        asked[askedCount % REMEMBERED] = bytes;
        askedCount = askedCount < 2 * REMEMBERED - 1 ? askedCount + 1 : REMEMBERED;
        askedNanos = bytes == sizeBytes ? nowNanos : askedNanos;
    }

    /** Takes a spare of {@code bytes}, or returns null. */
    LendingDevice.@Nullable Memory take(final long bytes) {
        return bytes == sizeBytes ? ready.poll() : null;
    }

    /** Returns how much of the device the spares take, including those that are being made. */
    long bytes() {
        return (ready.size() + coming) * sizeBytes;
    }

    /**
     * Returns the size of the spare that should be made now, which counts as being made from then on; 0 if none should.
     *
     * @param roomBytes how much of the device nobody has
     */
    long next(final long roomBytes, final long nowNanos) {
        final long wantedBytes = commonestBytes();
        if (most == 0 || wantedBytes == 0) {
            return 0;
        }
        if (wantedBytes != sizeBytes && coming == 0) {
            drop();
            sizeBytes = wantedBytes;
            askedNanos = nowNanos;
        }
        if (wantedBytes != sizeBytes
                || ready.size() + coming >= most
                || Math.min(roomBytes, mostBytes) - bytes() < sizeBytes) {
            return 0;
        }
        coming++;
        return sizeBytes;
    }

    /** Takes a spare that was being made; null if making it failed. */
    void came(final LendingDevice.@Nullable Memory memory) {
        coming--;
        if (memory != null && ready.size() < most) {
            ready.add(memory);
        } else if (memory != null) {
            memory.close();
        }
    }

    /** Returns when {@link #expire} drops what is ready, or {@code Long.MAX_VALUE}. */
    long nextNanos() {
        return ready.isEmpty() ? Long.MAX_VALUE : askedNanos + KEPT_NANOS;
    }

    /** Drops the spares if nobody has asked for them for {@link #KEPT_NANOS}, and forgets what was asked before. */
    void expire(final long nowNanos) {
        if (nowNanos >= nextNanos()) {
            drop();
            askedCount = 0;
        }
    }

    /** Drops all spares, and makes no more. Those that are still being made are dropped as they come. */
    void end() {
        most = 0;
        drop();
    }

    /** Drops all spares that are ready. Returns true if there were any. */
    boolean drop() {
        final boolean were = !ready.isEmpty();
        ready.forEach(LendingDevice.Memory::close);
        ready.clear();
        return were;
    }

    private long commonestBytes() {
        long commonest = 0;
        int mostCount = 0;
        for (int i = 0; i < Math.min(askedCount, REMEMBERED); i++) {
            int count = 0;
            for (int j = 0; j < Math.min(askedCount, REMEMBERED); j++) {
                count += asked[i] == asked[j] ? 1 : 0;
            }
            if (count > mostCount) {
                mostCount = count;
                commonest = asked[i];
            }
        }
        return commonest;
    }
}
