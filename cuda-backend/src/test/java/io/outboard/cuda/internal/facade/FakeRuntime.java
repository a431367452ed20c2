package io.outboard.cuda.internal.facade;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.StreamCaptures;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntSupplier;
import jcuda.CudaException;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import jcuda.runtime.cudaStream_t;
import org.jspecify.annotations.Nullable;

/**
 * JCuda's two classes are simulated over {@link FakeCuda}: their null checks, their switches, and the garbage that they
 * leave in pointers on failure.
 */
final class FakeRuntime {

    static final long GARBAGE = 0xBAD0;

    private final FakeCuda cuda;
    private final List<String> calls = new ArrayList<>();
    private boolean exceptionsEnabled;
    private boolean attached;
    private int peerCode;
    private int retained;

    FakeRuntime(final FakeCuda cuda) {
        this.cuda = cuda;
    }

    /** Returns what was called, in order. */
    List<String> calls() {
        return calls;
    }

    /** Does what {@code cuCtxAttach} does to the current context, which then needs one detach more. */
    void attach() {
        attached = true;
    }

    /** Sets the code that a device gets from now on when it asks for access to another's memory. */
    void answerPeers(final int code) {
        peerCode = code;
    }

    private int enablePeer() {
        return peerCode;
    }

    void enableExceptions(final boolean enabled) {
        exceptionsEnabled = enabled;
    }

    boolean exceptionsEnabled() {
        return exceptionsEnabled;
    }

    private int allocate(final String call, final Pointer pointer, final long size, final int zero) {
        calls.add(call);
        requireNonNull(pointer, call);
        if (size == 0) {
            DevicePointers.set(pointer, 0);
            return check(zero);
        }
        final long[] address = new long[1];
        final int code = size < 0 ? cudaError.cudaErrorMemoryAllocation : cuda.malloc(address, size);
        DevicePointers.set(pointer, code == CudaCalls.SUCCESS ? address[0] : GARBAGE);
        return check(code);
    }

    private int free(final String call, final Pointer pointer) {
        calls.add(call);
        requireNonNull(pointer, call);
        final long address = DevicePointers.address(pointer);
        return check(address == 0 ? CudaCalls.SUCCESS : cuda.free(address));
    }

    private int info(final String call, final long[] free, final long[] total) {
        calls.add(call);
        return check(cuda.memoryInfo(free, total));
    }

    private int destroyStream(final String call, final @Nullable NativePointerObject stream) {
        calls.add(call);
        if (stream == null || DevicePointers.handle(stream) == 0) {
            return check(cudaError.cudaErrorInvalidResourceHandle);
        }
        cuda.streams().destroyStream(DevicePointers.handle(stream));
        return CudaCalls.SUCCESS;
    }

    private int note(final String call) {
        calls.add(call);
        return CudaCalls.SUCCESS;
    }

    private int check(final int code) {
        if (exceptionsEnabled && code != CudaCalls.SUCCESS) {
            throw new CudaException(cudaError.stringFor(code));
        }
        return code;
    }

    private int checkDriver(final int code) {
        if (exceptionsEnabled && code != CudaCalls.SUCCESS) {
            throw new CudaException(CUresult.stringFor(code));
        }
        return code;
    }

    private static void requireNonNull(final Object parameter, final String call) {
        Objects.requireNonNull(parameter, () -> "Parameter is null for " + call);
    }

    RuntimeFacade runtime(final ContextPools pools) {
        return new RuntimeCalls(pools);
    }

    DriverFacade driver(final ContextPools pools) {
        return new DriverCalls(pools);
    }

    private final class RuntimeCalls extends RuntimeFacade {

        RuntimeCalls(final ContextPools pools) {
            super(pools);
        }

        @Override
        int originalCudaMalloc(final Pointer devPtr, final long size) {
            return allocate("cudaMalloc", devPtr, size, CudaCalls.SUCCESS);
        }

        @Override
        int originalCudaMallocPitch(final Pointer devPtr, final long[] pitch, final long width, final long height) {
            requireNonNull(pitch, "cudaMallocPitch");
            pitch[0] = (width + FakeCuda.PITCH_BYTES - 1) & -FakeCuda.PITCH_BYTES;
            return allocate("cudaMallocPitch", devPtr, pitch[0] * height, CudaCalls.SUCCESS);
        }

        @Override
        int originalCudaMalloc3D(final cudaPitchedPtr pitchDevPtr, final cudaExtent extent) {
            requireNonNull(pitchDevPtr, "cudaMalloc3D");
            pitchDevPtr.ptr = new Pointer();
            return allocate(
                    "cudaMalloc3D", pitchDevPtr.ptr, extent.width * extent.height * extent.depth, CudaCalls.SUCCESS);
        }

        @Override
        int originalCudaFree(final Pointer devPtr) {
            return free("cudaFree", devPtr);
        }

        @Override
        int originalCudaMemGetInfo(final long[] freeBytes, final long[] totalBytes) {
            return info("cudaMemGetInfo", freeBytes, totalBytes);
        }

        @Override
        int originalCudaSetDevice(final int device) {
            return check(cuda.setDevice(device));
        }

        @Override
        int originalCudaDeviceEnablePeerAccess(final int peerDevice, final int flags) {
            return check(enablePeer());
        }

