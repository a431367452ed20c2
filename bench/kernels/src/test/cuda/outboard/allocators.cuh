// Stands in for the headers of the same name, so that the bench's kernels compile for the CPU: one thread after the other,
// and an allocator with faults to choose from.
#pragma once

#include <cstddef>

#define __device__
#define __global__
#define __grid_constant__

struct Dimension {
    unsigned x;
};

static Dimension blockIdx;
static Dimension blockDim;
static Dimension threadIdx;

static unsigned long long atomicAdd(unsigned long long* counter, unsigned long long amount) {
    const unsigned long long before = *counter;
    *counter += amount;
    return before;
}

static void atomicMax(unsigned long long* word, unsigned long long value) {
    *word = value > *word ? value : *word;
}

// Each thread is a warp.
static const unsigned warpSize = 1;

static unsigned __ballot_sync(unsigned, bool mine) { return mine ? 1 : 0; }
static unsigned long long __shfl_sync(unsigned, unsigned long long mine, int) { return mine; }
static int __ffs(int word) { return __builtin_ffs(word); }
static void __syncwarp() {}

static void __nanosleep(unsigned) {}
static long long clock64() { return 0; }

namespace outboard {

enum Fault { NONE, OVERLAP, MISALIGNED, OUTSIDE };

struct Heap {
    unsigned char* memory;
    unsigned long long bytes;
    unsigned long long* next;
    Fault fault;
};

}  // namespace outboard

struct FaultyMalloc {
    const outboard::Heap* heap;

    void* malloc(size_t bytes) {
        const size_t padded = (bytes + 15) / 16 * 16;
        if (heap->fault != outboard::OUTSIDE && *heap->next + padded > heap->bytes) {
            return nullptr;
        }
        unsigned char* const block = heap->memory + *heap->next;
        *heap->next += heap->fault == outboard::OVERLAP ? padded - 16 : padded;
        return heap->fault == outboard::MISALIGNED ? block + 8 : block;
    }

    void free(void*) {}
};

#define OUTBOARD_ALLOCATOR FaultyMalloc
