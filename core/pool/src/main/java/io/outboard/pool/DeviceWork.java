package io.outboard.pool;

import java.util.concurrent.locks.LockSupport;

/**
 * This interface answers a pool that asks its device whether work submitted earlier has finished. The pool makes
 * <em>marks</em>, points in the device's work, and asks about them. Blocks in limbo depend on nothing else of the
 * device, so a simulated device serves as well.
 *
 * <p>Implementations are safe for any number of threads. Their methods may throw what the device's driver fails with;
 * the pool then loses nothing and hands nothing out.
 */
public interface DeviceWork {

    /** The value that {@link #mark} returns if a stream is being captured: no memory comes back by waiting then. */
    long NO_MARK = -1;

    /** The value that {@link #mark} returns if all marks are in use, by other pools, too: a mark comes back soon. */
    long NO_MARK_LEFT = -2;

    /** The device work that has always finished, for memory that no device works on. */
    DeviceWork NONE = new DeviceWork() {
        @Override
        public long mark() {
            return 0;
        }

        @Override
        public long mark(final long stream) {
            return 0;
        }

        @Override
        public boolean isFinished(final long mark) {
            return true;
        }

        @Override
        public void await(final long mark) {}

        @Override
        public void release(final long mark) {}

        @Override
        public boolean isCapturing() {
            return false;
        }
    };

    /**
     * Marks the end of all work that was submitted before the call, by any thread to any stream, also to one that was
     * destroyed since. Never waits.
     *
     * @return a mark, 0 or more, to be given to {@link #release} in the end; or {@link #NO_MARK} or {@link
     *     #NO_MARK_LEFT}
     */
    long mark();

    /**
     * Marks the end of all work that was submitted before the call to one stream. Never waits.
     *
     * @param stream handle of a stream that exists, 0 for the default one
     * @return a mark, 0 or more, to be given to {@link #release} in the end; or {@link #NO_MARK} or {@link
     *     #NO_MARK_LEFT}
     */
    long mark(long stream);

    /**
     * {@return whether the work before a mark has finished; false also if a stream is captured, so that nobody knows}
     * Never waits.
     *
     * @param mark what {@link #mark} answered
     */
    boolean isFinished(long mark);

    /**
     * Waits until the work before a mark has finished, or a stream is being captured.
     *
     * @param mark what {@link #mark} answered
     */
    void await(long mark);

    /**
     * Waits, at a pool's end, until all work has finished that was submitted before the call, or a stream is being
     * captured. The default waits until a mark can be made. Other pools may have all marks, so where marks are few, an
     * implementation should keep a mark for this method.
     */
    default void awaitAll() {
        long mark = mark();
        while (mark == NO_MARK_LEFT && !isCapturing()) {
            LockSupport.parkNanos(this, 50_000);
            mark = mark();
        }
        if (mark >= 0) {
            try {
                await(mark);
            } finally {
                release(mark);
            }
        }
    }

    /**
     * Forgets a mark.
     *
     * @param mark what {@link #mark} answered; not to be used again
     */
    void release(long mark);

    /**
     * {@return whether a stream is being captured into a graph, so that marking would break the capture} One may begin
     * at any moment, so each of the other methods looks for itself, too.
     */
    boolean isCapturing();

    /**
     * {@return the number by which a stream is known, 0 or more} A driver gives the handle of a destroyed stream to
     * another one, but not its number.
     *
     * @param stream handle of a stream that exists, 0 for the default one
     */
    default long idOf(final long stream) {
        return stream;
    }
}
