// BitMalloc's heap for programs on fibers.
#pragma once

#include <cstring>

#include "trials.h"

#include "outboard/bit_malloc.cuh"
#include "outboard/heap_setup.cuh"

namespace outboard {

// Makes a heap of so many bytes. Its tables were something else before.
inline void makeBitHeap(Heap* heap, u64 bytes, u32 moreFlags, u32 multiprocessors) {
    format(heap, bytes, multiprocessors, 256, FLAG_FREE_BITS | moreFlags);
    std::memset(static_cast<void*>(heap->counters), 0xA5, heap->area - reinterpret_cast<unsigned char*>(heap->counters));
    clearTables(heap, 0, 1);
    preSplit(heap, SPLIT_NONE, 0, 0, 0, 1);
}

// Of a GPU with one to three multiprocessors.
inline void makeBitHeap(Heap* heap, u64 bytes, u32 moreFlags = 0) {
    makeBitHeap(heap, bytes, moreFlags, 1 + chance.below(3));
}

}  // namespace outboard
