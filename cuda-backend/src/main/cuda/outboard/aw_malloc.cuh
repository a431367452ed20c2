// AWMalloc: one counter that starts again at the heap's begin. It OVERWRITES what it handed out before, used or not:
// for memory that is needed for a short time only, in a heap large enough. Algorithm 2 of Vinkler and Havran 2014, with
// one difference: a thread that finds the counter wrapped, and its request too large for what is left, adds again,
// where the paper's hands out a range that belongs to another.
#pragma once

#include "coalesced.cuh"
#include "heap.cuh"

namespace outboard {

// For heaps made with FLAG_BUMP.
struct AWMalloc {
    static constexpr bool CAN_FREE = false;

    const Heap* heap;

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const u32 units = heap->unitsFor(bytes);
        return units == 0 ? nullptr : heap->address(take(units).unit);
    }

    OUTBOARD_DEVICE void free(void*) {}

    template <u32 LOOKS = 0>
    OUTBOARD_DEVICE Chunk take(u32 units) {
        const Atomic<u64> bump(heap->counters->bump);
        u64 end = addTogether(heap->counters->bump, units) + units;
        while (end > heap->units) {
            u64 seen = end;
            if (bump.compare_exchange_strong(seen, units, RELAXED, RELAXED)) {
                end = units;
            } else {
                end = seen > heap->units ? seen : addTogether(heap->counters->bump, units) + units;
            }
        }
        return {static_cast<u32>(end - units), static_cast<u32>(end)};
    }

    OUTBOARD_DEVICE void useSlice(u32, u32) {}

    OUTBOARD_DEVICE void track(u32, u32, size_t) {}
};

}  // namespace outboard
