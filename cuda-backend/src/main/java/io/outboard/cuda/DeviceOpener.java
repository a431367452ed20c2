package io.outboard.cuda;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.ContextScope;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaFailures;
import io.outboard.cuda.internal.memory.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * This class finds a device by its number and asks for the facts about the device, or says in one line why there is
 * none.
 */
final class DeviceOpener {

    private static final Path DRIVER_VERSION_FILE = Path.of("/proc/driver/nvidia/version");
    private static final Pattern DRIVER_VERSION = Pattern.compile("NVRM version:.*?\\s(\\d+\\.\\d+(\\.\\d+)?)\\s");

    /** The result is a device, and the context in which its memory is taken. */
    record Opened(CudaDevice device, long context) {}

    private DeviceOpener() {}

    /**
     * Opens a device; its context exists afterwards.
     *
     * @param calls CUDA
     * @param device its number, 0 or more
     * @return the facts, and the primary context unless the program made another context of the device current
     * @throws CudaUnavailableException if there is no such device, or it can't be used
     */
    static Opened open(final CudaCalls calls, final int device) {
        final int count = NativeLibrary.deviceCount(calls);
        if (device >= count) {
            throw new CudaUnavailableException("device=" + device + " must be < " + count
                    + ", the number of CUDA devices" + NativeLibrary.hiddenDevices());
        }
        try {
            return opened(calls, device);
        } catch (final LinkageError e) {
            throw NativeLibrary.unavailable(e);
        } catch (final CudaFailureException e) {
            throw new CudaUnavailableException(
                    "device=" + device + " can't be used: " + e.getMessage()
                            + "; nvidia-smi shows whether it is healthy, full or reserved by another process",
                    e);
        }
    }

    private static Opened opened(final CudaCalls calls, final int device) {
        final String[] name = new String[1];
        final int[] driverVersion = new int[1];
        final int[] runtimeVersion = new int[1];
        final long[] totalBytes = new long[1];
        check(calls, "cudaGetDeviceProperties", calls.deviceName(name, device));
        check(calls, "cudaDriverGetVersion", calls.driverVersion(driverVersion));
        check(calls, "cudaRuntimeGetVersion", calls.runtimeVersion(runtimeVersion));
        final long context = contextOf(calls, device, totalBytes);
        return new Opened(
                new CudaDevice(device, name[0], kernelDriver(), driverVersion[0], runtimeVersion[0], totalBytes[0]),
                context);
    }

    /**
     * Finds the context. Of another device than the thread's that is the primary one, and the thread's device and
     * context stay as they were, since a thread without a context would get one of its own device, too.
     */
    @SuppressWarnings("try")
    private static long contextOf(final CudaCalls calls, final int device, final long[] totalBytes) {
        final int[] current = new int[1];
        check(calls, "cudaGetDevice", calls.currentDevice(current));
        final long[] context = new long[1];
        if (current[0] == device) {
            // Any call of the runtime that needs a context makes it current.
            check(calls, "cudaMemGetInfo", calls.memoryInfo(new long[1], totalBytes));
            CudaFailures.check("cuCtxGetCurrent", calls.currentContext(context));
        } else {
            CudaFailures.check("cuDevicePrimaryCtxRetain", calls.retainPrimaryContext(context, device));
            try (ContextScope scope = new ContextScope(calls, context[0])) {
                CudaFailures.check("cuMemGetInfo", calls.contextMemoryInfo(new long[1], totalBytes));
            }
        }
        return context[0];
    }

    /**
     * Throws an exception if a call failed, and clears CUDA's last error, which the program would otherwise find in a
     * later check.
     */
    private static void check(final CudaCalls calls, final String call, final int code) {
        if (code != CudaCalls.SUCCESS) {
            calls.clearLastError();
            CudaFailures.check(call, code);
        }
    }

    /** Finds the kernel driver's version, which CUDA itself doesn't tell. */
    private static String kernelDriver() {
        try {
            return kernelDriver(Files.readString(DRIVER_VERSION_FILE));
        } catch (final IOException e) {
            // The file is missing outside of Linux and in some sandboxes; a report can do without the number.
            return "unknown";
        }
    }

    static String kernelDriver(final String versionFile) {
        final Matcher matcher = DRIVER_VERSION.matcher(versionFile);
        return matcher.find() ? matcher.group(1) : "unknown";
    }
}
