package io.outboard.cuda;

import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaDeviceProp;
import jcuda.runtime.cudaError;

/**
 * {@link CudaCalls} by JCuda.
 *
 * <p>{@code JCuda.setExceptionsEnabled} is one private switch for the whole process. It belongs to the program, which
 * may turn it at any moment, so each call here copes with both: a code that is returned, and a
 * {@link CudaException} that carries only the code's name.
 */
final class JCudaCalls implements CudaCalls {

    /** Above it CUDA keeps one code, for API failures of releases before 4.1; below it names are found by search. */
    private static final int CODE_LIMIT = 10_000;

    /**
     * Loads JCuda's native library, if it isn't loaded yet.
     *
     * @throws LinkageError if that fails; see {@link NativeLibrary} for the many forms that it takes
     */
    JCudaCalls() {
        JCuda.initialize();
        // Here, too, so that a JCuda with other fields is found when the device is opened and not at the first take.
        DevicePointers.initialize();
    }

    @Override
    public int deviceCount(final int[] count) {
        try {
            return JCuda.cudaGetDeviceCount(count);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int driverVersion(final int[] version) {
        try {
            return JCuda.cudaDriverGetVersion(version);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int runtimeVersion(final int[] version) {
        try {
            return JCuda.cudaRuntimeGetVersion(version);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int deviceName(final String[] name, final int device) {
        final cudaDeviceProp properties = new cudaDeviceProp();
        final int code;
        try {
            code = JCuda.cudaGetDeviceProperties(properties, device);
        } catch (final CudaException e) {
            return codeOf(e);
        }
        if (code == SUCCESS) {
            name[0] = properties.getName().strip();
        }
        return code;
    }

    @Override
    public int currentDevice(final int[] device) {
        try {
            return JCuda.cudaGetDevice(device);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int setDevice(final int device) {
        try {
            return JCuda.cudaSetDevice(device);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int memoryInfo(final long[] freeBytes, final long[] totalBytes) {
        try {
            return JCuda.cudaMemGetInfo(freeBytes, totalBytes);
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public int malloc(final long[] address, final long sizeBytes) {
        final Pointer pointer = new Pointer();
        final int code;
        try {
            code = JCuda.cudaMalloc(pointer, sizeBytes);
        } catch (final CudaException e) {
            return codeOf(e);
        }
        if (code == SUCCESS) {
            address[0] = DevicePointers.address(pointer);
        }
        return code;
    }

    @Override
    public int free(final long address) {
        try {
            return JCuda.cudaFree(DevicePointers.pointerTo(address));
        } catch (final CudaException e) {
            return codeOf(e);
        }
    }

    @Override
    public void clearLastError() {
        try {
            JCuda.cudaGetLastError();
        } catch (final CudaException e) {
            // With exceptions on, JCuda throws the error that it was asked to report. It is cleared all the same.
            return;
        }
    }

    @Override
    public String nameOf(final int code) {
        return cudaError.stringFor(code);
    }

    /**
     * The code behind JCuda's exception, whose message is {@code cudaError.stringFor(code)} and nothing else. Only on
     * the way to an error.
     */
    static int codeOf(final CudaException exception) {
        final String name = exception.getMessage();
        for (int code = 1; code < CODE_LIMIT; code++) {
            if (cudaError.stringFor(code).equals(name)) {
                return code;
            }
        }
        return cudaError.cudaErrorUnknown;
    }
}
