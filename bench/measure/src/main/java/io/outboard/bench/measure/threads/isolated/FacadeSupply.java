package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import io.outboard.cuda.Outboard;
import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolStatistics;
import io.outboard.pool.ReusePolicy;
import java.util.function.ToLongFunction;
import jcuda.Pointer;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * This supply takes memory by the facades: the runtime's synchronous functions, or, if stream-ordered, the driver's on
 * {@link ThreadStreams}.
 */
final class FacadeSupply implements Supply {

    private static final CudaBlocks.Functions RUNTIME = new CudaBlocks.Functions(
            OutboardRuntime::cudaSetDevice,
            "cudaMalloc",
            (pointer, sizeBytes, stream) -> OutboardRuntime.cudaMalloc(pointer, sizeBytes),
            "cudaFree",
            (pointer, stream) -> OutboardRuntime.cudaFree(pointer),
            cudaError::stringFor);

    private static final CudaBlocks.Functions ORDERED = new CudaBlocks.Functions(
            OutboardRuntime::cudaSetDevice,
            "cuMemAllocAsync",
            OutboardDriver::cuMemAllocAsync,
            "cuMemFreeAsync",
            OutboardDriver::cuMemFreeAsync,
            CUresult::stringFor);

    private final int device;
    private final @Nullable ThreadStreams streams;

    FacadeSupply(final ThreadSettings settings) {
        device = settings.device();
        final ReusePolicy policy = ReusePolicy.valueOf(settings.reusePolicy());
        Outboard.configure(
                OutboardOptions.ofProperties().withStrategy(settings.strategy()).withReuse(policy));
        check("cudaSetDevice", OutboardRuntime.cudaSetDevice(device));
        // A free of a null pointer is enough to make the runtime create a context.
        check("cudaFree", OutboardRuntime.cudaFree(new Pointer()));
        streams = policy == ReusePolicy.STREAM_ORDERED ? new ThreadStreams(settings) : null;
    }

    @Override
    public Blocks blocks() {
        return streams == null
                ? new CudaBlocks(RUNTIME, device, new CUstream())
                : new CudaBlocks(ORDERED, device, streams.next());
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
        // The next measurement needs the memory.
        Outboard.poolOf(device).ifPresent(pool -> pool.trimTo(0));
    }

    private static void check(final String call, final int code) {
        if (code != cudaError.cudaSuccess) {
            throw new IllegalStateException(call + " failed: " + cudaError.stringFor(code));
        }
    }
}
