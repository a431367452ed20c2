// CudaMalloc: CUDA's own malloc for kernels, as the baseline. Its heap is the driver's (cudaLimitMallocHeapSize).
#pragma once

#include "coalesced.cuh"
#include "heap.cuh"

namespace outboard {

struct CudaMalloc {
    static constexpr bool CAN_FREE = true;

    const Heap* heap;  // not used

    // All threads have the same heap, the driver's.
    OUTBOARD_DEVICE const void* shared() const {
        return nullptr;
    }

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        return driverMalloc(bytes);
    }

    OUTBOARD_DEVICE void free(void* pointer) {
        driverFree(pointer);
    }
};

// Its blocks can't be freed in parts.
template <>
struct Coalesced<CudaMalloc> : CountedParts<CudaMalloc> {};

}  // namespace outboard
