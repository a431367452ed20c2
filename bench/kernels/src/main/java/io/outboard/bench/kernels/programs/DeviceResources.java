package io.outboard.bench.kernels.programs;

import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.core.Region;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * The resources that an object has opened on a device are closed together, the last one first. Confined to one thread.
 */
public final class DeviceResources implements AutoCloseable {

    private final Deque<Runnable> ends = new ArrayDeque<>();

    /** Takes memory filled with zeroes. */
    public Region take(final BenchDevice device, final long bytes) {
        final Region region = add(device.take(bytes), device::giveBack);
        BenchDevice.clear(region);
        return region;
    }

    /** Adds a resource that has been opened. */
    public <T> T add(final T opened, final Consumer<T> close) {
        ends.push(() -> close.accept(opened));
        return opened;
    }

    /**
     * Closes everything after a failure, for a constructor whose object nobody could close.
     *
     * @return the failure, to be thrown; with another one suppressed, if closing failed too
     */
    public RuntimeException closedAfter(final RuntimeException failure) {
        try {
            close();
        } catch (final RuntimeException next) {
            failure.addSuppressed(next);
        }
        return failure;
    }

    @Override
    public void close() {
        while (!ends.isEmpty()) {
            ends.pop().run();
        }
    }
}
