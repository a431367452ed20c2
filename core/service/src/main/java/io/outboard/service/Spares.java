package io.outboard.service;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Memory that is made ahead of need, and has never been lent: of the size that was asked for most of late. Confined to
 * the lender's thread.
 */
final class Spares {

    /** So many requests tell the commonest size. */
    private static final int REMEMBERED = 16;

    private int most;
    private final Deque<LendingDevice.Memory> ready = new ArrayDeque<>();
    private final long[] asked = new long[REMEMBERED];
    private int askedCount;

    /** Of those that are ready. */
    private long sizeBytes;

    /** Being made. */
    private int coming;

    /** @param most how many are kept ready; 0 for none */
    Spares(final int most) {
        this.most = most;
    }

    /** Somebody asks for so much. */
    void asked(final long bytes) {
        asked[askedCount++ % REMEMBERED] = bytes;
    }

    /** One of that size, or null. */
    LendingDevice.@Nullable Memory take(final long bytes) {
        return bytes == sizeBytes ? ready.poll() : null;
    }

    /** What those that are ready, or are being made, take of the device. */
    long bytes() {
        return (ready.size() + coming) * sizeBytes;
    }

    /**
     * How large one is to be that should be made now, which is counted as being made then; 0 if none should.
     *
     * @param roomBytes how much of the device nobody has
     */
    long next(final long roomBytes) {
        final long wantedBytes = commonestBytes();
        if (most == 0 || wantedBytes == 0) {
            return 0;
        }
        if (wantedBytes != sizeBytes && coming == 0) {
            drop();
            sizeBytes = wantedBytes;
        }
        if (wantedBytes != sizeBytes || ready.size() + coming >= most || roomBytes - bytes() < sizeBytes) {
            return 0;
        }
        coming++;
        return sizeBytes;
    }

    /** What was being made is there; or isn't, which is null. */
    void came(final LendingDevice.@Nullable Memory memory) {
        coming--;
        if (memory != null && ready.size() < most) {
            ready.add(memory);
        } else if (memory != null) {
            memory.close();
        }
    }

    /** There are none any more; what is still being made goes as it comes. */
    void end() {
        most = 0;
        drop();
    }

    /** None is kept any longer; whether there were some. */
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
