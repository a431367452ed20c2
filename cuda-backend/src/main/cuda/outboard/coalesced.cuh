// Requests of the threads of one warp, served by one (allocation coalescing: Huang et al. 2013, section 5.1). There the
// memory comes back when the last of the threads frees its part; here each part is a chunk of its own.
#pragma once

#include "heap.cuh"

namespace outboard {

namespace detail {

// For allocators that need to know nothing of a chunk: the first unit of so many for the calling thread, or NO_UNIT.
// One claim serves all threads of a warp that ask together, if there is room for all of them; else each asks for
// itself.
template <class Allocator>
OUTBOARD_DEVICE u32 takeTogether(Allocator& allocator, u32 units) {
    // The sum of a warp's fits in 32 bits.
    constexpr u32 LIMIT_UNITS = 1u << 26;
    const Group group;
    const u32 joined = units <= LIMIT_UNITS ? units : 0;
    const u32 before = group.sumOfLowerRanks(joined);
    const u32 total = group.fromLast(before + joined);
    u32 unit = NO_UNIT;
    if (group.rank() == 0 && total != 0) {
        unit = allocator.take(total).unit;
    }
    unit = group.fromFirst(unit);
    if (unit != NO_UNIT && joined != 0) {
        return unit + before;
    }
    return units == 0 ? NO_UNIT : allocator.take(units).unit;
}

}  // namespace detail

// An allocator that takes one chunk for all threads of a warp that allocate together. Those of large requests go alone,
// since a chunk for all of them is hard to find, and all do where none is found soon.
template <class Allocator>
struct Coalesced : Allocator {
    static constexpr u32 LIMIT_UNITS = (32u << 10) / UNIT_BYTES;
    static constexpr u32 LOOKS = 4;

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        this->requireLayout();
        const Group group;
        u32 units = this->heap->unitsFor(bytes);
        if (units > LIMIT_UNITS) {
            units = 0;
        }
        // Where the thread's part ends. That it is this which is kept, not where it begins, saves two registers.
        const u32 after = group.sumOfLowerRanks(units) + units;
        const u32 total = group.fromLast(after);
        if (group.size() > 1 && total != 0 && total <= LIMIT_UNITS) {
            Chunk chunk = {};
            if (group.rank() == 0) {
                chunk = this->template take<LOOKS>(total);
            }
            chunk.unit = group.fromFirst(chunk.unit);
            chunk.end = group.fromFirst(chunk.end);
            if (chunk.unit != NO_UNIT) {
                // The chunk's end is written before those of its parts, some in the same place.
                group.sync();
                const u32 unit = chunk.unit + after - units;
                if (units != 0) {
                    // The last one has what there is beyond the request.
                    const u32 end = after == total ? chunk.end : unit + units;
                    this->useSlice(unit, end);
                    this->track(unit, end, bytes);
                }
                // A part ends where the next one starts: all must stand before any is freed.
                group.sync();
                if (units != 0) {
                    return this->heap->address(unit);
                }
            }
        }
        return Allocator::malloc(bytes);
    }
};

}  // namespace outboard
