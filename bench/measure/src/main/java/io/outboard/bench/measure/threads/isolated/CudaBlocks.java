package io.outboard.bench.measure.threads.isolated;

import io.outboard.cuda.driver.DevicePointers;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;

/**
 * The class allocates and frees by CUDA's functions, the driver's own or the facades'. A thread has some pointers, into
 * which it writes addresses in turn.
 */
final class CudaBlocks extends Blocks {

    /** A function that allocates; one that isn't stream-ordered ignores the stream. */
    interface Allocation {
        int call(CUdeviceptr pointer, long sizeBytes, CUstream stream);
    }

    /** A function that frees; one that isn't stream-ordered ignores the stream. */
    interface Free {
        int call(CUdeviceptr pointer, CUstream stream);
    }

    /** The functions to call, their names, and the names of their result codes. */
    record Functions(
            IntUnaryOperator setDevice,
            String allocationName,
            Allocation allocation,
            String freeName,
            Free free,
            IntFunction<String> codeName) {}

    private static final int POINTERS = 64;

    private final Functions functions;
    private final int device;
    private final CUstream stream;

    /**
     * The pointers are many, since a program has one for each block, and since no two threads should write to one cache
     * line.
     */
    private final CUdeviceptr[] pointers = new CUdeviceptr[POINTERS];

    private int next;
    private Thread user = Thread.currentThread();

    CudaBlocks(final Functions functions, final int device, final CUstream stream) {
        this.functions = functions;
        this.device = device;
        this.stream = stream;
        Arrays.setAll(pointers, i -> new CUdeviceptr());
    }

    @Override
    long allocate(final long sizeBytes) {
        final CUdeviceptr pointer = pointer();
        check(functions.allocationName, functions.allocation.call(pointer, sizeBytes, stream));
        return DevicePointers.address(pointer);
    }

    @Override
    void free(final long address) {
        final CUdeviceptr pointer = pointer();
        DevicePointers.set(pointer, address);
        check(functions.freeName, functions.free.call(pointer, stream));
    }

    /** Returns the next pointer, after making the device's primary context current if the thread is a new one. */
    private CUdeviceptr pointer() {
        final Thread current = Thread.currentThread();
        if (user != current) {
            user = current;
            check("cudaSetDevice", functions.setDevice.applyAsInt(device));
        }
        next = (next + 1) % POINTERS;
        return pointers[next];
    }

    private void check(final String call, final int code) {
        if (code != 0) {
            throw new IllegalStateException(call + " failed: " + functions.codeName.apply(code));
        }
    }
}
