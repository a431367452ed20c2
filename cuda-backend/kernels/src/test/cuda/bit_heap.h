// Heaps for programs on fibers, mostly BitMalloc's.
#pragma once

#include <cstring>

#include "trials.h"

#include "outboard/bit_malloc.cuh"
#include "outboard/heap_setup.cuh"

namespace outboard {

// Makes a heap of so many bytes. Its tables were something else before.
inline void makeHeapOf(Heap* heap, u64 bytes, u32 flags, u32 multiprocessors) {
    require(format(heap, bytes, multiprocessors, 256, flags), "a heap has 4 KiB to 64 GiB");
    std::memset(static_cast<void*>(heap->counters), 0xA5, heap->area - reinterpret_cast<unsigned char*>(heap->counters));
    clearTables(heap, 0, 1);
    preSplit(heap, SPLIT_NONE, 0, 0, 0, 1);
}

inline void makeBitHeap(Heap* heap, u64 bytes, u32 moreFlags, u32 multiprocessors) {
    makeHeapOf(heap, bytes, FLAG_FREE_BITS | moreFlags, multiprocessors);
}

// Of a GPU with one to three multiprocessors.
inline void makeBitHeap(Heap* heap, u64 bytes, u32 moreFlags = 0) {
    makeBitHeap(heap, bytes, moreFlags, 1 + chance.below(3));
}

}  // namespace outboard
