package io.outboard.bench.kernels;

import io.outboard.bench.report.JsonLine;
import io.outboard.core.Region;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.DeviceAllocator;
import io.outboard.cuda.KernelModule;
import io.outboard.cuda.kernels.TextResource;
import io.outboard.cuda.memory.CudaFailureException;
import io.outboard.cuda.memory.DevicePointers;
import java.util.HashMap;
import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUlimit;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * A device on which cases run, one after the other, each on a fresh heap; the device's primary context becomes the thread's
 * current one. Confined to one thread. A kernel that hangs hangs that thread for good: see {@link Watchdog}.
 */
final class KernelBench implements AutoCloseable {

    private final CudaMemorySource source;
    private final Map<Contender, KernelModule> modules = new HashMap<>();
    private final Stopwatch stopwatch;
    private final Counters counters;
    private final Ageing ageing;
    private @Nullable Region memory;
    private boolean driverHeapIsSet;

    KernelBench(final int device) {
        source = CudaMemorySource.open(device);
        checkRuntime("cudaSetDevice", JCuda.cudaSetDevice(device));
        // Frees nothing, but makes the primary context, unless there is one, and its being current certain.
        checkRuntime("cudaFree", JCuda.cudaFree(new Pointer()));
        stopwatch = new Stopwatch();
        counters = new Counters(source.take(Counters.BYTES).address());
        ageing = new Ageing(source.take(Ageing.BYTES), stopwatch, counters);
    }

    /**
     * Measures a case. All cases of CUDA's own allocator must have heaps of one size.
     *
     * @return one object
     * @throws RuntimeException if a kernel crashed, memory isn't enough, and so on; the context may be of no more use
     */
    JsonLine measure(final KernelCase work) {
        if (work.contender().isCuda() && !driverHeapIsSet) {
            // The driver takes its heap when the first module that uses it is loaded; later, its size can't change.
            check("cuCtxSetLimit", JCudaDriver.cuCtxSetLimit(CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, work.heapBytes()));
            driverHeapIsSet = true;
        }
        final KernelModule module = work.contender().linked() ? linked(work.contender()) : module(work.contender());
        if (work.test() == TestKind.REGISTERS) {
            return work.json()
                    .put("status", "ok")
                    .put("registers", (long) module.registers("registers"))
                    .put("cycleRegisters", (long) module.registers("cycle"));
        }
        final Region blocks = source.take(work.pointers() * Long.BYTES);
        final long heap = memory(work.contender().hasBounds() ? work.heapBytes() : 1);
        final JsonLine result = work.test() == TestKind.CHURN
                ? new ChurnRun(work, module, heap, blocks, stopwatch, counters).measure()
                : new CaseRun(work, module, heap, blocks, stopwatch, counters, ageing).measure();
        // Not after a failure: then the context may be broken, and the failure would be hidden by the next one.
        source.giveBack(blocks);
        return result;
    }

    private KernelModule module(final Contender contender) {
        return modules.computeIfAbsent(
                contender,
                key -> KernelModule.load(key.resource(), TextResource.read(KernelBench.class, key.resource())));
    }

    private KernelModule linked(final Contender contender) {
        return modules.computeIfAbsent(contender, key -> {
            final DeviceAllocator allocator = DeviceAllocator.named(key.name());
            final String kernels = TextResource.read(KernelBench.class, Contender.linkedResource());
            return key.coalesced()
                    ? KernelModule.linkCoalesced(allocator, kernels)
                    : KernelModule.link(allocator, kernels);
        });
    }

    /** Memory for heaps: one region, the largest that was asked for so far. */
    private long memory(final long bytes) {
        Region region = memory;
        if (region == null || region.sizeBytes() < bytes) {
            memory = null;
            if (region != null) {
                source.giveBack(region);
            }
            region = source.take(bytes);
            memory = region;
        }
        return region.address();
    }

    @Override
    public void close() {
        stopwatch.close();
        modules.values().forEach(KernelModule::close);
        source.close();
    }

    /** Zeroes memory, after what was launched before. */
    static void clear(final Region region) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, region.address());
        check("cuMemsetD8", JCudaDriver.cuMemsetD8(pointer, (byte) 0, region.sizeBytes()));
    }

    static void check(final String call, final int result) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new CudaFailureException(call, result, CUresult.stringFor(result));
        }
    }

    private static void checkRuntime(final String call, final int result) {
        if (result != cudaError.cudaSuccess) {
            throw new CudaFailureException(call, result, cudaError.stringFor(result));
        }
    }
}
