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

static void atomicAdd(unsigned long long* counter, unsigned long long amount) {
    *counter += amount;
}

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
