package io.outboard.pool.internal.record;

import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The records of some threads that haven't been written: one buffer that is filled, while another may be written. Safe for any number of
 * threads.
 */
final class Stripe {

    /** Empty. The thread is to try again, and not at once: both buffers are full. */
    static final byte[] FULL = new byte[0];

    static final int BUFFER_BYTES = 1 << 15;
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

    /** Copies what there is, which is to be written, and is counted as written; answers how many bytes. */
    int take(final byte[] to) {
        lock.lock();
        try {
            final byte[] from = records;
            final int bytes = from == null ? 0 : end;
            if (from != null) {
                System.arraycopy(from, 0, to, 0, bytes);
            }
            end = 0;
            return bytes;
        } finally {
            lock.taken = false;
        }
    }

    /** From now on records are left out. */
    void end() {
        lock.lock();
        try {
            ended = true;
        } finally {
            lock.taken = false;
        }
    }

    /** Whether nobody is writing one of the buffers. */
    boolean isWritten() {
        lock.lock();
        try {
            return records != null && spare != null;
        } finally {
            lock.taken = false;
        }
    }
}
