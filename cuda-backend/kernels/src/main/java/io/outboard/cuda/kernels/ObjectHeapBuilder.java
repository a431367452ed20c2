package io.outboard.cuda.kernels;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** This class describes an {@link ObjectHeap}. Confined to one thread. */
public final class ObjectHeapBuilder {

    static final long ALIGNMENT_BYTES = 256;

    private static final long LEAST_BYTES = 64L << 10;
    private static final long MOST_BYTES = 64L << 30;
    private static final int MOST_TYPES = 16;
    private static final int MOST_FIELDS = 64;
    private static final int MOST_FIELD_BYTES = 1024;

    final @Nullable Pool pool;
    final long address;
    final long sizeBytes;
    private final Map<String, int[]> types = new LinkedHashMap<>();

    ObjectHeapBuilder(final @Nullable Pool pool, final long address, final long sizeBytes) {
        if (sizeBytes < LEAST_BYTES || sizeBytes > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "sizeBytes=" + sizeBytes + " must be from " + LEAST_BYTES + " to " + MOST_BYTES);
        }
        if (pool == null && (address <= 0 || address % ALIGNMENT_BYTES != 0)) {
            throw new IllegalArgumentException(
                    "address=" + address + " must be a multiple of " + ALIGNMENT_BYTES + " and > 0");
        }
        this.pool = pool;
        this.address = address;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Adds a type of objects, as {@code struct Fish : outboard::Fields<...>} is for kernels. Types and fields must have
     * the order of the kernels' {@code ObjectHeap<...>} and {@code Fields<...>}; otherwise the heap stops the kernel.
     *
     * @param name the type's name for {@link ObjectHeap#forEach} and {@link ObjectHeap#statistics}
     * @param fieldBytes {@code sizeof} of each field, from 1 to 1024; 64 fields at most
     * @return this builder
     * @throws IllegalArgumentException if there is a type of that name already, or there are 16 types, or a number is
     *     outside of its range; nothing has changed
     */
    public ObjectHeapBuilder type(final String name, final int... fieldBytes) {
        Objects.requireNonNull(name, "name");
        if (types.containsKey(name)) {
            throw new IllegalArgumentException("name=" + name + " must be another than of the types before");
        }
        if (types.size() == MOST_TYPES) {
            throw new IllegalArgumentException("name=" + name + " must be one of " + MOST_TYPES + " types at most");
        }
        if (fieldBytes.length == 0 || fieldBytes.length > MOST_FIELDS) {
            throw new IllegalArgumentException(
                    "fieldBytes=" + Arrays.toString(fieldBytes) + " must be from 1 to " + MOST_FIELDS + " fields");
        }
        for (final int bytes : fieldBytes) {
            if (bytes < 1 || bytes > MOST_FIELD_BYTES) {
                throw new IllegalArgumentException(
                        "fieldBytes=" + Arrays.toString(fieldBytes) + " must each be from 1 to " + MOST_FIELD_BYTES);
            }
        }
        types.put(name, fieldBytes.clone());
        return this;
    }

    /**
     * Waits for all work in the calling thread's current CUDA context, and makes the heap there.
     *
     * @return the heap, without objects
     * @throws IllegalArgumentException if there is no type, or no room for a block; nothing is taken
     * @throws CudaUnavailableException if there is no driver or no device, or JCuda's native library doesn't load; or
     *     if the driver is too old for the PTX in the jar and there is no NVRTC, and the message says what to install
     * @throws io.outboard.core.DeviceOutOfMemoryException if the pool has no such block
     * @throws CudaFailureException if CUDA fails otherwise; no exception leaves anything taken or loaded
     */
    public ObjectHeap build() {
        return build(KernelDriver.load());
    }

    ObjectHeap build(final KernelDriver driver) {
        if (types.isEmpty()) {
            throw new IllegalArgumentException("types=[] must have one at least");
        }
        return ObjectHeap.build(driver, this, ObjectLayout.of(types));
    }
}
