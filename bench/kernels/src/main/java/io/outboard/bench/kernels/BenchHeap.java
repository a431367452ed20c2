package io.outboard.bench.kernels;

import io.outboard.cuda.kernels.DeviceHeap;
import io.outboard.cuda.kernels.DeviceHeapBuilder;
import io.outboard.cuda.kernels.DeviceHeapStatistics;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The heap of a case is an in-kernel heap, or bare memory where nothing allocates or CUDA's own allocator does. Confined
 * to one thread.
 */
final class BenchHeap implements AutoCloseable {

    private final Contender contender;
    private final long memory;
    private final long sizeBytes;
    private final @Nullable DeviceHeap heap;

    BenchHeap(final KernelCase work, final long memory, final boolean trackRequests) {
        this.contender = work.contender();
        this.memory = memory;
        this.sizeBytes = work.heapBytes();
        this.heap = contender
                .allocator()
                .filter(allocator -> contender.needsMemory())
                .map(allocator -> {
                    final DeviceHeapBuilder builder = DeviceHeap.over(memory, work.heapBytes())
                            .allocator(allocator)
                            .trackRequests(trackRequests);
                    PreSplits.parse(work.preSplit()).ifPresent(builder::preSplit);
                    return builder.build();
                })
                .orElse(null);
    }

    /** Returns the address at which the heap begins. */
    long address() {
        return memory;
    }

    /** Returns the size of the heap, from {@link #address}; 0 where blocks lie elsewhere. */
    long boundBytes() {
        return contender.hasBounds() ? sizeBytes : 0;
    }

    /** Returns the heap's control block, which kernels read; zeroes if the heap has none. */
    ByteBuffer control() {
        return heap == null
                ? ByteBuffer.allocate(DeviceHeap.CONTROL_BYTES)
                : heap.parameter().getByteBuffer(0, DeviceHeap.CONTROL_BYTES);
    }

    /** Empties the heap, unless its allocator can free. */
    void resetUnlessFreed() {
        if (!contender.canFree()) {
            reset();
        }
    }

    /** Makes the heap fresh again; the driver's heap stays as it is. */
    void reset() {
        if (heap != null && contender.hasBounds()) {
            heap.reset();
        }
    }

    /** Returns what is in the heap now; empty where the heap has no chunks. */
    Optional<DeviceHeapStatistics> statistics() {
        return heap == null || !contender.hasChunks() ? Optional.empty() : Optional.of(heap.statistics());
    }

    @Override
    public void close() {
        if (heap != null) {
            heap.close();
        }
    }
}
