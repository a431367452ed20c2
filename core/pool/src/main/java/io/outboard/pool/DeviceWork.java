package io.outboard.pool;

/**
 * What a pool must know of its device: whether work submitted earlier has finished. Blocks that wait in limbo depend on
 * it and on nothing else of the device, so a simulated device serves as well.
 *
 * <p>Streams are named by their handle, 0 for the default stream. Implementations are safe for any number of threads.
 * Their methods may throw what the device's driver fails with; the pool then loses nothing and hands nothing out.
 */
public interface DeviceWork {

    /** What {@link #mark} answers if it couldn't, since a stream is being captured. */
    long NO_MARK = -1;

    /** For memory that no device works on: everything has always finished. */
    DeviceWork NONE = new DeviceWork() {
        @Override
        public boolean synchronize() {
            return true;
        }

        @Override
        public boolean isIdle() {
            return true;
        }

        @Override
        public boolean isCapturing() {
            return false;
        }

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
    };

    /**
     * Waits until all work that was submitted before the call, by any thread to any stream, has finished.
     *
     * @return false if it couldn't, since a stream is being captured
     */
    boolean synchronize();

    /**
     * Whether {@link #synchronize} would most likely return at once. Never waits. It is asked before a thread synchronises
     * that must not be held up by a kernel: nothing is concluded from the answer but who waits. False is always right.
     *
     * @return true if no work is known to be unfinished; false also if that can't be found out
     */
    default boolean isIdle() {
        return false;
    }

    /**
     * Whether {@link #synchronize} may be called at any moment, by a thread of the pool's own: whoever begins a capture is held
     * off meanwhile. Then a pool with {@link ReusePolicy#STRICT} synchronises ahead of need; otherwise only while a thread
     * asks it for memory, or has just done so.
     *
     * @return false unless that is guarded
     */
    default boolean isGuarded() {
        return false;
    }

    /**
     * Whether a stream is being captured into a graph, so that synchronising or marking would break the capture. One may
     * begin at any moment, so each of these says so itself, too.
     *
     * @return true if neither may be done now
     */
    boolean isCapturing();

    /**
     * Marks the end of all work that was submitted before the call to any stream that is known, or was until it ended: a
     * stream may end before its work has finished.
     *
     * @return a mark, 0 or more, to be given to {@link #release} in the end; or {@link #NO_MARK}
     */
    long mark();

    /**
     * Marks the end of all work that was submitted before the call to one stream.
     *
     * @param stream its handle
     * @return a mark, 0 or more, to be given to {@link #release} in the end; or {@link #NO_MARK}
     */
    long mark(long stream);

    /**
     * Whether the work before a mark has finished. Never waits.
     *
     * @param mark what {@link #mark} answered
     * @return true if all of it has, false also if that can't be found out, since a stream is being captured
     */
    boolean isFinished(long mark);

    /**
     * Waits until the work before a mark has finished, unless a stream is being captured.
     *
     * @param mark what {@link #mark} answered
     */
    void await(long mark);

    /**
     * Forgets a mark.
     *
     * @param mark what {@link #mark} answered; not to be used again
     */
    void release(long mark);
}
