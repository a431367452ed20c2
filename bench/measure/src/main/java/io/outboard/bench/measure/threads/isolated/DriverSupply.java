package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.cli.device.DriverAllocator;
import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.measure.threads.ThreadSettings;
import io.outboard.cuda.memory.DevicePointers;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * The driver's own functions; {@code cuMemAllocAsync} on {@link ThreadStreams}.
 * An allocator of one slot is kept open meanwhile: it keeps the context, and the driver's pool from giving memory back.
 */
final class DriverSupply implements Supply {

    private final int device;
    private final DriverAllocator keeper;
    private final @Nullable ThreadStreams streams;

    DriverSupply(final ThreadSettings settings) {
        device = settings.device();
        final boolean ordered = settings.kind() == ThreadSettings.Kind.CU_MEM_ALLOC_ASYNC;
        keeper = DriverAllocators.open(
                ordered ? DriverAllocators.CU_MEM_ALLOC_ASYNC : DriverAllocators.CUDA_MALLOC, device, 1);
        streams = ordered ? new ThreadStreams(settings) : null;
    }

    @Override
    public Blocks blocks() {
        return streams == null ? new RuntimeBlocks(device) : new OrderedBlocks(device, streams.next());
    }

    @Override
    public long heldBytes() {
        return 0;
    }

    @Override
    public long limboBytes() {
        return 0;
    }

    @Override
    public long liveBlocks() {
        return 0;
    }

    @Override
    public long synchronizations() {
        return 0;
    }

    @Override
    public void close() {
        try (keeper) {
            if (streams != null) {
                streams.close();
            }
        }
    }

    private static void check(final String call, final int code) {
        if (code != cudaError.cudaSuccess) {
            throw new IllegalStateException(call + " failed: " + cudaError.stringFor(code));
        }
    }

    private static void checkDriver(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException(call + " failed: " + CUresult.stringFor(code));
        }
    }

    /** Makes the device's primary context the thread's, also a new thread's. */
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
                check("cudaSetDevice", JCuda.cudaSetDevice(device));
            }
        }
    }

    private static final class RuntimeBlocks extends OfDevice {

        private final Pointer pointer = new Pointer();

        RuntimeBlocks(final int device) {
            super(device);
        }

        @Override
        long allocate(final long sizeBytes) {
            enter();
            check("cudaMalloc", JCuda.cudaMalloc(pointer, sizeBytes));
            return DevicePointers.address(pointer);
        }

        @Override
        void free(final long address) {
            enter();
            DevicePointers.set(pointer, address);
            check("cudaFree", JCuda.cudaFree(pointer));
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
            checkDriver("cuMemAllocAsync", JCudaDriver.cuMemAllocAsync(pointer, sizeBytes, stream));
            return DevicePointers.address(pointer);
        }

        @Override
        void free(final long address) {
            enter();
            DevicePointers.set(pointer, address);
            checkDriver("cuMemFreeAsync", JCudaDriver.cuMemFreeAsync(pointer, stream));
        }
    }
}
