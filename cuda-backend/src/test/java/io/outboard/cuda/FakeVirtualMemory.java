package io.outboard.cuda;

import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.VirtualMemoryCalls;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import jcuda.driver.CUresult;

/**
 * The driver's virtual memory calls without a GPU are as strict about ranges as the driver, and fail on demand. Safe
 * for any number of threads.
 */
public final class FakeVirtualMemory implements VirtualMemoryCalls {

    static final long UNIT_BYTES = 2L << 20;

    private record Mapping(long sizeBytes, long handle, Set<Integer> devices) {}

    private final long deviceBytes;
    private final Map<Long, Long> reserved = new TreeMap<>();
    private final Map<Long, Long> created = new TreeMap<>();
    private final TreeMap<Long, Mapping> mapped = new TreeMap<>();
    private long nextAddress = 0x7e00_0000_0000L;
    private long nextHandle = 1;
    private int callsUntilFailure = Integer.MAX_VALUE;
    private int failureCode;
    private String failedCall = "";

    /** The calls of which the next one throws, for want of host memory. */
    private final Set<String> withoutHostMemory = new HashSet<>();

    /**
     * Makes a device without memory in use.
     *
     * @param deviceBytes how much it has
     */
    public FakeVirtualMemory(final long deviceBytes) {
        this.deviceBytes = deviceBytes;
    }

    /** Makes the n-th call from now fail, counting from 1, and no other. */
    public synchronized void failAt(final int call, final int code) {
        callsUntilFailure = call;
        failureCode = code;
        failedCall = "";
    }

    /** Makes the next call of each name throw. */
    synchronized void runOutOfHostMemory(final String... calls) {
        withoutHostMemory.addAll(List.of(calls));
    }

    public synchronized String failedCall() {
        return failedCall;
    }

    /** Returns the bytes in use: memory exists as long as a handle or a mapping has it. */
    public synchronized long usedBytes() {
        final Map<Long, Long> alive = new TreeMap<>(created);
        mapped.values().forEach(mapping -> alive.put(mapping.handle, mapping.sizeBytes));
        return alive.values().stream().mapToLong(Long::longValue).sum();
    }

    public synchronized long reservedBytes() {
        return reserved.values().stream().mapToLong(Long::longValue).sum();
    }

    public synchronized int mappings() {
        return mapped.size();
    }

    /** Returns whether a kernel of device 1 could use all of the range. */
    public synchronized boolean isAccessible(final long address, final long sizeBytes) {
        return isAccessible(address, sizeBytes, 1);
    }

    public synchronized boolean isAccessible(final long address, final long sizeBytes, final int device) {
        long next = address;
        while (next < address + sizeBytes) {
            final Map.Entry<Long, Mapping> mapping = mapped.floorEntry(next);
            if (mapping == null || !mapping.getValue().devices.contains(device)) {
                return false;
            }
            final long end = mapping.getKey() + mapping.getValue().sizeBytes;
            if (end <= next) {
                return false;
            }
            next = end;
        }
        return true;
    }

    @Override
    public synchronized int granularity(final long[] bytes, final int device) {
        bytes[0] = UNIT_BYTES;
        return enter("granularity", true);
    }

    @Override
    public synchronized int reserve(final long[] address, final long sizeBytes, final long alignmentBytes) {
        final int code = enter("reserve", isWhole(sizeBytes) && Long.bitCount(alignmentBytes) == 1);
        if (code == CudaCalls.SUCCESS) {
            address[0] = nextAddress;
            reserved.put(nextAddress, sizeBytes);
            nextAddress += sizeBytes + UNIT_BYTES;
        }
        return code;
    }

    @Override
    public synchronized int create(
            final long[] handle, final long sizeBytes, final int device, final long wantedBytes) {
        final boolean fits = sizeBytes <= deviceBytes - usedBytes();
        final int code = enter("create", isWhole(sizeBytes));
        if (code != CudaCalls.SUCCESS || !fits) {
            return code != CudaCalls.SUCCESS ? code : CUresult.CUDA_ERROR_OUT_OF_MEMORY;
        }
        handle[0] = nextHandle;
        created.put(nextHandle++, sizeBytes);
        return code;
    }

    @Override
    public synchronized int map(final long address, final long sizeBytes, final long handle) {
        final boolean inside = reserved.entrySet().stream()
                .anyMatch(
                        range -> address >= range.getKey() && address + sizeBytes <= range.getKey() + range.getValue());
        final Map.Entry<Long, Mapping> before = mapped.lowerEntry(address + sizeBytes);
        final boolean apart = before == null || before.getKey() + before.getValue().sizeBytes <= address;
        final boolean whole = created.getOrDefault(handle, 0L) == sizeBytes;
        final int code = enter("map", inside && apart && whole);
        if (code == CudaCalls.SUCCESS) {
            mapped.put(address, new Mapping(sizeBytes, handle, new HashSet<>()));
        }
        return code;
    }

    /** Returns whether there are whole mappings in the range and nothing else. */
    private boolean isMapped(final long address, final long sizeBytes) {
        long end = address;
        while (mapped.containsKey(end) && end < address + sizeBytes) {
            end += mapped.get(end).sizeBytes;
        }
        return sizeBytes > 0 && end == address + sizeBytes;
    }

    @Override
    public synchronized int setAccess(
            final long address, final long sizeBytes, final int device, final boolean access) {
        final int code = enter("setAccess", isMapped(address, sizeBytes));
        if (code == CudaCalls.SUCCESS) {
            mapped.subMap(address, address + sizeBytes).values().forEach(mapping -> {
                if (access) {
                    mapping.devices.add(device);
                } else {
                    mapping.devices.remove(device);
                }
            });
        }
        return code;
    }

    @Override
    public synchronized int unmap(final long address, final long sizeBytes) {
        final int code = enter("unmap", isMapped(address, sizeBytes));
        if (code == CudaCalls.SUCCESS) {
            mapped.subMap(address, address + sizeBytes).clear();
        }
        return code;
    }

    @Override
    public synchronized int release(final long handle) {
        final int code = enter("release", created.containsKey(handle));
        // A driver that fails here leaks; this one doesn't, so that tests see that nothing else leaks.
        created.remove(handle);
        return code;
    }

    @Override
    public synchronized int freeAddresses(final long address, final long sizeBytes) {
        final boolean empty = mapped.subMap(address, address + sizeBytes).isEmpty();
        final int code = enter("freeAddresses", empty && reserved.getOrDefault(address, 0L) == sizeBytes);
        if (code == CudaCalls.SUCCESS) {
            reserved.remove(address);
        }
        return code;
    }

    /** Adds memory that was created elsewhere. */
    synchronized long adopt(final long sizeBytes) {
        created.put(nextHandle, sizeBytes);
        return nextHandle++;
    }

    synchronized int enter(final String call, final boolean valid) {
        if (withoutHostMemory.remove(call)) {
            throw new OutOfMemoryError(call);
        }
        if (--callsUntilFailure == 0) {
            failedCall = call;
            return failureCode;
        }
        return valid ? CudaCalls.SUCCESS : CUresult.CUDA_ERROR_INVALID_VALUE;
    }

    private static boolean isWhole(final long sizeBytes) {
        return sizeBytes > 0 && sizeBytes % UNIT_BYTES == 0;
    }
}
