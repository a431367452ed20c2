package io.outboard.test;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.AccessibleMemorySource;
import io.outboard.pool.DeviceMemorySource;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.simulated.SimulatedDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A simulated GPU is a device in host memory, with a {@link Pool} over it, for tests on machines without a GPU. Its
 * addresses can be read and written ({@link #memory}), kernels are Java ({@link SimulatedStream#launch}) and run late,
 * and its calls fail when a test says so. It knows where each block was allocated and freed, and finds leaks, accesses
 * out of bounds, and memory that is used too late: {@link #check} throws what it found.
 *
 * <pre>{@code
 * try (SimulatedGpu gpu = SimulatedGpu.open(64 << 20)) {
 *     long a = gpu.pool().allocate(1024);
 *     gpu.stream(1).launch("fill", memory -> memory.fill(a, 1024, (byte) 7), a);
 *     gpu.pool().free(a);
 *     gpu.check();
 * }
 * }</pre>
 *
 * <p>With JUnit, {@link OutboardExtension} does all but the two lines in the middle.
 *
 * <p>It is no model of a GPU's speed, nor of what kernels of two streams do to each other while they run side by side:
 * a kernel runs from its start to its end. The default stream, 0, is a stream like any other. What isn't a block of its
 * pool, it doesn't know.
 *
 * <p>Thread-safety: safe for any number of threads, one of which is served at a time. Cost: some microseconds for an
 * allocation, a free or a launch, less than one for an access. Host memory: what is touched, in pages of 64 KiB. When
 * its memory runs out, the pool throws a {@link DeviceOutOfMemoryException}, with the largest blocks in use and the
 * lines that allocated them as a suppressed exception.
 */
public final class SimulatedGpu implements AutoCloseable {

    private final SimulatedDevice device = new SimulatedDevice();
    private final HostPages pages = new HostPages();
    private final BlockLedger ledger;
    private final DeviceMemory memory;
    private final Source source;
    private final Pool pool;
    private final Map<Long, SimulatedStream> streams = new HashMap<>();

    private SimulatedGpu(final long memoryBytes, final Consumer<PoolBuilder> customiser) {
        source = new Source(memoryBytes, device, pages);
        ledger = new BlockLedger(device, memoryBytes);
        memory = new DeviceMemory(pages, ledger, null);
        // One region for all, which costs nothing here: so memory runs out when there is no more, wherever it lies.
        final PoolBuilder builder = Pool.over(source).firstRegionBytes(memoryBytes);
        customiser.accept(builder);
        pool = builder.listener(ledger).build();
        ledger.policy(pool.reusePolicy());
    }

    /**
     * Opens a device, with a pool by default.
     *
     * @param memoryBytes how much memory it has, {@code 0 < memoryBytes <= 2^62}
     * @return the device
     * @throws IllegalArgumentException if {@code memoryBytes} is outside of its range
     */
    public static SimulatedGpu open(final long memoryBytes) {
        return open(memoryBytes, builder -> {});
    }

    /**
     * Opens a device, with a pool as the caller describes it.
     *
     * @param memoryBytes how much memory it has, {@code 0 < memoryBytes <= 2^62}
     * @param customiser changes the description before the pool is made, for example by {@link
     *     PoolBuilder#reuse(io.outboard.pool.ReusePolicy)}; a listener or another device's work that it sets has no
     *     effect, or none that could be relied on
     * @return the device
     * @throws IllegalArgumentException if {@code memoryBytes} is outside of its range, or as {@link PoolBuilder#build}
     */
    public static SimulatedGpu open(final long memoryBytes, final Consumer<PoolBuilder> customiser) {
        return new SimulatedGpu(memoryBytes, customiser);
    }

    /** {@return the pool over this device, always the same} */
    public Pool pool() {
        return pool;
    }

    /** {@return the memory as the test reads and writes it, always the same} */
    public DeviceMemory memory() {
        return memory;
    }

    /**
     * {@return the stream of a handle, always the same, which exists from now on}
     *
     * @param handle any number, {@code 0 <= handle}
     */
    public SimulatedStream stream(final long handle) {
        if (handle < 0) {
            throw new IllegalArgumentException("handle=" + handle + " must be >= 0");
        }
        synchronized (ledger.lock) {
            return streams.computeIfAbsent(handle, number -> new SimulatedStream(device, ledger, pages, number));
        }
    }

    /** Runs all that was submitted to all streams. */
    public void synchronize() {
        device.finishAll();
    }

    /**
     * Makes a request of the pool fail with a {@link DeviceOutOfMemoryException}, though there may be memory.
     *
     * @param request which one from now on, from 1
     */
    public void failRequest(final long request) {
        ledger.failRequest(checkPositive("request", request));
    }

    /** {@return how many requests the pool had, including those that failed} */
    public long requests() {
        return ledger.requests();
    }

    /**
     * Makes a call fail that the pool makes to its device: to take a region or give it back, to mark work, to ask about
     * a mark, to wait for it, or to forget it.
     *
     * @param call which one from now on, from 1
     * @param failure makes the exception to throw
     */
    public void failCall(final long call, final Supplier<RuntimeException> failure) {
        device.failAt(checkPositive("call", call), failure);
    }

    /** {@return how many calls the pool has made to its device, including those that failed} */
    public long calls() {
        return device.calls();
    }

    /**
     * {@return the faults that were found until now, without leaks; they are forgotten here} Kernels that haven't run
     * yet have none.
     */
    public List<MemoryFaultError> takeFaults() {
        return ledger.takeFaults();
    }

    /**
     * Runs all that was submitted, and checks that no fault was found, and that no block is in use.
     *
     * @throws MemoryFaultError if there are faults or leaks; faults are forgotten then
     */
    public void check() {
        synchronize();
        final List<MemoryFaultError> found = new ArrayList<>(takeFaults());
        found.addAll(ledger.leaks());
        throwAll(found);
    }

    /**
     * Does what {@link #check} does, but for leaks: for a test that has failed already, and so may not have come to its
     * frees.
     *
     * @throws MemoryFaultError if there are faults; they are forgotten then
     */
    void checkFaults() {
        synchronize();
        throwAll(takeFaults());
    }

    private static void throwAll(final List<MemoryFaultError> found) {
        if (!found.isEmpty()) {
            throw MemoryFaultError.of(found);
        }
    }

    /**
     * Closes the pool, which runs all that was submitted unless blocks are reused at once, and checks nothing. What
     * {@link #failCall} asked for and hasn't happened won't. Idempotent.
     */
    @Override
    public void close() {
        device.failNone();
        try (source) {
            pool.close();
        }
    }

    private static long checkPositive(final String name, final long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + "=" + value + " must be > 0");
        }
        return value;
    }

    /** The source's regions are ranges of numbers, which the pages are behind. */
    private static final class Source implements DeviceMemorySource, AccessibleMemorySource {
        private final VirtualMemorySource regions;
        private final SimulatedDevice device;
        private final HostPages pages;

        Source(final long memoryBytes, final SimulatedDevice device, final HostPages pages) {
            regions = new VirtualMemorySource(memoryBytes);
            this.device = device;
            this.pages = pages;
        }

        @Override
        public DeviceWork work() {
            return device;
        }

        @Override
        public Region take(final long sizeBytes) {
            device.call();
            return regions.take(sizeBytes);
        }

        @Override
        public void giveBack(final Region region) {
            device.call();
            regions.giveBack(region);
        }

        @Override
        public boolean fill(final long address, final long sizeBytes, final byte value) {
            synchronized (device) {
                pages.fill(address, sizeBytes, value);
            }
            return true;
        }

        @Override
        public boolean read(final long address, final ByteBuffer to) {
            final byte[] bytes = new byte[to.limit()];
            synchronized (device) {
                pages.read(address, bytes);
            }
            to.put(0, bytes);
            return true;
        }

        @Override
        public long availableBytes() {
            return regions.availableBytes();
        }

        @Override
        public void close() {
            regions.close();
        }
    }
}
