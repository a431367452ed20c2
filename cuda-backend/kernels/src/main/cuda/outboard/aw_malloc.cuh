// AWMalloc: one counter that starts again at the heap's begin. It OVERWRITES what it handed out before, used or not:
// for memory that is needed for a short time only, in a heap large enough. Algorithm 2 of Vinkler and Havran 2014, with
// these differences: a thread that finds the counter wrapped, and its request too large for what is left, adds again,
// where the paper's hands out a range that belongs to another; and requests of threads of one warp are joined to one
// add.
//
// Bounds: nobody waits for a stalled thread. A call that comes to the heap's end tries again each time that another one
// moved the counter between its look and its compare-and-swap, which may go on while others do so without end.
#pragma once

#include "coalesced.cuh"
#include "heap.cuh"

namespace outboard {

// For heaps made with FLAG_BUMP.
struct AWMalloc {
    static constexpr bool CAN_FREE = false;

    const Heap* heap;

    // Threads for which this is the same pointer are served together.
    OUTBOARD_DEVICE const void* shared() const {
        return heap->counters;
    }

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        heap->requireLayout(LAYOUT_BUMP);
        const u32 unit = detail::takeTogether(*this, heap->unitsFor(bytes));
        return unit == NO_UNIT ? nullptr : heap->address(unit);
    }

    OUTBOARD_DEVICE void free(void*) {}

    // A chunk of so many units, or none.
    OUTBOARD_DEVICE Chunk take(u32 units) {
        if (units > heap->units) {
            return {NO_UNIT, 0};
        }
        const Atomic<u64> bump(heap->counters->bump);
        u64 end = bump.fetch_add(units, RELAXED) + units;
        while (end > heap->units) {
            u64 seen = end;
            if (bump.compare_exchange_strong(seen, units, RELAXED, RELAXED)) {
                end = units;
            } else {
                end = seen > heap->units ? seen : bump.fetch_add(units, RELAXED) + units;
            }
        }
        return {static_cast<u32>(end - units), static_cast<u32>(end)};
    }
};

// The same: its requests are joined anyway.
template <>
struct Coalesced<AWMalloc> : AWMalloc {};

}  // namespace outboard
