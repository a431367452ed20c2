package io.outboard.cuda;

import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.SharedMemoryCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import jcuda.driver.CUresult;

/**
 * The fake stands for the driver's calls for memory that other processes map, without a GPU: a lender and its clients
 * are in one process, and descriptors are numbers. Imported memory is {@link FakeVirtualMemory}'s; a failure at will
 * counts the calls of both together.
 */
public final class FakeSharedMemory implements SharedMemoryCalls {

    /** The first number of a descriptor, which no real descriptor of the process has. */
    private static final int FIRST_DESCRIPTOR = 1_000_000;

    private static final int UUID_FIRST = 0xA0;

    private final FakeVirtualMemory memory;
    private final long totalBytes;
    private final Map<Long, Long> handles = new TreeMap<>();
    private final Map<Integer, Long> descriptors = new TreeMap<>();
    private long nextHandle = 1;
    private int nextDescriptor = FIRST_DESCRIPTOR;

    public FakeSharedMemory(final FakeVirtualMemory memory, final long totalBytes) {
        this.memory = memory;
        this.totalBytes = totalBytes;
    }

    /** Returns how many handles of memory the lender still has. */
    public int handles() {
        return handles.size();
    }

    public int descriptors() {
        return descriptors.size();
    }

    /** Duplicates a descriptor, as if it had gone through a socket. */
    public synchronized int sent(final int descriptor) {
        descriptors.put(nextDescriptor, sizeOf(descriptor));
        return nextDescriptor++;
    }

    private long sizeOf(final int descriptor) {
        final Long sizeBytes = descriptors.get(descriptor);
        if (sizeBytes == null) {
            throw new IllegalStateException("descriptor=" + descriptor + " must be open");
        }
        return sizeBytes;
    }

    @Override
    public int initialize() {
        return memory.enter("initialize", true);
    }

    @Override
    public int uuid(final byte[] uuid, final int device) {
        for (int i = 0; i < UUID_BYTES; i++) {
            uuid[i] = (byte) (UUID_FIRST + device + i);
        }
        return memory.enter("uuid", true);
    }

    @Override
    public int totalBytes(final long[] bytes, final int device) {
        bytes[0] = totalBytes;
        return memory.enter("totalBytes", true);
    }

    @Override
    public int granularity(final long[] bytes, final int device) {
        bytes[0] = FakeVirtualMemory.UNIT_BYTES;
        return memory.enter("granularity", true);
    }

    @Override
    public synchronized int create(final long[] handle, final long sizeBytes, final int device) {
        final int code = memory.enter("create", sizeBytes > 0 && sizeBytes % FakeVirtualMemory.UNIT_BYTES == 0);
        final long lentBytes =
                handles.values().stream().mapToLong(Long::longValue).sum();
        if (code == CudaCalls.SUCCESS && sizeBytes > totalBytes - lentBytes - memory.usedBytes()) {
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY;
        }
        if (code == CudaCalls.SUCCESS) {
            handle[0] = nextHandle;
            handles.put(nextHandle++, sizeBytes);
        }
        return code;
    }

    @Override
    public synchronized int exportDescriptor(final int[] descriptor, final long handle) {
        final int code = memory.enter("export", handles.containsKey(handle));
        if (code == CudaCalls.SUCCESS) {
            descriptor[0] = nextDescriptor;
            descriptors.put(nextDescriptor++, handles.get(handle));
        }
        return code;
    }

    @Override
    public synchronized int importDescriptor(final long[] handle, final int descriptor) {
        if (descriptor < FIRST_DESCRIPTOR) {
            return importFile(handle, descriptor);
        }
        final int code = memory.enter("import", descriptors.containsKey(descriptor));
        if (code == CudaCalls.SUCCESS) {
            handle[0] = memory.adopt(sizeOf(descriptor));
        }
        return code;
    }

    /** Imports a real descriptor, of a file in memory, as if it were a GPU's. */
    private int importFile(final long[] handle, final int descriptor) {
        try {
            handle[0] = memory.adopt(Files.size(Path.of("/proc/self/fd/" + descriptor)));
            return memory.enter("import", true);
        } catch (final IOException e) {
            return memory.enter("import", false);
        }
    }

    @Override
    public synchronized int release(final long handle) {
        final int code = memory.enter("releaseLent", handles.containsKey(handle));
        // The release works even in a call that fails, as in FakeVirtualMemory, so that tests see that nothing else
        // leaks.
        handles.remove(handle);
        return code;
    }

    @Override
    public synchronized int closeDescriptor(final int descriptor) {
        return descriptors.remove(descriptor) == null ? -1 : 0;
    }
}