        @Override
        int originalCudaDeviceDisablePeerAccess(final int peerDevice) {
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCudaDeviceReset() {
            calls.add("cudaDeviceReset");
            cuda.reset();
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCudaStreamDestroy(final cudaStream_t stream) {
            return destroyStream("cudaStreamDestroy", stream);
        }

        @Override
        int originalCudaIpcGetMemHandle(final cudaIpcMemHandle handle, final Pointer devPtr) {
            return note("cudaIpcGetMemHandle");
        }

        @Override
        void originalSetExceptionsEnabled(final boolean enabled) {
            exceptionsEnabled = enabled;
        }
    }

    private final class DriverCalls extends DriverFacade {

        DriverCalls(final ContextPools pools) {
            super(pools);
        }

        @Override
        int originalCuMemAlloc(final CUdeviceptr dptr, final long bytesize) {
            if (cuda.currentContextOrZero() == 0) {
                calls.add("cuMemAlloc");
                return checkDriver(CUresult.CUDA_ERROR_INVALID_CONTEXT);
            }
            return translate(() -> allocate("cuMemAlloc", dptr, bytesize, CUresult.CUDA_ERROR_INVALID_VALUE));
        }

        @Override
        int originalCuMemAllocPitch(
                final CUdeviceptr dptr,
                final long[] pPitch,
                final long widthInBytes,
                final long height,
                final int elementSizeBytes) {
            return translate(() -> allocate("cuMemAllocPitch", dptr, 0, CUresult.CUDA_ERROR_INVALID_VALUE));
        }

        @Override
        int originalCuMemAllocAsync(final CUdeviceptr dptr, final long bytesize, final CUstream hStream) {
            requireNonNull(hStream, "cuMemAllocAsync");
            return translate(() -> allocate("cuMemAllocAsync", dptr, bytesize, CUresult.CUDA_ERROR_INVALID_VALUE));
        }

        @Override
        int originalCuMemFree(final CUdeviceptr dptr) {
            return translate(() -> free("cuMemFree", dptr));
        }

        @Override
        int originalCuMemFreeAsync(final CUdeviceptr dptr, final CUstream hStream) {
            // A free on a captured stream becomes part of the graph.
            return translate(() -> StreamCaptures.relaxed(cuda, () -> free("cuMemFreeAsync", dptr)));
        }

        @Override
        int originalCuMemGetInfo(final long[] free, final long[] total) {
            return info("cuMemGetInfo", free, total);
        }

        @Override
        int originalCuMemGetAddressRange(final CUdeviceptr pbase, final long[] psize, final CUdeviceptr dptr) {
            return note("cuMemGetAddressRange");
        }

        @Override
        int originalCuIpcGetMemHandle(final CUipcMemHandle pHandle, final CUdeviceptr dptr) {
            return note("cuIpcGetMemHandle");
        }

        @Override
        int originalCuStreamDestroy(final CUstream hStream) {
            return destroyStream("cuStreamDestroy", hStream);
        }

        @Override
        int originalCuStreamBeginCapture(final CUstream hStream, final int mode) {
            return checkDriver(cuda.streams().beginCapture(DevicePointers.handle(hStream)));
        }

        @Override
        int originalCuStreamEndCapture(final CUstream hStream, final CUgraph phGraph) {
            final boolean whole = cuda.streams().endCapture(DevicePointers.handle(hStream));
            return checkDriver(whole ? CudaCalls.SUCCESS : CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }

        @Override
        int originalCuCtxCreate(final CUcontext pctx, final int flags, final CUdevice dev) {
            cuda.setContext(cuda.createContext((int) DevicePointers.handle(dev)));
            DevicePointers.withHandle(pctx, cuda.currentContextOrZero());
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuCtxDestroy(final CUcontext ctx) {
            final int code = note("cuCtxDestroy");
            cuda.endContext(DevicePointers.handle(ctx));
            cuda.setContext(0);
            return code;
        }

        @Override
        int originalCuCtxEnablePeerAccess(final CUcontext peerContext, final int flags) {
            return enablePeer();
        }

        @Override
        int originalCuCtxDisablePeerAccess(final CUcontext peerContext) {
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuCtxDetach(final CUcontext ctx) {
            if (!attached) {
                return originalCuCtxDestroy(ctx);
            }
            attached = false;
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuDevicePrimaryCtxRetain(final CUcontext pctx, final CUdevice dev) {
            retained++;
            DevicePointers.withHandle(pctx, cuda.retainPrimary((int) DevicePointers.handle(dev)));
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuDevicePrimaryCtxRelease(final CUdevice dev) {
            if (--retained == 0) {
                cuda.endContext(cuda.retainPrimary((int) DevicePointers.handle(dev)));
            }
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuDevicePrimaryCtxReset(final CUdevice dev) {
            cuda.endContext(cuda.retainPrimary((int) DevicePointers.handle(dev)));
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuCtxSetCurrent(final CUcontext ctx) {
            cuda.setContext(DevicePointers.handle(ctx));
            return CudaCalls.SUCCESS;
        }

        @Override
        int originalCuCtxPushCurrent(final CUcontext ctx) {
            return cuda.pushContext(DevicePointers.handle(ctx));
        }

        @Override
        int originalCuCtxPopCurrent(final CUcontext pctx) {
            return cuda.popContext();
        }

        @Override
        void originalSetExceptionsEnabled(final boolean enabled) {
            exceptionsEnabled = enabled;
        }

        /** Makes a call, and uses the driver's names of codes in exceptions. */
        private int translate(final IntSupplier call) {
            final boolean enabled = exceptionsEnabled;
            exceptionsEnabled = false;
            try {
                final int code = call.getAsInt();
                exceptionsEnabled = enabled;
                return checkDriver(code);
            } finally {
                exceptionsEnabled = enabled;
            }
        }
    }
}
