// How kernels of programs get their allocator, of any type that cuda-backend/ptx.sh compiles them for: by the heap's control block,
// and where it keeps freed blocks, by buffers that are the module's.
#pragma once

#include "outboard/allocators.cuh"

// One set for all allocators of the module that are divided alike. Empty when the module is loaded; the blocks that are there when
// it is unloaded are lost to the heap.
template <outboard::u32 QUEUES, outboard::u32 DEPTH>
__device__ outboard::Buffers<QUEUES, DEPTH> buffersOf;

template <class Made>
struct MakeAllocator {
    static __device__ Made of(const outboard::Heap* heap) { return Made{heap}; }
};

template <class Behind, outboard::u32 QUEUES, outboard::u32 DEPTH>
struct MakeAllocator<outboard::Buffered<Behind, QUEUES, DEPTH>> {
    static __device__ outboard::Buffered<Behind, QUEUES, DEPTH> of(const outboard::Heap* heap) {
        return {MakeAllocator<Behind>::of(heap), &buffersOf<QUEUES, DEPTH>};
    }
};

template <class Behind, outboard::u32 QUEUES, outboard::u32 DEPTH>
struct MakeAllocator<outboard::Coalesced<outboard::Buffered<Behind, QUEUES, DEPTH>>> {
    static __device__ outboard::Coalesced<outboard::Buffered<Behind, QUEUES, DEPTH>> of(const outboard::Heap* heap) {
        return {{MakeAllocator<outboard::Buffered<Behind, QUEUES, DEPTH>>::of(heap)}};
    }
};
