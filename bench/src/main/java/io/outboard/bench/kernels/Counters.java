package io.outboard.bench.kernels;

import io.outboard.bench.report.JsonLine;
import io.outboard.cuda.memory.DevicePointers;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/** What kernels count while they check, in device memory: {@code Counters} of {@code kernels.cu}. */
final class Counters {

    private static final String[] NAMES = {"nulls", "misaligned", "outside", "mismatches"};
    private static final int SERVED = NAMES.length;

    /** Size in device memory. */
    static final long BYTES = (SERVED + 1) * (long) Long.BYTES;

    private final CUdeviceptr pointer = new CUdeviceptr();

    Counters(final long address) {
        DevicePointers.set(pointer, address);
    }

    long address() {
        return DevicePointers.address(pointer);
    }

    void clear() {
        KernelBench.check("cuMemsetD8", JCudaDriver.cuMemsetD8(pointer, (byte) 0, BYTES));
    }

    /** Adds them to a result; for {@link TestKind#OOM} with the fraction of the heap that was handed out. */
    void addTo(final JsonLine json, final KernelCase work) {
        final long[] counts = new long[SERVED + 1];
        KernelBench.check("cuMemcpyDtoH", JCudaDriver.cuMemcpyDtoH(Pointer.to(counts), pointer, BYTES));
        for (int i = 0; i < SERVED; i++) {
            json.put(NAMES[i], counts[i]);
        }
        if (work.test() == TestKind.OOM) {
            json.put("served", (double) counts[SERVED] / work.heapBytes(), 4);
        }
    }
}
