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
    const Group group(allocator.shared());
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

// An allocator that takes one chunk for all threads of a warp that allocate together from the same heap. Those of large
// requests go alone, since a chunk for all of them is hard to find, and all do where none is found soon.
template <class Allocator>
struct Coalesced : Allocator {
    static constexpr u32 LIMIT_UNITS = (32u << 10) / UNIT_BYTES;
    static constexpr u32 LOOKS = 4;

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        this->requireLayout();
        const Group group(this->shared());
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

// One block for the requests of a warp, of an allocator whose blocks can't be freed in parts: it counts the parts in use, and
// goes with the last (Huang et al. 2013, section 5.1: the header of the block and of its compartments).
template <class Allocator>
struct CountedParts {
    static constexpr bool CAN_FREE = true;
    static constexpr u32 HEADER_BYTES = 16;
    static constexpr u32 LIMIT_BYTES = 32u << 10;

    Allocator allocator;

    OUTBOARD_DEVICE const void* shared() const {
        return allocator.shared();
    }

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const Group group(shared());
        // A part: its distance from the block, padded to 16 bytes, then the caller's.
        const u32 size = bytes == 0 || bytes > LIMIT_BYTES ? 0 : static_cast<u32>((bytes + 15) & ~15ull) + HEADER_BYTES;
        const u32 before = group.sumOfLowerRanks(size);
        const u32 total = group.fromLast(before + size);
        const u32 parts = group.fromLast(group.sumOfLowerRanks(size != 0) + (size != 0));
        unsigned char* block = nullptr;
        if (group.rank() == 0 && total != 0) {
            block = allocate(total, parts);
        }
        block = detail::fromFirst(group, block);
        group.sync();  // the number of parts is written before one is freed
        if (block != nullptr && size != 0) {
            return part(block, HEADER_BYTES + before);
        }
        block = bytes == 0 || bytes > ~0ull - 4 * HEADER_BYTES ? nullptr : allocate(bytes + HEADER_BYTES, 1);
        return block == nullptr ? nullptr : part(block, HEADER_BYTES);
    }

    OUTBOARD_DEVICE void free(void* pointer) {
        if (pointer == nullptr) {
            return;
        }
        unsigned char* const header = static_cast<unsigned char*>(pointer) - HEADER_BYTES;
        unsigned char* const block = header - *reinterpret_cast<u32*>(header);
        // Release what this thread did with its part, acquire what the others did: the last one frees all.
        if (Atomic<u32>(*reinterpret_cast<u32*>(block)).fetch_sub(1, ACQ_REL) == 1) {
            allocator.free(block);
        }
    }

  private:
    OUTBOARD_DEVICE unsigned char* allocate(size_t bytes, u32 parts) {
        unsigned char* const block = static_cast<unsigned char*>(allocator.malloc(bytes + HEADER_BYTES));
        if (block != nullptr) {
            *reinterpret_cast<u32*>(block) = parts;
        }
        return block;
    }

    static OUTBOARD_DEVICE void* part(unsigned char* block, u32 distance) {
        *reinterpret_cast<u32*>(block + distance) = distance;
        return block + distance + HEADER_BYTES;
    }
};

}  // namespace outboard
