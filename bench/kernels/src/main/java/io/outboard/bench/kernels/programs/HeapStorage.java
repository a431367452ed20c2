package io.outboard.bench.kernels.programs;

import io.outboard.cuda.kernels.MakeOrder;
import io.outboard.cuda.kernels.ObjectHeap;
import io.outboard.cuda.kernels.ObjectHeapBuilder;
import io.outboard.cuda.kernels.ObjectHeapStatistics;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import jcuda.driver.CUstream;

/** This storage keeps objects in a heap of objects. */
final class HeapStorage implements Storage {

    private final List<ObjectType> types;
    private final ObjectHeap heap;
    private final CUstream stream;

    HeapStorage(
            final List<ObjectType> types,
            final long memory,
            final long bytes,
            final MakeOrder order,
            final CUstream stream) {
        this.types = types;
        this.stream = stream;
        final ObjectHeapBuilder builder = ObjectHeap.over(memory, bytes).order(order);
        final Set<String> bases = new HashSet<>();
        types.forEach(type -> type.declare(builder, bases));
        this.heap = builder.build();
    }

    @Override
    public void writeTo(final ByteBuffer parameter) {
        parameter.put(0, heap.parameter().getByteBuffer(0, CONTROL_BYTES), 0, CONTROL_BYTES);
    }

    @Override
    public void list(final int type, final ObjIntConsumer<String> kernel) {
        heap.list(types.get(type).name(), stream);
    }

    @Override
    public int idBytes() {
        return Integer.BYTES;
    }

    @Override
    public Usage usage() {
        final ObjectHeapStatistics statistics = heap.statistics();
        return new Usage(
                statistics.types().stream()
                        .mapToLong(ObjectHeapStatistics.Type::objects)
                        .sum(),
                (statistics.blocks() - statistics.freeBlocks()) * statistics.blockBytes(),
                statistics.misuses());
    }

    @Override
    public void close() {
        heap.close();
    }
}
