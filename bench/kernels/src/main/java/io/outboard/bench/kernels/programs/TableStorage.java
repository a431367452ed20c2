package io.outboard.bench.kernels.programs;

import io.outboard.bench.kernels.worker.BenchDevice;
import io.outboard.core.Region;
import io.outboard.cuda.kernels.DeviceAllocator;
import io.outboard.cuda.kernels.DeviceHeap;
import io.outboard.cuda.kernels.DeviceHeapStatistics;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * This storage keeps objects with memory beside the heap for each type: pointers to objects that an allocator placed,
 * or arrays that hold the objects themselves.
 */
final class TableStorage implements Storage {

    private static final int INDEX_BYTES = 32;
    private static final int LISTS_AT = 3 * Long.BYTES + Integer.BYTES;
    private static final int ALIGNMENT = 256;

    private final Store store;
    private final @Nullable DeviceHeap heap;
    private final DeviceResources resources = new DeviceResources();
    private final List<long[]> tables = new ArrayList<>();
    private @Nullable ByteBuffer parameter;

    TableStorage(final BenchDevice device, final Store store, final List<ObjectType> types, final long heapBytes) {
        this.store = store;
        heap = store.allocator()
                .filter(allocator -> allocator != DeviceAllocator.CUDA_MALLOC)
                .map(allocator -> DeviceHeap.over(device.heapMemory(heapBytes), heapBytes)
                        .allocator(allocator)
                        .build())
                .orElse(null);
        if (heap != null) {
            resources.add(heap, DeviceHeap::close);
        }
        try {
            if (!store.hasPointers()) {
                checkRoom(types, heapBytes);
            }
            takeTables(device, types);
        } catch (final RuntimeException e) {
            throw resources.closedAfter(e);
        }
    }

    /** Arrays lie beside the heap, but may be no larger: so they are compared with what needs one. */
    private void checkRoom(final List<ObjectType> types, final long heapBytes) {
        final long bytes = types.stream()
                .mapToLong(type -> type.most() * (bytesInArrays(type) + 1))
                .sum();
        if (bytes > heapBytes) {
            throw new IllegalArgumentException("heapBytes=" + heapBytes + " must be " + bytes + " or more, for arrays");
        }
    }

    private void takeTables(final BenchDevice device, final List<ObjectType> types) {
        final boolean pointers = store.hasPointers();
        for (final ObjectType type : types) {
            final long places = pointers ? type.mostListed() : type.most();
            final long capacity = (places + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            final Region first = resources.take(device, capacity * (pointers ? Long.BYTES : bytesInArrays(type)));
            final Region second = resources.take(device, capacity * (pointers ? Long.BYTES : 1));
            final Region index = resources.take(device, INDEX_BYTES);
            tables.add(new long[] {first.address(), second.address(), index.address(), capacity});
        }
    }

    private int bytesInArrays(final ObjectType type) {
        return store.equals(Store.AOS) ? type.structureBytes(0, Integer.BYTES) : type.objectBytes(Integer.BYTES);
    }

    @Override
    public void writeTo(final ByteBuffer written) {
        parameter = written;
        if (heap != null) {
            written.put(0, heap.parameter().getByteBuffer(0, DeviceHeap.CONTROL_BYTES), 0, DeviceHeap.CONTROL_BYTES);
        }
        for (int type = 0; type < tables.size(); type++) {
            for (int word = 0; word < tables.get(type).length; word++) {
                written.putLong(CONTROL_BYTES + type * TABLE_BYTES + word * Long.BYTES, tables.get(type)[word]);
            }
        }
    }

    @Override
    public void list(final int type, final ObjIntConsumer<String> kernel) {
        if (store.hasPointers()) {
            kernel.accept("list", type);
        } else if (parameter != null) {
            // Arrays need no list: kernels tell by this number what was made since.
            final int at = CONTROL_BYTES + type * TABLE_BYTES + LISTS_AT;
            parameter.putInt(at, parameter.getInt(at) + 1);
        }
    }

    @Override
    public int idBytes() {
        return store.hasPointers() ? Long.BYTES : Integer.BYTES;
    }

    @Override
    public Usage usage() {
        if (heap == null || store.isCuda()) {
            return new Usage(-1, -1, -1);
        }
        final DeviceHeapStatistics statistics = heap.statistics();
        return new Usage(statistics.usedChunks(), statistics.usedBytes(), statistics.misuses());
    }

    @Override
    public void close() {
        resources.close();
    }
}
