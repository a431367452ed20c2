// Requests of the threads of one warp, served by one (allocation coalescing: Huang et al. 2013, section 5.1). There the
// memory comes back when the last of the threads frees its part; here each part is a chunk of its own.
#pragma once

#include "heap.cuh"

namespace outboard {

// Compile it into the kernel. In functions that are called, and not inlined, threads of a warp were seen to hang and to
// get memory of others on an H200 (nvcc 13.0): there a group of threads that are on their way together isn't one that
// stays so.
//
// An allocator that takes one chunk for all threads of a warp that allocate together. Those of large requests go alone,
// since a chunk for all of them is hard to find, and all do where none is found soon.
template <class Allocator>
struct Coalesced : Allocator {
    static constexpr u32 LIMIT_UNITS = (32u << 10) / 16;
    static constexpr u32 LOOKS = 4;

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const Group group;
        u32 units = this->heap->unitsFor(bytes);
        if (units > LIMIT_UNITS) {
            units = 0;
        }
        const u32 before = group.sumOfLowerRanks(units);
        const u32 total = group.fromLast(before + units);
        void* pointer = nullptr;
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
                if (units != 0) {
                    const u32 unit = chunk.unit + before;
                    // The last one has what there is beyond the request.
                    const u32 end = before + units == total ? chunk.end : unit + units;
                    this->useSlice(unit, end);
                    this->track(unit, end, bytes);
                    pointer = this->heap->address(unit);
                }
                // A part ends where the next one starts: all must stand before any is freed.
                group.sync();
            }
        }
        // One after another, so that the threads of a warp stay together for the next request.
        if (group.any(pointer == nullptr)) {
            for (u32 turn = 0; turn < group.size(); ++turn) {
                if (group.rank() == turn && pointer == nullptr) {
                    pointer = Allocator::malloc(bytes);
                }
                group.sync();
            }
        }
        return pointer;
    }
};

}  // namespace outboard
