// AtomicMalloc: one counter, nothing is freed. Algorithm 1 of Vinkler and Havran 2014, with these differences:
//
// - A request that doesn't fit leaves the counter as it was, so that smaller ones are still served, and the counter
//   can't overflow. In the last MiB of the heap it is advanced by compare-and-swap, else by an add, after a look. Such
//   an add is in vain if others took more than that MiB since the look; then the counter is set back.
// - Requests of threads of one warp are joined to one add.
//
// Bounds: nobody waits for a stalled thread. A call looks at the counter up to MOST_LOOKS times while another one's add
// in vain hasn't been taken back, and is refused then; this is the only case in which a request that would fit gets
// nothing. In the last MiB it tries again each time that another call got memory from it. Nothing else repeats.
#pragma once

#include "coalesced.cuh"
#include "heap.cuh"

namespace outboard {

// For heaps made with FLAG_BUMP.
struct AtomicMalloc {
    static constexpr bool CAN_FREE = false;
    static constexpr u32 LAST_UNITS = (1u << 20) / UNIT_BYTES;
    static constexpr u32 MOST_LOOKS = 1024;

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
        const Atomic<u64> bump(heap->counters->bump);
        u64 before = bump.load(RELAXED);
        for (u32 looks = 0; looks < MOST_LOOKS;) {
            if (before > heap->units) {
                ++looks;
                before = bump.load(RELAXED);
            } else if (before + units > heap->units) {
                break;
            } else if (heap->units - before <= LAST_UNITS) {
                if (bump.compare_exchange_strong(before, before + units, RELAXED, RELAXED)) {
                    return {static_cast<u32>(before), static_cast<u32>(before) + units};
                }
            } else {
                before = bump.fetch_add(units, RELAXED);
                if (before + units <= heap->units) {
                    return {static_cast<u32>(before), static_cast<u32>(before) + units};
                }
                if (before <= heap->units) {
                    // The first one in vain. All others since then were too, so a store takes them back together.
                    bump.store(before, RELAXED);
                }
            }
        }
        return {NO_UNIT, 0};
    }
};

// The same: its requests are joined anyway.
template <>
struct Coalesced<AtomicMalloc> : AtomicMalloc {};

}  // namespace outboard
