// AtomicMalloc: one counter, nothing is freed. Algorithm 1 of Vinkler and Havran 2014, with two differences: a request
// that doesn't fit leaves the counter as it was, so that smaller ones are still served, and the counter can't overflow.
#pragma once

#include "coalesced.cuh"
#include "heap.cuh"

namespace outboard {

// For heaps made with FLAG_BUMP.
struct AtomicMalloc {
    static constexpr bool CAN_FREE = false;

    const Heap* heap;

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const u32 units = heap->unitsFor(bytes);
        const Chunk chunk = units == 0 ? Chunk{NO_UNIT, 0} : take(units);
        return chunk.unit == NO_UNIT ? nullptr : heap->address(chunk.unit);
    }

    OUTBOARD_DEVICE void free(void*) {}

    template <u32 LOOKS = 0>
    OUTBOARD_DEVICE Chunk take(u32 units) {
        const Atomic<u64> bump(heap->counters->bump);
        while (true) {
            u64 before = bump.load(RELAXED);
            if (before > heap->units) {
                continue;  // another thread is about to take back what it added in vain
            }
            if (before + units > heap->units) {
                return {NO_UNIT, 0};
            }
            before = addTogether(heap->counters->bump, units);
            if (before + units <= heap->units) {
                return {static_cast<u32>(before), static_cast<u32>(before + units)};
            }
            // Taken back only while nothing is on top of it. Until then the counter is too large for anyone to
            // succeed, so nothing that was handed out lies above.
            u64 top;
            do {
                top = before + units;
            } while (!bump.compare_exchange_strong(top, before, RELAXED, RELAXED));
        }
    }

    OUTBOARD_DEVICE void useSlice(u32, u32) {}

    OUTBOARD_DEVICE void track(u32, u32, size_t) {}
};

}  // namespace outboard
