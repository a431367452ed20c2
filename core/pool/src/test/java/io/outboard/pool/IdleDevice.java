package io.outboard.pool;

/** A device that has always finished, for pools whose threads are to be tested and not their device. */
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
