package io.outboard.pool.record;

import io.outboard.pool.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The records of some threads that haven't been written: one buffer that is filled, while another may be written. Safe for any number of
 * threads.
 */
final class Stripe {

    /** Empty. The thread is to try again, and not at once: both buffers are full. */
    static final byte[] FULL = new byte[0];

    private static final int BUFFER_BYTES = 1 << 15;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final SpinLock lock = new SpinLock();

    /** Guarded by the lock, as the others; null while the other one is written, and this one is full. */
    private byte @Nullable [] records = new byte[BUFFER_BYTES];

    private byte @Nullable [] spare = new byte[BUFFER_BYTES];
    private int end;
    private boolean ended;

    /** Answers what the caller is to write, and then to {@linkplain #written give back}; null for nothing; or {@link #FULL}. */
    byte @Nullable [] add(final long nanos, final long address, final long stream, final long packed) {
        lock.lock();
        try {
            final byte[] to = records;
            if (ended) {
                return null;
            }
            if (to == null) {
                return FULL;
            }
            final int at = end;
            LONGS.set(to, at, nanos);
            LONGS.set(to, at + 8, address);
            LONGS.set(to, at + 16, stream);
            LONGS.set(to, at + 24, packed);
            end = at + Recorder.RECORD_BYTES;
            return end == BUFFER_BYTES ? exchange() : null;
        } finally {
            lock.taken = false;
        }
    }

    private byte @Nullable [] exchange() {
        final byte[] full = records;
        records = spare;
        spare = null;
        end = 0;
        return full;
    }

    /** The lock is held by nobody: what was to be written is. */
    void written(final byte[] buffer) {
        lock.lock();
        try {
            if (records == null) {
                records = buffer;
            } else {
                spare = buffer;
            }
        } finally {
            lock.taken = false;
        }
    }

    /** A copy of what there is, which is to be written, and is counted as written. */
    byte[] take() {
        lock.lock();
        try {
            final byte[] from = records;
            final byte[] copy = from == null ? FULL : Arrays.copyOf(from, end);
            end = 0;
            return copy;
        } finally {
            lock.taken = false;
        }
    }

    /** From now on records are left out. False while one of the buffers is still being written. */
    boolean end() {
        lock.lock();
        try {
            ended = true;
            return records != null && spare != null;
        } finally {
            lock.taken = false;
        }
    }
}
