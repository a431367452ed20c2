package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.cli.device.DriverAllocator;
import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.measure.threads.ThreadSettings;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * This supply takes memory by the driver's own functions; {@code cuMemAllocAsync} uses {@link ThreadStreams}. An
 * allocator of one slot is kept open meanwhile: it keeps the context, and keeps the driver's pool from returning
 * memory.
 */
final class DriverSupply implements Supply {

    private static final CudaBlocks.Functions RUNTIME = new CudaBlocks.Functions(
            JCuda::cudaSetDevice,
            "cudaMalloc",
            (pointer, sizeBytes, stream) -> JCuda.cudaMalloc(pointer, sizeBytes),
            "cudaFree",
            (pointer, stream) -> JCuda.cudaFree(pointer),
            cudaError::stringFor);

    private static final CudaBlocks.Functions ORDERED = new CudaBlocks.Functions(
            JCuda::cudaSetDevice,
            "cuMemAllocAsync",
            JCudaDriver::cuMemAllocAsync,
            "cuMemFreeAsync",
            JCudaDriver::cuMemFreeAsync,
            CUresult::stringFor);

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
        return streams == null
                ? new CudaBlocks(RUNTIME, device, new CUstream())
                : new CudaBlocks(ORDERED, device, streams.next());
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
}
