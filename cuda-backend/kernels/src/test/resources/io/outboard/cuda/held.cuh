// Blocks that kernels of tests hold: each is filled with a tag of its own and read back, so that blocks that overlap are found.
#pragma once

#include "outboard/bit_malloc.cuh"
#include "outboard/cuda_malloc.cuh"

// Not inlined, so that there is one copy for all kernels. In no unnamed namespace, whose name differs each time.
template <class Allocator>
__device__ __noinline__ void* mallocOf(Allocator& allocator, outboard::u64 bytes) {
    return allocator.malloc(bytes);
}

namespace {

using outboard::Heap;
using outboard::u32;
using outboard::u64;

// What went wrong and what went well, in the order of HeldBlocks.Counts.
struct Counts {
    u64 served;
    u64 nulls;
    u64 misaligned;
    u64 overwritten;
    u64 late;  // served of an arena that was freed, or for 0 bytes
};

// How a block begins that is held.
struct alignas(16) Block {
    Block* before;
    u32 bytes;
    u32 tag;
};

__device__ u32 thread() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ u32 mixed(u32 number) {
    number = (number ^ (number >> 16)) * 0x7FEB352Du;
    number = (number ^ (number >> 15)) * 0x846CA68Bu;
    return number ^ (number >> 16);
}

__device__ void fill(Block* block, u32 tag) {
    volatile u32* const words = reinterpret_cast<u32*>(block);
    for (u32 i = sizeof(Block) / sizeof(u32); i < block->bytes / sizeof(u32); ++i) {
        words[i] = tag;
    }
}

// A block that isn't right leads nowhere.
__device__ bool isRight(const volatile Block* block, u32 bytes, u32 tag) {
    bool right = block->bytes == bytes && block->tag == tag;
    const volatile u32* const words = reinterpret_cast<const volatile u32*>(block);
    for (u32 i = sizeof(Block) / sizeof(u32); right && i < bytes / sizeof(u32); ++i) {
        right = words[i] == tag;
    }
    return right;
}

template <class Allocator>
__device__ Block* allocate(Allocator& allocator, Block* before, u32 bytes, u32 tag, Counts* counts) {
    void* const memory = mallocOf(allocator, bytes);
    if (memory == nullptr) {
        atomicAdd(&counts->nulls, 1);
        return nullptr;
    }
    atomicAdd(&counts->served, 1);
    if (reinterpret_cast<u64>(memory) % 16 != 0) {
        atomicAdd(&counts->misaligned, 1);
        return nullptr;
    }
    Block* const block = static_cast<Block*>(memory);
    *block = {before, bytes, tag};
    fill(block, tag);
    return block;
}

}  // namespace
