// One allocator as plain functions, for kernels that are compiled elsewhere and linked with it.
// OUTBOARD_ALLOCATOR says which.
#include "outboard/allocators.cuh"

namespace {

template <class Allocator>
__device__ auto aligned(Allocator allocator, size_t alignment, size_t bytes, int)
        -> decltype(allocator.alignedMalloc(alignment, bytes)) {
    return allocator.alignedMalloc(alignment, bytes);
}

// Allocators that know of no other alignment than theirs.
template <class Allocator>
__device__ void* aligned(Allocator allocator, size_t alignment, size_t bytes, long) {
    return alignment <= outboard::UNIT_BYTES ? allocator.malloc(bytes) : nullptr;
}

}  // namespace

extern "C" {

__device__ void* outboardMalloc(const void* heap, size_t bytes) {
    OUTBOARD_ALLOCATOR allocator{static_cast<const outboard::Heap*>(heap)};
    return allocator.malloc(bytes);
}

// With an alignment that is a power of two. A null pointer if there is no memory, or if the allocator gives no other
// alignment than 16: all but BitMalloc.
__device__ void* outboardAlignedMalloc(const void* heap, size_t alignment, size_t bytes) {
    return aligned(OUTBOARD_ALLOCATOR{static_cast<const outboard::Heap*>(heap)}, alignment, bytes, 0);
}

__device__ void outboardFree(const void* heap, void* pointer) {
    OUTBOARD_ALLOCATOR allocator{static_cast<const outboard::Heap*>(heap)};
    allocator.free(pointer);
}

}
