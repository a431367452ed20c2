// The allocator that a program was compiled with (OUTBOARD_ALLOCATOR), and how one is made: some need more than the heap.
#pragma once

#include "outboard/allocators.cuh"
#include "outboard/buffered.cuh"

// Of the allocators, those that keep freed blocks.
__device__ outboard::Buffers<> buffers;

using Allocator = OUTBOARD_ALLOCATOR;

template <class Made>
struct MakeAllocator {
    static __device__ Made of(const outboard::Heap* heap) { return Made{heap}; }
};

template <class Behind>
struct MakeAllocator<outboard::Coalesced<outboard::Buffered<Behind>>> {
    static __device__ outboard::Coalesced<outboard::Buffered<Behind>> of(const outboard::Heap* heap) {
        return {{{{heap}, &buffers}}};
    }
};
