package io.outboard.bench.cli.device;

import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import java.util.List;

/**
 * This class opens the driver's allocators by name. Listing the names loads nothing; opening an allocator loads JCuda.
 */
public final class DriverAllocators {

    /** The runtime's synchronous allocator. */
    public static final String CUDA_MALLOC = "cudaMalloc";

    /** The driver's stream-ordered allocator. */
    public static final String CU_MEM_ALLOC_ASYNC = "cuMemAllocAsync";

    private DriverAllocators() {}

    /**
     * Lists all names, in the order of reports.
     *
     * @return an immutable list
     */
    public static List<String> names() {
        return List.of(CUDA_MALLOC, CU_MEM_ALLOC_ASYNC);
    }

    /**
     * Opens an allocator on the calling thread, to which the allocator is confined.
     *
     * @param name one of {@link #names}
     * @param device number of the CUDA device, {@code 0 <= device}
     * @param slots the most allocations at a time, {@code 0 < slots}; 40 host bytes each
     * @return the allocator, all slots free
     * @throws IllegalArgumentException if an argument is out of range; nothing was opened
     * @throws CudaUnavailableException if there is no such device; nothing was opened
     * @throws io.outboard.cuda.driver.CudaFailureException if CUDA fails; nothing stays open
     */
    public static DriverAllocator open(final String name, final int device, final int slots) {
        if (!names().contains(name)) {
            throw new IllegalArgumentException("name=" + name + " must be one of " + String.join(", ", names()));
        }
        if (slots <= 0) {
            throw new IllegalArgumentException("slots=" + slots + " must be > 0");
        }
        // This call says in one line what is missing; the calls below would only return a code.
        CudaMemorySource.open(device).close();
        try {
            return CUDA_MALLOC.equals(name)
                    ? CudaMallocAllocator.open(device, slots)
                    : CuMemAllocAsyncAllocator.open(device, slots);
        } catch (final LinkageError e) {
            throw new CudaUnavailableException(
                    "JCuda's native library for " + name
                            + " does not load; put the jcuda-natives jar of the same version" + " on the class path",
                    e);
        }
    }
}
