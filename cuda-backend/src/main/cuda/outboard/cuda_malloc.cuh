// CudaMalloc: CUDA's own malloc for kernels, as the baseline. Its heap is the driver's (cudaLimitMallocHeapSize).
#pragma once

#include "coalesced.cuh"
#include "heap.cuh"

namespace outboard {

struct CudaMalloc {
    static constexpr bool CAN_FREE = true;

    const Heap* heap;  // not used

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        return ::malloc(bytes);
    }

    OUTBOARD_DEVICE void free(void* pointer) {
        ::free(pointer);
    }
};

// One block of CUDA's for the requests of a warp. It can't be freed in parts, so it counts the parts in use, and goes
// with the last (Huang et al. 2013, section 5.1: the header of the block and of its compartments).
template <>
struct Coalesced<CudaMalloc> {
    static constexpr bool CAN_FREE = true;
    static constexpr u32 HEADER_BYTES = 16;
    static constexpr u32 LIMIT_BYTES = 32u << 10;

    const Heap* heap;  // not used

    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const Group group;
        // A part: its distance from the block, padded to 16 bytes, then the caller's.
        const u32 size = bytes == 0 || bytes > LIMIT_BYTES ? 0 : static_cast<u32>((bytes + 15) & ~15ull) + HEADER_BYTES;
        const u32 before = group.sumOfLowerRanks(size);
        const u32 total = group.fromLast(before + size);
        const u32 parts = group.fromLast(group.sumOfLowerRanks(size != 0) + (size != 0));
        unsigned char* block = nullptr;
        if (group.rank() == 0 && total != 0) {
            block = allocate(total, parts);
        }
        const u64 address = reinterpret_cast<u64>(block);
        const u64 upper = group.fromFirst(static_cast<u32>(address >> 32));
        block = reinterpret_cast<unsigned char*>(upper << 32 | group.fromFirst(static_cast<u32>(address)));
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
            ::free(block);
        }
    }

  private:
    static OUTBOARD_DEVICE unsigned char* allocate(size_t bytes, u32 parts) {
        unsigned char* const block = static_cast<unsigned char*>(::malloc(bytes + HEADER_BYTES));
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
