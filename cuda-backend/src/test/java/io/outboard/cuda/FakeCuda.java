package io.outboard.cuda;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import jcuda.runtime.cudaError;

/** CUDA without a GPU: some devices of a given size, a current device for each thread, and a call that fails on demand. */
final class FakeCuda implements CudaCalls {

    static final long TOTAL_BYTES = 1L << 30;

    private static final long PAGE_BYTES = 1L << 21;

    private final int devices;
    private final ThreadLocal<Integer> current = ThreadLocal.withInitial(() -> 0);
    private final Map<Long, Allocation> allocations = new TreeMap<>();
    private long nextAddress = 0x7f00_0000_0000L;
    private int lastError;
    private int callsUntilFailure = Integer.MAX_VALUE;
    private int failureCode;
    private String failedCall = "";

    FakeCuda(final int devices) {
        this.devices = devices;
    }

    private record Allocation(int device, long sizeBytes) {}

    /** Lets the n-th call from now fail, counting from 1, and no other. */
    void failAt(final int call, final int code) {
        callsUntilFailure = call;
        failureCode = code;
        failedCall = "";
    }

    void heal() {
        callsUntilFailure = Integer.MAX_VALUE;
    }

    String failedCall() {
        return failedCall;
    }

    long usedBytes(final int device) {
        return allocations.values().stream()
                .filter(allocation -> allocation.device() == device)
                .mapToLong(allocation -> roundUp(allocation.sizeBytes()))
                .sum();
    }

    int lastError() {
        return lastError;
    }

    int current() {
        return current.get();
    }

    @Override
    public int deviceCount(final int[] count) {
        final int code = enter("cudaGetDeviceCount", devices == 0 ? cudaError.cudaErrorNoDevice : SUCCESS);
        if (code == SUCCESS) {
            count[0] = devices;
        }
        return code;
    }

    @Override
    public int driverVersion(final int[] version) {
        version[0] = 13000;
        return enter("cudaDriverGetVersion", SUCCESS);
    }

    @Override
    public int runtimeVersion(final int[] version) {
        version[0] = 12060;
        return enter("cudaRuntimeGetVersion", SUCCESS);
    }

    @Override
    public int deviceName(final String[] name, final int device) {
        name[0] = "Fake GPU";
        return enter("cudaGetDeviceProperties", device < devices ? SUCCESS : cudaError.cudaErrorInvalidDevice);
    }

    @Override
    public int currentDevice(final int[] device) {
        device[0] = current.get();
        return enter("cudaGetDevice", SUCCESS);
    }

    @Override
    public int setDevice(final int device) {
        final int code = enter("cudaSetDevice", device < devices ? SUCCESS : cudaError.cudaErrorInvalidDevice);
        if (code == SUCCESS) {
            current.set(device);
        }
        return code;
    }

    @Override
    public int memoryInfo(final long[] freeBytes, final long[] totalBytes) {
        freeBytes[0] = TOTAL_BYTES - usedBytes(current.get());
        totalBytes[0] = TOTAL_BYTES;
        return enter("cudaMemGetInfo", SUCCESS);
    }

    @Override
    public int malloc(final long[] address, final long sizeBytes) {
        final boolean fits = sizeBytes <= TOTAL_BYTES - usedBytes(current.get());
        final int code = enter("cudaMalloc", fits ? SUCCESS : cudaError.cudaErrorMemoryAllocation);
        if (code == SUCCESS) {
            address[0] = nextAddress;
            allocations.put(nextAddress, new Allocation(current.get(), sizeBytes));
            nextAddress += roundUp(sizeBytes);
        }
        return code;
    }

    @Override
    public int free(final long address) {
        final boolean known = allocations.containsKey(address);
        final int code = enter("cudaFree", known ? SUCCESS : cudaError.cudaErrorInvalidValue);
        if (code == SUCCESS) {
            allocations.remove(address);
        }
        return code;
    }

    @Override
    public void clearLastError() {
        lastError = SUCCESS;
    }

    @Override
    public String nameOf(final int code) {
        return cudaError.stringFor(code);
    }

    private int enter(final String call, final int code) {
        final boolean injected = --callsUntilFailure == 0;
        if (injected) {
            failedCall = call;
        }
        final int result = injected ? failureCode : code;
        if (result != SUCCESS) {
            lastError = result;
        }
        return result;
    }

    private static long roundUp(final long sizeBytes) {
        return (sizeBytes + PAGE_BYTES - 1) & -PAGE_BYTES;
    }

    @Override
    public String toString() {
        return devices + " devices, " + Arrays.toString(allocations.keySet().toArray());
    }
}
