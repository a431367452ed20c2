// BitmapAlloc, the baseline of Springer 2019: objects of all types in one large array, whose places are each as large as the largest
// type, and a hierarchical bitmap of the free ones (bitmap.cuh). A thread claims a place for itself; the paper says of no
// coalescing of requests here.
//
// Deviation: the paper's has a bitmap of each type's objects for do-alls. Here, objects have an array of pointers beside them, as
// those of each other allocator (stores.cuh): the paper leaves the time of do-alls' lists out of comparisons, too.
#pragma once

#include "outboard/bitmap.cuh"
#include "outboard/heap.cuh"

// The control block. BitmapStorage writes it.
struct Places {
    outboard::u64 memory;
    outboard::u32 units;  // of 16 bytes, of a place
    outboard::u32 count;
    outboard::u32 tops;   // words at the top of the bitmap
    outboard::u32 unused;
    outboard::detail::Bitmap<3> free;
};

class BitmapAlloc {
    static constexpr outboard::u32 UNIT = 16;
    static constexpr outboard::u32 WARP = 32;

    const Places* places;

  public:
    __device__ explicit BitmapAlloc(const outboard::Heap* control) : places(reinterpret_cast<const Places*>(control)) {}

    // Repeats as long as others were faster at what was found: so do the paper's. May get nothing though there is a place, if a thread
    // is about to turn over the bit of a word above it.
    __device__ void* malloc(size_t bytes) const {
        if (bytes > places->units * UNIT) {
            outboard::stop();
        }
        // Warps begin apart, their threads side by side.
        const outboard::u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
        const outboard::u32 first = outboard::scaled(thread / WARP * 0x9E3779B1u, places->count) & ~(outboard::detail::RADIX - 1);
        const outboard::u32 from = first + thread % WARP;
        while (true) {
            const outboard::u32 place = places->free.find(from, places->tops);
            if (place == outboard::detail::NO_BIT) {
                return nullptr;
            }
            if (places->free.take(place)) {
                return reinterpret_cast<void*>(places->memory + static_cast<outboard::u64>(place) * places->units * UNIT);
            }
        }
    }

    __device__ void free(void* block) const {
        // Pairs with the acquire of the next one who takes the place.
        outboard::releaseFence();
        const outboard::u64 offset = reinterpret_cast<outboard::u64>(block) - places->memory;
        places->free.set(static_cast<outboard::u32>(offset / UNIT) / places->units);
    }
};
