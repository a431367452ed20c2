package io.outboard.bench.measure.pool.isolated;

import io.outboard.bench.cli.isolated.Target;
import io.outboard.cuda.OutboardDriver;
import java.util.stream.Stream;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;

/**
 * The target measures the facade of the driver's stream-ordered functions. Each slot owns one JCuda pointer that is
 * used again.
 */
final class DriverTarget extends Target {

    private final CUstream stream;
    private final CUdeviceptr[] pointers;
    private final boolean[] served;

    DriverTarget(final CUstream stream, final int slots) {
        this.stream = stream;
        pointers = Stream.generate(CUdeviceptr::new).limit(slots).toArray(CUdeviceptr[]::new);
        served = new boolean[slots];
    }

    @Override
    public boolean allocate(final int slot, final long sizeBytes) {
        served[slot] = OutboardDriver.cuMemAllocAsync(pointers[slot], sizeBytes, stream) == CUresult.CUDA_SUCCESS;
        return served[slot];
    }

    @Override
    public boolean wasServed(final int slot) {
        return served[slot];
    }

    @Override
    public void free(final int slot) {
        final int code = OutboardDriver.cuMemFreeAsync(pointers[slot], stream);
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException("cuMemFreeAsync failed: " + CUresult.stringFor(code));
        }
    }
}
