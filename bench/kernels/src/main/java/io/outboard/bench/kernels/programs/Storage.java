package io.outboard.bench.kernels.programs;

import io.outboard.bench.kernels.worker.BenchDevice;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A storage is where a program's objects live, the host's side of a store in {@code stores.cuh}; where a program has no
 * types, it is what kernels make requests of. Confined to one thread.
 */
public interface Storage extends AutoCloseable {

    /** The bytes of the control block that begins kernels' parameter. */
    int CONTROL_BYTES = 1536;

    /** The bytes that describe a type, behind the control block. */
    int TABLE_BYTES = 32;

    /** The number of bytes of which heaps' sizes are multiples. */
    long HEAP_ALIGNMENT = 256;

    /** The most types that a program can have. */
    int MOST_TYPES = 4;

    /**
     * The usage says what is in use. Numbers that can't be known are negative.
     *
     * @param objects that exist
     * @param heldBytes of the heap that hold objects, including their unused parts
     * @param misuses that the heap counted
     */
    record Usage(long objects, long heldBytes, long misuses) {

        /** Returns one of the numbers for a result: null if it can't be known. */
        public static @Nullable Long known(final long number) {
            return number < 0 ? null : (Long) number;
        }
    }

    /**
     * Makes a fresh storage.
     *
     * @param heapBytes of the heap, which the driver's allocator has already
     * @throws IllegalArgumentException if a heap can't be that small
     */
    static Storage of(final BenchDevice device, final Store store, final List<ObjectType> types, final long heapBytes) {
        if (store.isObjectHeap()) {
            return new HeapStorage(
                    types, device.heapMemory(heapBytes), heapBytes, store.order(), device.stopwatch().stream());
        }
        return store.equals(Store.BITMAP_ALLOC)
                ? new BitmapStorage(device, types, heapBytes)
                : new TableStorage(device, store, types, heapBytes);
    }

    /** Writes what kernels need to know to their parameter. */
    void writeTo(ByteBuffer parameter);

    /**
     * Lists a type's objects, after all work launched before, for kernels that visit the objects.
     *
     * @param type its index
     * @param kernel launches a kernel of the program with the type's index as its argument, with all threads
     */
    void list(int type, ObjIntConsumer<String> kernel);

    /** Returns the bytes of a field that names an object. */
    int idBytes();

    /** Returns what is in use now. */
    Usage usage();

    @Override
    void close();

    /** Returns the bytes of all fields of {@code counts} objects of each type. */
    static long liveBytes(final List<ObjectType> types, final int idBytes, final long... counts) {
        long bytes = 0;
        for (int i = 0; i < types.size(); i++) {
            bytes += counts[i] * types.get(i).objectBytes(idBytes);
        }
        return bytes;
    }
}
