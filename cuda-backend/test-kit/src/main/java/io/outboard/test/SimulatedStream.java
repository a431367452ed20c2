package io.outboard.test;

import io.outboard.pool.simulated.SimulatedDevice;
import java.util.Objects;

/**
 * A simulated stream runs kernels in the order of their launches, and late: when a test advances or synchronises it,
 * when another stream waits for it, or when the pool does, which needs memory back. Safe for any number of threads.
 */
public final class SimulatedStream {

    private final SimulatedDevice device;
    private final BlockLedger ledger;
    private final HostPages pages;
    private final long handle;

    /** The number of the last work that was submitted. */
    private long last;

    SimulatedStream(final SimulatedDevice device, final BlockLedger ledger, final HostPages pages, final long handle) {
        this.device = device;
        this.ledger = ledger;
        this.pages = pages;
        this.handle = handle;
    }

    /** {@return the number that the pool's methods for streams take} */
    public long handle() {
        return handle;
    }

    /**
     * Submits a kernel, which runs later.
     *
     * @param name what messages call it
     * @param kernel what it does
     * @param addresses an address in each block that it uses, as a kernel's arguments have them: an access to other
     *     memory is a fault. None if it may use all blocks that are in use now; then only a fault that really happens
     *     is found, not that it could
     * @throws MemoryFaultError if one of the addresses lies in no block that is in use; nothing is submitted
     */
    public void launch(final String name, final Kernel kernel, final long... addresses) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kernel, "kernel");
        synchronized (ledger.lock) {
            final Launch launch = ledger.launch(name, handle, last + 1, addresses);
            last = device.submit(handle, () -> run(kernel, launch));
        }
    }

    private void run(final Kernel kernel, final Launch launch) {
        ledger.running(true);
        try {
            kernel.run(new DeviceMemory(pages, ledger, launch));
        } catch (final MemoryFaultError known) {
            // The ledger has it already; the pool, which may have waited for this, has nothing to do with it.
        } catch (final Throwable e) {
            // Kernels in Kotlin or Scala may throw checked exceptions, too.
            ledger.failed(launch, e);
        } finally {
            ledger.running(false);
        }
    }

    /**
     * Makes what is submitted to this stream from now on wait for what was submitted to another one until now, as an
     * event does.
     *
     * @param other the other stream, of the same device
     * @throws IllegalArgumentException if it is another device's
     */
    public void waitFor(final SimulatedStream other) {
        if (other.device != device) {
            throw new IllegalArgumentException("other=" + other + " must be a stream of the same device");
        }
        synchronized (ledger.lock) {
            final long number = other.last;
            ledger.order(handle, other.handle, number);
            last = device.submit(handle, () -> device.finish(other.handle, number));
        }
    }

    /** Runs the kernel that is next, or ends the wait that is; nothing if there is none. */
    public void advance() {
        device.finishNext(handle);
    }

    /** Runs all that was submitted until now. */
    public void synchronize() {
        synchronized (ledger.lock) {
            device.finish(handle, last);
        }
    }

    /** {@return whether all that was submitted has run} */
    public boolean isIdle() {
        synchronized (ledger.lock) {
            return device.hasFinished(handle, last);
        }
    }

    /** {@return for example {@code stream 1}} */
    @Override
    public String toString() {
        return "stream " + handle;
    }
}
