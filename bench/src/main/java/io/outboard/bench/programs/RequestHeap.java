package io.outboard.bench.programs;

import io.outboard.cuda.DeviceAllocator;
import io.outboard.cuda.DeviceHeap;
import io.outboard.cuda.ObjectHeap;
import io.outboard.cuda.ObjectHeapStatistics;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * What kernels make requests of: a heap of either kind; or none of ours, where CUDA has it or nothing is freed.
 * Confined to one thread.
 */
final class RequestHeap implements AutoCloseable {

    /** Of the control block that begins kernels' parameter, whichever it is. */
    static final int CONTROL_BYTES = Math.max(DeviceHeap.CONTROL_BYTES, ObjectHeap.CONTROL_BYTES);

    /** {@code Thing} of {@code objects.cu}. */
    private static final int THING_FIELDS = 16;

    private final ByteBuffer control;
    private final Supplier<OptionalLong> used;
    private final Runnable end;

    private RequestHeap(final ByteBuffer control, final Supplier<OptionalLong> used, final Runnable end) {
        this.control = control;
        this.used = used;
        this.end = end;
    }

    /**
     * A fresh heap for a case.
     *
     * @param memory of {@link ProgramCase#heapBytes}, if the case isn't of CUDA's allocator
     */
    static RequestHeap of(final ProgramCase work, final long memory) {
        if (work.store().equals(Store.OBJECT_HEAP)) {
            return ofObjects(memory, work.heapBytes());
        }
        return work.store()
                .allocator()
                .filter(allocator -> allocator != DeviceAllocator.CUDA_MALLOC)
                .map(allocator -> ofChunks(allocator, memory, work.heapBytes()))
                .orElseGet(() -> new RequestHeap(ByteBuffer.allocate(0), OptionalLong::empty, () -> {}));
    }

    private static RequestHeap ofChunks(final DeviceAllocator allocator, final long memory, final long bytes) {
        final DeviceHeap heap =
                DeviceHeap.over(memory, bytes).allocator(allocator).build();
        return new RequestHeap(
                heap.parameter().getByteBuffer(0, DeviceHeap.CONTROL_BYTES),
                () -> OptionalLong.of(heap.statistics().usedChunks()),
                heap::close);
    }

    private static RequestHeap ofObjects(final long memory, final long bytes) {
        final int[] fields = new int[THING_FIELDS];
        Arrays.fill(fields, Integer.BYTES);
        final ObjectHeap heap =
                ObjectHeap.over(memory, bytes).type("Thing", fields).build();
        return new RequestHeap(
                heap.parameter().getByteBuffer(0, ObjectHeap.CONTROL_BYTES),
                () -> OptionalLong.of(heap.statistics().types().stream()
                        .mapToLong(ObjectHeapStatistics.Type::objects)
                        .sum()),
                heap::close);
    }

    /** Writes the control block where kernels' parameter begins. */
    void writeTo(final ByteBuffer parameter) {
        parameter.put(0, control, 0, control.limit());
    }

    /** Chunks or objects in use; nothing where it can't be known. */
    OptionalLong used() {
        return used.get();
    }

    @Override
    public void close() {
        end.run();
    }
}
