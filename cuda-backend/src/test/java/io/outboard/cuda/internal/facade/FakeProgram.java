package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.VirtualMemoryCalls;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolStatistics;
import io.outboard.pool.ReusePolicy;
import java.util.Objects;
import java.util.Optional;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaStream_t;

/** A program on two simulated devices uses both facades. */
final class FakeProgram {

    static final long FIRST_REGION_BYTES = 64L << 20;

    final FakeCuda cuda;
    final FakeRuntime jcuda;
    final ContextPools pools;
    final RuntimeFacade runtime;
    final DriverFacade driver;

    FakeProgram(final ReusePolicy reuse) {
        this(reuse, Optional.empty());
    }

    /** Makes a program whose regions grow in place. */
    FakeProgram(final ReusePolicy reuse, final VirtualMemoryCalls memory) {
        this(reuse, Optional.of(memory));
    }

    /** Makes a program whose memory may be leased. */
    FakeProgram(final LeasedMemory.Door lender) {
        this(new FakeCuda(2), ReusePolicy.STRICT, Optional.empty(), lender);
    }

    /** Makes a program on other devices. */
    FakeProgram(final FakeCuda cuda, final ReusePolicy reuse) {
        this(cuda, reuse, Optional.empty(), LeasedMemory::connect);
    }

    private FakeProgram(final ReusePolicy reuse, final Optional<VirtualMemoryCalls> memory) {
        this(new FakeCuda(2), reuse, memory, LeasedMemory::connect);
    }

    private FakeProgram(
            final FakeCuda cuda,
            final ReusePolicy reuse,
            final Optional<VirtualMemoryCalls> memory,
            final LeasedMemory.Door lender) {
        this.cuda = cuda;
        jcuda = new FakeRuntime(cuda);
        pools = new ContextPools(null, () -> cuda, () -> memory, lender, OutboardOptions::ofProperties);
        runtime = jcuda.runtime(pools);
        driver = jcuda.driver(pools);
        pools.configure(options(reuse));
    }

    /** Returns options without slack, so that a pool asks for freed memory before it takes more. */
    private static OutboardOptions options(final ReusePolicy reuse) {
        return OutboardOptions.defaults()
                .withReuse(reuse)
                .withShare(0.8)
                .withFirstRegionBytes(FIRST_REGION_BYTES)
                .withSlackBytes(0L);
    }

    /** Makes a program whose frees are barriers. */
    static FakeProgram withBarriers(final ReusePolicy reuse) {
        final FakeProgram program = new FakeProgram(reuse);
        program.pools.configure(options(reuse).withFreeIsBarrier(true));
        return program;
    }

    /** Allocates by the runtime, which must succeed. */
    long malloc(final long sizeBytes) {
        final Pointer pointer = new Pointer();
        assertEquals(0, runtime.cudaMalloc(pointer, sizeBytes));
        return DevicePointers.address(pointer);
    }

    int free(final long address) {
        return runtime.cudaFree(DevicePointers.pointerTo(address));
    }

    long mallocAsync(final long sizeBytes, final long stream) {
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, driver.cuMemAllocAsync(pointer, sizeBytes, streamOf(stream)));
        return DevicePointers.address(pointer);
    }

    int freeAsync(final long address, final long stream) {
        return driver.cuMemFreeAsync(pointerTo(address), streamOf(stream));
    }

    /** Makes a blocking stream in the current context by JCuda's own function. */
    long createStream() {
        return createStream(true);
    }

    long createStream(final boolean blocking) {
        if (cuda.currentContextOrZero() == 0) {
            // The runtime makes the primary context current, too.
            cuda.setDevice(cuda.current());
        }
        return cuda.streams().createStream(cuda.currentContextOrZero(), blocking);
    }

    int destroyStream(final long stream) {
        return runtime.cudaStreamDestroy(DevicePointers.withHandle(new cudaStream_t(), stream));
    }

    int beginCapture(final long stream) {
        return driver.cuStreamBeginCapture(streamOf(stream), 0);
    }

    int endCapture(final long stream) {
        return driver.cuStreamEndCapture(streamOf(stream), new jcuda.driver.CUgraph());
    }

    /** Allocates what is left of the first region, so that the next request needs freed memory. */
    long fill() {
        final PoolStatistics now = pool(0).statistics();
        return malloc(now.heldBytes() - now.usedBytes() - now.limboBytes());
    }

    Pool pool(final int device) {
        return Objects.requireNonNull(pools.ofDevice(device)).pool();
    }

    static CUstream streamOf(final long stream) {
        return DevicePointers.withHandle(new CUstream(), stream);
    }

    static CUdeviceptr pointerTo(final long address) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, address);
        return pointer;
    }
}
