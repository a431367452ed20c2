package io.outboard.bench.kernels.programs;

import io.outboard.bench.kernels.worker.BenchDevice;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Where a program's objects live, the host's side of a store in {@code stores.cuh}; or what kernels make requests of,
 * where a program has no types. Confined to one thread.
 */
public interface Storage extends AutoCloseable {

    /** Bytes of the control block that begins kernels' parameter. */
    int CONTROL_BYTES = 1536;

    /** Bytes of what kernels are told of a type behind it. */
    int TABLE_BYTES = 32;

    /** Heaps' sizes are multiples of it. */
    long HEAP_ALIGNMENT = 256;

    /** Types that a program can have. */
    int MOST_TYPES = 4;

    /**
     * What is in use. Numbers that can't be known are negative.
     *
     * @param objects that there are
     * @param heldBytes of the heap that hold objects, whatever of it is unused
     * @param misuses that the heap counted
     */
    record Usage(long objects, long heldBytes, long misuses) {

        /** A number of these for a result: null if it can't be known. */
        public static @Nullable Long known(final long number) {
            return number < 0 ? null : (Long) number;
        }
    }

    /**
     * A fresh one.
     *
     * @param heapBytes of the heap, which the driver's allocator has already
     * @throws IllegalArgumentException if so small a heap can't be
     */
    static Storage of(final BenchDevice device, final Store store, final List<ObjectType> types, final long heapBytes) {
        return store.equals(Store.OBJECT_HEAP)
                ? new HeapStorage(types, device.heapMemory(heapBytes), heapBytes, device.stopwatch().stream())
                : new TableStorage(device, store, types, heapBytes);
    }

    /** Writes what kernels are told. */
    void writeTo(ByteBuffer parameter);

    /**
     * Has a type's objects listed, after all that was launched before, for kernels that visit them.
     *
     * @param type its index
     * @param kernel launches a kernel of the program with the type's index as its argument, with all threads
     */
    void list(int type, ObjIntConsumer<String> kernel);

    /** Bytes of a field that names an object. */
    int idBytes();

    /** What is in use now. */
    Usage usage();

    @Override
    void close();

    /** Bytes of all fields of so many objects. */
    static long liveBytes(final List<ObjectType> types, final int idBytes, final long... counts) {
        long bytes = 0;
        for (int i = 0; i < types.size(); i++) {
            bytes += counts[i] * types.get(i).objectBytes(idBytes);
        }
        return bytes;
    }
}
