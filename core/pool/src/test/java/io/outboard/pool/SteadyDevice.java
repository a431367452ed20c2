package io.outboard.pool;

/** A device whose work takes some questions to finish, and that makes no garbage itself. Confined to one thread. */
class SteadyDevice implements DeviceWork {

    /** Questions asked. */
    long answers;

    private final long waitMillis;
    private long nextMark;

    SteadyDevice() {
        this(0);
    }

    /** One that takes so long to be synchronised. */
    SteadyDevice(final long waitMillis) {
        this.waitMillis = waitMillis;
    }

    @Override
    public boolean synchronize() {
        answers++;
        if (waitMillis > 0) {
            try {
                Thread.sleep(waitMillis);
            } catch (final InterruptedException e) {
                throw new IllegalStateException("nobody interrupts", e);
            }
        }
        return true;
    }

    @Override
    public boolean isIdle() {
        return waitMillis == 0;
    }

    @Override
    public boolean isCapturing() {
        return false;
    }

    @Override
    public long mark() {
        return nextMark++;
    }

    @Override
    public long mark(final long stream) {
        return nextMark++;
    }

    @Override
    public boolean isFinished(final long mark) {
        answers++;
        return answers % 3 != 0;
    }

    @Override
    public void await(final long mark) {}

    @Override
    public void release(final long mark) {}
}
