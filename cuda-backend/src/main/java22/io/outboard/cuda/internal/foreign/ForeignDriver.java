package io.outboard.cuda.internal.foreign;

import static io.outboard.cuda.internal.facade.JCudaBinding.POINTER;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.facade.ContextPools;
import io.outboard.cuda.internal.facade.Facade;
import io.outboard.cuda.internal.facade.JCudaBinding;
import java.lang.foreign.MemorySegment;
import jcuda.NativePointerObject;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * This class has the driver's functions for device memory, as {@code java.lang.foreign} binds them: a handle or an
 * address is a long, and a function writes its result to a segment of 8 bytes. TornadoVM's CUDA backend binds them in
 * this way, in {@code uk.ac.manchester.tornado.drivers.cuda.ffm.CUDADriverAPI}, and the agent redirects its calls to
 * this class. This class is for JDK 22 and newer.
 *
 * <p>Algorithm: each function calls that of the same name of {@code io.outboard.cuda.OutboardDriver}, over the same
 * pools. A thread's context is remembered, so this class also has the functions that make, choose and end contexts, and
 * those that capture streams into graphs. JCuda must be on the class path, with its native library.
 *
 * <p>Each function answers a code: exceptions are for programs that call JCuda. A function first sets its segment to 0,
 * so a wrong segment is refused before anything is allocated or made: by {@link IndexOutOfBoundsException} if the
 * segment is smaller than 8 bytes, {@link NullPointerException} if it is null, {@link IllegalArgumentException} if it
 * can't be written, {@link IllegalStateException} if its arena is closed, {@link WrongThreadException} if it belongs to
 * another thread.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of OutboardDriver's functions, one object of JCuda, and
 * after a choice of the context one question to the driver. When memory runs out, the code is
 * {@code CUDA_ERROR_OUT_OF_MEMORY}.
 */
public final class ForeignDriver {

    /** The facade, which isn't OutboardDriver's, because a program may have turned exceptions on there. */
    private static final Facade FACADE =
            Facade.ofDriver(ContextPools.ofProcess(OutboardOptions::ofProperties), new JCudaBinding(false));

    private ForeignDriver() {}

    public static int cuMemAlloc(final MemorySegment devicePointer, final long sizeBytes) {
        clear(devicePointer);
        final CUdeviceptr pointer = new CUdeviceptr();
        final int code = FACADE.allocate(pointer, POINTER, sizeBytes, JCudaDriver::cuMemAlloc);
        devicePointer.set(JAVA_LONG_UNALIGNED, 0, DevicePointers.address(pointer));
        return code;
    }

    public static int cuMemFree(final long devicePointer) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, devicePointer);
        return FACADE.free(pointer, POINTER, JCudaDriver::cuMemFree);
    }

    public static int cuCtxCreate(final MemorySegment context, final int flags, final int device) {
        clear(context);
        final CUcontext made = new CUcontext();
        final CUdevice number = DevicePointers.withHandle(new CUdevice(), device);
        return set(
                context,
                made,
                FACADE.make(() -> DevicePointers.handle(made), () -> JCudaDriver.cuCtxCreate(made, flags, number)));
    }

    public static int cuCtxDestroy(final long context) {
        final CUcontext ended = contextOf(context);
        return FACADE.end(context, true, () -> JCudaDriver.cuCtxDestroy(ended));
    }

    public static int cuCtxSetCurrent(final long context) {
        return FACADE.choose(() -> JCudaDriver.cuCtxSetCurrent(contextOf(context)));
    }

    public static int cuStreamDestroy(final long stream) {
        return FACADE.destroyStream(stream, () -> JCudaDriver.cuStreamDestroy(streamOf(stream)));
    }

    public static int cuStreamBeginCapture(final long stream, final int mode) {
        return FACADE.beginCapture(stream, () -> JCudaDriver.cuStreamBeginCapture(streamOf(stream), mode));
    }

    public static int cuStreamEndCapture(final long stream, final MemorySegment graph) {
        clear(graph);
        final CUgraph captured = new CUgraph();
        final int code = FACADE.endCapture(stream, () -> JCudaDriver.cuStreamEndCapture(streamOf(stream), captured));
        return set(graph, captured, code);
    }

    private static CUcontext contextOf(final long context) {
        return DevicePointers.withHandle(new CUcontext(), context);
    }

    private static CUstream streamOf(final long stream) {
        return DevicePointers.withHandle(new CUstream(), stream);
    }

    /** Throws if a segment is wrong, before anything is made whose handle would be lost. */
    private static void clear(final MemorySegment result) {
        result.set(JAVA_LONG_UNALIGNED, 0, 0);
    }

    private static int set(final MemorySegment result, final NativePointerObject made, final int code) {
        // After a failure, JCuda leaves an arbitrary value of its stack in the object.
        result.set(JAVA_LONG_UNALIGNED, 0, code == 0 ? DevicePointers.handle(made) : 0);
        return code;
    }
}
