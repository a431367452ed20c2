package io.outboard.bench.measure.pool.isolated;

import io.outboard.bench.cli.isolated.Target;
import io.outboard.cuda.OutboardRuntime;
import java.util.stream.Stream;
import jcuda.Pointer;
import jcuda.runtime.cudaError;

/**
 * The target measures the facade of the runtime. Each slot owns one JCuda pointer that is used again for every
 * allocation in it.
 */
final class RuntimeTarget extends Target {

    private final Pointer[] pointers;
    private final boolean[] served;

    RuntimeTarget(final int slots) {
        pointers = Stream.generate(Pointer::new).limit(slots).toArray(Pointer[]::new);
        served = new boolean[slots];
    }

    @Override
    public boolean allocate(final int slot, final long sizeBytes) {
        served[slot] = OutboardRuntime.cudaMalloc(pointers[slot], sizeBytes) == cudaError.cudaSuccess;
        return served[slot];
    }

    @Override
    public boolean wasServed(final int slot) {
        return served[slot];
    }

    @Override
    public void free(final int slot) {
        final int code = OutboardRuntime.cudaFree(pointers[slot]);
        if (code != cudaError.cudaSuccess) {
            throw new IllegalStateException("cudaFree failed: " + cudaError.stringFor(code));
        }
    }
}
