package io.outboard.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jcuda.runtime.cudaError;

/** Finds a device by its number and learns the facts about it, or says in one line why there is none. */
final class DeviceOpener {

    private static final Path DRIVER_VERSION_FILE = Path.of("/proc/driver/nvidia/version");
    private static final Pattern DRIVER_VERSION = Pattern.compile("NVRM version:.*?\\s(\\d+\\.\\d+(\\.\\d+)?)\\s");

    private DeviceOpener() {}

    /**
     * Opens a device; its context exists afterwards.
     *
     * @param calls CUDA
     * @param device its number, 0 or more
     * @return the facts
     * @throws CudaUnavailableException if there is no such device, or it can't be used
     */
    static CudaDevice open(final CudaCalls calls, final int device) {
        final int[] count = new int[1];
        final int code = calls.deviceCount(count);
        if (code != CudaCalls.SUCCESS) {
            calls.clearLastError();
            throw new CudaUnavailableException(messageFor(calls, code));
        }
        if (count[0] == 0) {
            throw new CudaUnavailableException(messageFor(calls, cudaError.cudaErrorNoDevice));
        }
        if (device >= count[0]) {
            throw new CudaUnavailableException(
                    "device=" + device + " must be < " + count[0] + ", the number of CUDA devices" + visibleDevices());
        }
        try {
            return facts(calls, device);
        } catch (final CudaFailureException e) {
            throw new CudaUnavailableException(
                    "device=" + device + " can't be used: " + e.getMessage()
                            + "; nvidia-smi shows whether it is healthy, full or reserved by another process",
                    e);
        }
    }

    private static CudaDevice facts(final CudaCalls calls, final int device) {
        final String[] name = new String[1];
        final int[] driverVersion = new int[1];
        final int[] runtimeVersion = new int[1];
        DeviceScope.check(calls, "cudaGetDeviceProperties", calls.deviceName(name, device));
        DeviceScope.check(calls, "cudaDriverGetVersion", calls.driverVersion(driverVersion));
        DeviceScope.check(calls, "cudaRuntimeGetVersion", calls.runtimeVersion(runtimeVersion));
        try (DeviceScope scope = new DeviceScope(calls, device)) {
            return new CudaDevice(
                    device,
                    name[0],
                    kernelDriver(),
                    driverVersion[0],
                    runtimeVersion[0],
                    scope.memory().totalBytes());
        }
    }

    private static String messageFor(final CudaCalls calls, final int code) {
        final String named = calls.nameOf(code) + " (" + code + ")";
        switch (code) {
            case cudaError.cudaErrorInsufficientDriver:
                final int[] version = new int[1];
                return calls.driverVersion(version) == CudaCalls.SUCCESS && version[0] > 0
                        ? "the NVIDIA driver is too old: it supports CUDA " + CudaDevice.versionText(version[0])
                                + ", 12.0 is needed; install driver 525 or newer [" + named + "]"
                        : "no NVIDIA driver: libcuda.so.1 was not found; install driver 525 or newer, or give the"
                                + " container its GPU (--gpus all) [" + named + "]";
            case cudaError.cudaErrorNoDevice:
                return "no CUDA device: the NVIDIA driver is there but shows none; see what nvidia-smi lists"
                        + visibleDevices() + " [" + named + "]";
            case cudaError.cudaErrorStubLibrary:
                return "no NVIDIA driver: the libcuda.so.1 that was found is the CUDA toolkit's stub; take its folder"
                        + " off LD_LIBRARY_PATH [" + named + "]";
            default:
                return "CUDA does not start: cudaGetDeviceCount failed; nvidia-smi may say more [" + named + "]";
        }
    }

    private static String visibleDevices() {
        final String visible = System.getenv("CUDA_VISIBLE_DEVICES");
        return visible == null ? "" : "; CUDA_VISIBLE_DEVICES=" + visible + " hides all others";
    }

    /** The kernel driver's version, which CUDA itself doesn't tell. */
    private static String kernelDriver() {
        try {
            return kernelDriver(Files.readString(DRIVER_VERSION_FILE));
        } catch (final IOException e) {
            // Not Linux, or a sandbox without this file; a report can do without the number.
            return "unknown";
        }
    }

    static String kernelDriver(final String versionFile) {
        final Matcher matcher = DRIVER_VERSION.matcher(versionFile);
        return matcher.find() ? matcher.group(1) : "unknown";
    }
}
