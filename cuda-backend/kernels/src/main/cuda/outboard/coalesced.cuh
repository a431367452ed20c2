// Requests of the threads of one warp, served by one (allocation coalescing: Huang et al. 2013, section 5.1). There the
// memory comes back when the last of the threads frees its part, as with CountedParts; else here each part is a chunk of its own.
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

// A bump pointer that serves each thread by an atomic of its own, as Vinkler and Havran 2014 have it (algorithms 1 and 2), where
// ours always joins the requests of a warp: for comparison.
template <class Bump>
struct Uncoalesced : Bump {
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        this->heap->requireLayout(LAYOUT_BUMP);
        const u32 units = this->heap->unitsFor(bytes);
        const u32 unit = units == 0 ? NO_UNIT : this->take(units).unit;
        return unit == NO_UNIT ? nullptr : this->heap->address(unit);
    }
};

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
//
//     | parts | header | caller's ... | header | caller's ... |
//     0       8        16
//
// Headers have 8 bytes, as in the paper. What callers get is aligned to 16, so parts are rounded up to 16 with their headers,
// where the paper has 8.
//
// A thread that asks alone, or for more than LIMIT_BYTES (the paper gives no number), has a block of its own, which needs no
// count. Where a block for all isn't found, each thread asks for one of its own, too; in the paper all get nothing.
template <class Allocator>
struct CountedParts {
    static constexpr bool CAN_FREE = true;
    static constexpr u32 HEADER_BYTES = 8;
    static constexpr u32 ALIGNMENT = 16;
    static constexpr u32 LIMIT_BYTES = 32u << 10;

    Allocator allocator;

    OUTBOARD_DEVICE const void* shared() const {
        return allocator.shared();
    }

    // So many bytes, aligned to 16; nullptr for 0 bytes, or if there are none.
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const Group group(shared());
        if (group.size() > 1) {
            const bool joins = bytes != 0 && bytes <= LIMIT_BYTES;
            const u32 size = joins ? (static_cast<u32>(bytes) + HEADER_BYTES + ALIGNMENT - 1) & ~(ALIGNMENT - 1) : 0;
            const u32 parts = countOf(group.lanesWhere(joins));
            const u32 before = group.sumOfLowerRanks(size);
            const u32 total = group.fromLast(before + size);
            unsigned char* block = nullptr;
            if (group.rank() == 0 && parts > 1) {
                block = static_cast<unsigned char*>(allocator.malloc(HEADER_BYTES + total));
                if (block != nullptr) {
                    *reinterpret_cast<u32*>(block) = parts;
                }
            }
            block = detail::fromFirst(group, block);
            group.sync();  // the number of parts is written before one is freed
            if (block != nullptr && joins) {
                return part(block, 2 * HEADER_BYTES + before, 2 * HEADER_BYTES + before);
            }
        }
        if (bytes == 0 || bytes > ~static_cast<size_t>(0) - 4 * ALIGNMENT) {
            return nullptr;
        }
        unsigned char* const block = static_cast<unsigned char*>(allocator.malloc(2 * HEADER_BYTES + bytes));
        return block == nullptr ? nullptr : part(block, 2 * HEADER_BYTES, ALONE);
    }

    OUTBOARD_DEVICE void free(void* pointer) {
        if (pointer == nullptr) {
            return;
        }
        unsigned char* const caller = static_cast<unsigned char*>(pointer);
        const u32 distance = *reinterpret_cast<const u32*>(caller - HEADER_BYTES);
        if (distance == ALONE) {
            allocator.free(caller - 2 * HEADER_BYTES);
            return;
        }
        unsigned char* const block = caller - distance;
        // Release what this thread did with its part, acquire what the others did: the last one frees all.
        if (Atomic<u32>(*reinterpret_cast<u32*>(block)).fetch_sub(1, ACQ_REL) == 1) {
            allocator.free(block);
        }
    }

  private:
    // In a header, in place of the distance from the block's begin: the block isn't shared.
    static constexpr u32 ALONE = 0;

    static OUTBOARD_DEVICE void* part(unsigned char* block, u32 distance, u32 header) {
        *reinterpret_cast<u32*>(block + distance - HEADER_BYTES) = header;
        return block + distance;
    }
};

}  // namespace outboard
