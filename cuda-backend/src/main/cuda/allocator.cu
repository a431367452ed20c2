// One allocator as plain functions, for kernels that are compiled elsewhere and linked with it.
// OUTBOARD_ALLOCATOR says which.
#include "outboard/allocators.cuh"

extern "C" {

__device__ void* outboardMalloc(const void* heap, size_t bytes) {
    OUTBOARD_ALLOCATOR allocator{static_cast<const outboard::Heap*>(heap)};
    return allocator.malloc(bytes);
}

__device__ void outboardFree(const void* heap, void* pointer) {
    OUTBOARD_ALLOCATOR allocator{static_cast<const outboard::Heap*>(heap)};
    allocator.free(pointer);
}

}
