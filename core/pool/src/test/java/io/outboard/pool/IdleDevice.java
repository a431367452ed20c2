package io.outboard.pool;

/** An idle device has always finished. It is for tests of a pool's threads rather than of its device. */
class IdleDevice implements DeviceWork {

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
}
