package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.DevicePointers;
import java.nio.ByteBuffer;
import java.util.function.IntSupplier;
import java.util.function.ToIntBiFunction;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaDeviceProp;
import jcuda.runtime.cudaError;

/**
 * This class makes the {@link CudaCalls} by JCuda.
 *
 * <p>{@code JCuda.setExceptionsEnabled} is one private switch for the whole process. It belongs to the program, which
 * may turn it at any moment, so each call here copes with both: a code that is returned, and a {@link CudaException}
 * that carries only the code's name. Calls that a pool makes often leave no garbage, compiled or not.
 */
public final class JCudaCalls implements CudaCalls {

    /** The limit of CUDA's codes, except for one code of releases before 4.1. */
    private static final int CODE_LIMIT = 10_000;

    /** Loads JCuda's native library; {@link NativeLibrary} explains the {@link LinkageError}s of a failure. */
    JCudaCalls() {
        JCuda.initialize();
        // A JCuda with other members must be detected now, and not at the first allocation. The check takes a
        // millisecond.
        DevicePointers.pointerTo(0);
        UncheckedCalls.initialize();
    }

    /** Makes a call of JCuda and answers its code, whether JCuda's exceptions are on or off. */
    public static int ask(final IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    /**
     * This class has the objects in which a thread's calls pass handles and answers. The objects are reused, as each
     * call would otherwise leave a hundred bytes of garbage. Each object is in use only during a call.
     */
    private static final class Scratch {

        private static final ThreadLocal<Scratch> OF_THREAD = ThreadLocal.withInitial(Scratch::new);

        final long[] handle = new long[1];
        final int[] status = new int[1];
        final CUcontext context = new CUcontext();
        final CUstream stream = new CUstream();
        final CUevent event = new CUevent();

        static Scratch get() {
            return OF_THREAD.get();
        }

        /** Answers the thread's objects, with the given handles of a stream and an event. */
        static Scratch of(final long streamHandle, final long eventHandle) {
            final Scratch scratch = get();
            DevicePointers.withHandle(scratch.stream, streamHandle);
            DevicePointers.withHandle(scratch.event, eventHandle);
            return scratch;
        }
    }

    /** This interface is a call whose lambda captures nothing, and so makes no garbage. */
    private interface ScratchCall {
        int call(Scratch scratch);
    }

    private static int ask(final Scratch scratch, final ScratchCall call) {
        try {
            return call.call(scratch);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int deviceCount(final int[] count) {
        return ask(() -> JCuda.cudaGetDeviceCount(count));
    }

    @Override
    public int driverVersion(final int[] version) {
        return ask(() -> JCuda.cudaDriverGetVersion(version));
    }

    @Override
    public int runtimeVersion(final int[] version) {
        return ask(() -> JCuda.cudaRuntimeGetVersion(version));
    }

    @Override
    public int deviceName(final String[] name, final int device) {
        final cudaDeviceProp properties = new cudaDeviceProp();
        final int code = ask(() -> JCuda.cudaGetDeviceProperties(properties, device));
        if (code == SUCCESS) {
            name[0] = properties.getName().strip();
        }
        return code;
    }

    @Override
    public int currentDevice(final int[] device) {
        return ask(() -> JCuda.cudaGetDevice(device));
    }

    @Override
    public int setDevice(final int device) {
        return ask(() -> JCuda.cudaSetDevice(device));
    }

    @Override
    public int memoryInfo(final long[] freeBytes, final long[] totalBytes) {
        return ask(() -> JCuda.cudaMemGetInfo(freeBytes, totalBytes));
    }

    /** {@inheritDoc} With exceptions on, JCuda throws the error, and clears it nevertheless. */
    @Override
    public void clearLastError() {
        ask(JCuda::cudaGetLastError);
    }

    @Override
    public int currentContext(final long[] context) {
        final Scratch scratch = Scratch.get();
        final int code = ask(scratch, each -> JCudaDriver.cuCtxGetCurrent(each.context));
        context[0] = code == SUCCESS ? DevicePointers.handle(scratch.context) : 0;
        return code;
    }

    @Override
    public int pushContext(final long context) {
        final Scratch scratch = Scratch.get();
        DevicePointers.withHandle(scratch.context, context);
        return ask(scratch, each -> JCudaDriver.cuCtxPushCurrent(each.context));
    }

    @Override
    public int popContext() {
        return ask(Scratch.get(), each -> JCudaDriver.cuCtxPopCurrent(each.context));
    }

    @Override
    public int synchronize() {
        return ask(Scratch.get(), each -> JCudaDriver.cuCtxSynchronize());
    }

    @Override
    public int streamContext(final long[] context, final long stream) {
        if (stream == 0) {
            return currentContext(context);
        }
        final Scratch scratch = Scratch.of(stream, 0);
        final int code = ask(scratch, each -> JCudaDriver.cuStreamGetCtx(each.stream, each.context));
        context[0] = DevicePointers.handle(scratch.context);
        return code;
    }

    @Override
    public int primaryContext(final long[] context, final int device) {
        final CUdevice handle = handleOf(device);
        final int[] active = new int[1];
        context[0] = 0;
        int code = ask(() -> JCudaDriver.cuDevicePrimaryCtxGetState(handle, new int[1], active));
        if (code == SUCCESS && active[0] != 0) {
            // The driver tells the primary context's handle only to a caller that retains the context.
            code = retainPrimaryContext(context, device);
            if (code == SUCCESS) {
                code = ask(() -> JCudaDriver.cuDevicePrimaryCtxRelease(handle));
            }
        }
        return code;
    }

    @Override
    public int retainPrimaryContext(final long[] context, final int device) {
        final CUcontext result = new CUcontext();
        final int code = ask(() -> JCudaDriver.cuDevicePrimaryCtxRetain(result, handleOf(device)));
        context[0] = code == SUCCESS ? DevicePointers.handle(result) : 0;
        return code;
    }

    /** The driver's devices are plain numbers, the same as the runtime's. */
    private static CUdevice handleOf(final int device) {
        return DevicePointers.withHandle(new CUdevice(), device);
    }

    @Override
    public int allocate(final long[] address, final long sizeBytes) {
        final CUdeviceptr pointer = new CUdeviceptr();
        final int code = ask(() -> JCudaDriver.cuMemAlloc(pointer, sizeBytes));
        address[0] = code == SUCCESS ? DevicePointers.address(pointer) : 0;
        return code;
    }

    @Override
    public int allocatePitch(final long[] address, final long[] pitchBytes, final long widthBytes, final long height) {
        final CUdeviceptr pointer = new CUdeviceptr();
        final int code = ask(() -> JCudaDriver.cuMemAllocPitch(pointer, pitchBytes, widthBytes, height, Integer.BYTES));
        address[0] = code == SUCCESS ? DevicePointers.address(pointer) : 0;
        return code;
    }

    @Override
    public int release(final long address) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, address);
        return ask(() -> JCudaDriver.cuMemFree(pointer));
    }

    @Override
    public int fill(final long address, final long sizeBytes, final byte value) {
        return onThreadStream(
                address, (pointer, stream) -> JCudaDriver.cuMemsetD8Async(pointer, value, sizeBytes, stream));
    }

    @Override
    public int read(final ByteBuffer to, final long address) {
        return onThreadStream(
                address,
                (pointer, stream) -> JCudaDriver.cuMemcpyDtoHAsync(Pointer.to(to), pointer, to.limit(), stream));
    }

    /** Makes a call that submits work to the thread's own default stream, and waits for it. */
    private static int onThreadStream(final long address, final ToIntBiFunction<CUdeviceptr, CUstream> call) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, address);
        final CUstream stream = DevicePointers.withHandle(new CUstream(), StreamCaptures.PER_THREAD_STREAM);
        final int code = ask(() -> call.applyAsInt(pointer, stream));
        return code == SUCCESS ? ask(() -> JCudaDriver.cuStreamSynchronize(stream)) : code;
    }

    @Override
    public int contextMemoryInfo(final long[] freeBytes, final long[] totalBytes) {
        return ask(() -> JCudaDriver.cuMemGetInfo(freeBytes, totalBytes));
    }

    /** {@inheritDoc} JCuda older than 12.0 can't ask. */
    @Override
    public int streamId(final long[] id, final long stream) {
        final Scratch scratch = Scratch.of(stream, 0);
        try {
            final int code = ask(scratch, each -> JCudaDriver.cuStreamGetId(each.stream, each.handle));
            id[0] = scratch.handle[0];
            return code;
        } catch (final NoSuchMethodError e) {
            return CUresult.CUDA_ERROR_NOT_SUPPORTED;
        }
    }

    @Override
    public int queryStream(final long stream) {
        return UncheckedCalls.queryStream(Scratch.of(stream, 0).stream);
    }

    @Override
    public int createEvent(final long[] event) {
        final CUevent result = new CUevent();
        final int code = ask(() -> JCudaDriver.cuEventCreate(result, CUevent_flags.CU_EVENT_DISABLE_TIMING));
        event[0] = DevicePointers.handle(result);
        return code;
    }

    @Override
    public int destroyEvent(final long event) {
        return ask(Scratch.of(0, event), each -> JCudaDriver.cuEventDestroy(each.event));
    }

    @Override
    public int recordEvent(final long event, final long stream) {
        return ask(Scratch.of(stream, event), each -> JCudaDriver.cuEventRecord(each.event, each.stream));
    }

    @Override
    public boolean recordsContexts() {
        return false;
    }

    @Override
    public int recordContext(final long event, final long context) {
        return CUresult.CUDA_ERROR_NOT_SUPPORTED;
    }

    @Override
    public int queryEvent(final long event) {
        return UncheckedCalls.queryEvent(Scratch.of(0, event).event);
    }

    @Override
    public int captureStatus(final int[] status, final long stream) {
        final Scratch scratch = Scratch.of(stream, 0);
        final int code = ask(scratch, each -> JCudaDriver.cuStreamIsCapturing(each.stream, each.status));
        status[0] = scratch.status[0];
        return code;
    }

    @Override
    public int exchangeCaptureMode(final int[] mode) {
        return ask(() -> JCudaDriver.cuThreadExchangeStreamCaptureMode(mode));
    }

    /** Finds the code behind an exception, whose message is the code's name and nothing else. The search is slow. */
    static int codeOf(final CudaException exception) {
        final String name = exception.getMessage();
        for (int code = 1; code < CODE_LIMIT; code++) {
            if (cudaError.stringFor(code).equals(name)
                    || CUresult.stringFor(code).equals(name)) {
                return code;
            }
        }
        return cudaError.cudaErrorUnknown;
    }
}
