package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import io.outboard.cuda.Outboard;
import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolStatistics;
import io.outboard.pool.ReusePolicy;
import java.util.Arrays;
import java.util.function.ToLongFunction;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * The facades: the runtime's synchronous functions, or, if stream-ordered, the driver's on {@link ThreadStreams}.
 * A thread has some pointers, into which it writes addresses in turn.
 */
final class FacadeSupply implements Supply {

    private final int device;
    private final @Nullable ThreadStreams streams;

    FacadeSupply(final ThreadSettings settings) {
        device = settings.device();
        final ReusePolicy policy = ReusePolicy.valueOf(settings.reusePolicy());
        Outboard.configure(
                OutboardOptions.ofProperties().withStrategy(settings.strategy()).withReuse(policy));
        check("cudaSetDevice", OutboardRuntime.cudaSetDevice(device));
        // Of nothing, since that is enough for a context to be there.
        check("cudaFree", OutboardRuntime.cudaFree(new Pointer()));
        streams = policy == ReusePolicy.STREAM_ORDERED ? new ThreadStreams(settings) : null;
    }

    @Override
    public Blocks blocks() {
        return streams == null ? new RuntimeBlocks(device) : new OrderedBlocks(device, streams.next());
    }

    @Override
    public long heldBytes() {
        return statistic(PoolStatistics::heldBytes);
    }

    @Override
    public long limboBytes() {
        return statistic(PoolStatistics::limboBytes);
    }

    @Override
    public long liveBlocks() {
        return statistic(PoolStatistics::liveBlocks);
    }

    @Override
    public long synchronizations() {
        return statistic(PoolStatistics::synchronizations);
    }

    private long statistic(final ToLongFunction<PoolStatistics> number) {
        return Outboard.poolOf(device)
                .map(Pool::statistics)
                .map(number::applyAsLong)
                .orElse(0L);
    }

    @Override
    public void close() {
        if (streams != null) {
            streams.close();
        }
        // What is measured next needs the memory.
        Outboard.poolOf(device).ifPresent(pool -> pool.trimTo(0));
    }

    private static void check(final String call, final int code) {
        if (code != cudaError.cudaSuccess) {
            throw new IllegalStateException(call + " failed: " + cudaError.stringFor(code));
        }
    }

    /** Lets a thread that is new use the device. */
    private abstract static class OfDevice extends Blocks {

        private final int device;
        private Thread user = Thread.currentThread();

        OfDevice(final int device) {
            this.device = device;
        }

        final void enter() {
            final Thread current = Thread.currentThread();
            if (user != current) {
                user = current;
                check("cudaSetDevice", OutboardRuntime.cudaSetDevice(device));
            }
        }
    }

    private static final class RuntimeBlocks extends OfDevice {

        private static final int POINTERS = 64;

        /** As a program has one for each block; and so that no two threads write to one cache line. */
        private final Pointer[] pointers = new Pointer[POINTERS];

        private int next;

        RuntimeBlocks(final int device) {
            super(device);
            Arrays.setAll(pointers, i -> new Pointer());
        }

        private Pointer pointer() {
            next = (next + 1) % POINTERS;
            return pointers[next];
        }

        @Override
        long allocate(final long sizeBytes) {
            enter();
            final Pointer pointer = pointer();
            check("cudaMalloc", OutboardRuntime.cudaMalloc(pointer, sizeBytes));
            return DevicePointers.address(pointer);
        }

        @Override
        void free(final long address) {
            enter();
            final Pointer pointer = pointer();
            DevicePointers.set(pointer, address);
            check("cudaFree", OutboardRuntime.cudaFree(pointer));
        }
    }

    private static final class OrderedBlocks extends OfDevice {

        private final CUdeviceptr pointer = new CUdeviceptr();
        private final CUstream stream;

        OrderedBlocks(final int device, final CUstream stream) {
            super(device);
            this.stream = stream;
        }

        @Override
        long allocate(final long sizeBytes) {
            enter();
            checkDriver("cuMemAllocAsync", OutboardDriver.cuMemAllocAsync(pointer, sizeBytes, stream));
            return DevicePointers.address(pointer);
        }

        @Override
        void free(final long address) {
            enter();
            DevicePointers.set(pointer, address);
            checkDriver("cuMemFreeAsync", OutboardDriver.cuMemFreeAsync(pointer, stream));
        }

        private static void checkDriver(final String call, final int code) {
            if (code != CUresult.CUDA_SUCCESS) {
                throw new IllegalStateException(call + " failed: " + CUresult.stringFor(code));
            }
        }
    }
}
