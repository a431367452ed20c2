// The in-kernel heap: a range of device memory that kernels divide among their threads.
//
//     memory                                                                              memory + bytes
//     | control block | counters | start offsets | levels 0..top | ends | (start bits) | (slack) | area  |
//
// unit        16 bytes of the area: what chunks are made of.
// chunk       one or more units in a row: free, or used by a caller, or claimed for a moment by a thread that divides
//             or joins it. Chunks cover the whole area. There are no headers: all that is known about a chunk stands in
//             the tables before the area, so that nothing a caller writes can be taken for it (Vinkler and Havran 2014
//             keep headers in the chunks, and a thread that walks them may hold one that is a user's data by now).
// word        32 units. Table "ends" holds, for each word, the unit after the last chunk that starts in the word, if
//             that chunk leaves the word; the ends of all others are the next start in the word. One chunk at most
//             leaves a word, so its owner alone writes the entry.
// level 0     for each word 64 bits, two for each unit; what they say is up to the allocator (state.cuh), but the low
//             half is always: "a chunk starts here that is free, or claimed at this moment": an open chunk.
// level k     for each 32 words of level k - 1 one word. Low half: which of them may have open chunks. High half: the
//             highest bit, EMPTIED, and a count of the times that one was opened whose bit was set, by which who
//             clears the bit sees that he came too late.
// start       where a search begins (memOffset in the paper): one for all, or some a multiprocessor. Only a hint.
#pragma once

#include "platform.cuh"

namespace outboard {

constexpr u32 UNIT_LOG2 = 4;
constexpr u32 UNIT_BYTES = 1u << UNIT_LOG2;
constexpr u32 WORD_LOG2 = 5;
constexpr u32 WORD_UNITS = 1u << WORD_LOG2;
constexpr u32 NO_UNIT = ~0u;

constexpr u32 FLAG_START_BITS = 1;
constexpr u32 FLAG_TRACK = 2;
constexpr u32 FLAG_BUMP = 4;
constexpr u32 FLAG_FREE_BITS = 8;

// How a heap is laid out, and so which allocators it serves: an allocator stops when it is given another's heap.
constexpr u32 LAYOUT_BUMP = 0xB0B0;
constexpr u32 LAYOUT_SEPARATE = 0xC0C0;
constexpr u32 LAYOUT_FUSED = 0xCFCF;
constexpr u32 LAYOUT_BITS = 0xB175;
constexpr u32 LAYOUT_BITS_CHECKED = 0xB1CC;
constexpr u32 LAYOUT_XMALLOC = 0xA110;

// In a word of level 1 or above: it became empty, and since then nobody has set a bit in it knowing that. Who sets one
// tells the next level himself, whatever he finds there.
constexpr u64 EMPTIED = 1ull << 63;

// With so many the threads and warps of a multiprocessor seldom meet; the paper has one.
constexpr u32 STARTS_PER_MULTIPROCESSOR = 32;

// Starts lie 32 bytes apart: one sector of the L2 cache each.
constexpr u32 START_STRIDE = 8;

// A chunk that the calling thread owns: from its first unit to the unit after its last. NO_UNIT: none.
struct Chunk {
    u32 unit;
    u32 end;
};

// What kernels count. By the last three a search knows whether it may have missed an open chunk (levels.cuh).
struct alignas(32) Counters {
    u64 bump;          // AtomicMalloc, AWMalloc: units handed out
    u64 misuses;       // frees refused: a second one, or of what is no chunk
    u32 updatesBegun;  // changes of level 2 and above, and clearings
    u32 updatesDone;
    u64 joins;         // of chunks, each counted between the claim of its first one and the end of any other
};

// BitMalloc: what a warp's place on a multiprocessor remembers, so that its warps claim where no other does. One sector
// of the L2 cache.
struct alignas(32) Slot {
    u32 word[2];              // its own words of levels 0 and 1, where it looks first; only exchanged
    u32 granule;              // of level 2, the one that it took last
    unsigned short place[2];  // guesses, in units: where the next free one is in its own words
    u32 unused[4];
};

// BitMalloc: how often memory has become free on some of the multiprocessors (bit_hopeless.cuh). One sector, too.
struct alignas(32) Frees {
    u64 frees;
    u64 rests;  // of what was claimed
    u64 unused[2];
};

// BitMalloc: where its tables are (bit_levels.cuh).
struct BitTables {
    u64* free[3];
    u64* hints[3];
    u64* own[2];
    u64* ends;
    u64* claims;
    u64* starts;  // null unless the heap is for the checked build
    unsigned char* wholes;
    Slot* slots;
    Frees* frees;
    u64* hopeless;  // what isn't there
    u32 words[3];  // of each level
    u32 slotCount;
    u32 multiprocessors;
    u32 unused;
};

// The control block: where everything is. It never changes while the heap lives, so kernels take it by value, as a
// `const __grid_constant__ Heap` parameter, and read it from constant memory; a pointer to it in the heap serves too.
struct alignas(32) Heap {
    u64* level[7];
    unsigned char* area;  // XMalloc: its queues
    u32* ends;
    u32* startBits;
    u32* slack;
    u32* starts;
    Counters* counters;
    u64 bytes;
    u32 units;
    u32 words;
    u32 top;
    u32 startCount;
    u32 maxFragmentation;  // times 256
    u32 flags;
    u32 layout;
    u32 unused;
    BitTables bits;

    // Units for a request, or 0 if it is for nothing or for more than the heap has.
    OUTBOARD_DEVICE u32 unitsFor(size_t requested) const {
        return requested > static_cast<u64>(units) * UNIT_BYTES
                ? 0
                : static_cast<u32>((requested + UNIT_BYTES - 1) >> UNIT_LOG2);
    }

    OUTBOARD_DEVICE void* address(u32 unit) const {
        return area + (static_cast<u64>(unit) << UNIT_LOG2);
    }

    // The unit at which a chunk with this address would start, or NO_UNIT if there can be none.
    OUTBOARD_DEVICE u32 unitAt(const void* pointer) const {
        const u64 offset = static_cast<u64>(static_cast<const unsigned char*>(pointer) - area);
        return (offset & (UNIT_BYTES - 1)) != 0 || (offset >> UNIT_LOG2) >= units
                ? NO_UNIT
                : static_cast<u32>(offset >> UNIT_LOG2);
    }

    // Ends the kernel, and its CUDA context with an error, if the heap was made for an allocator with another layout.
    OUTBOARD_DEVICE void requireLayout(u32 wanted) const {
        if (layout != wanted) {
            stop();
        }
    }

    OUTBOARD_DEVICE void countMisuse() const {
        Atomic<u64>(counters->misuses).fetch_add(1, RELAXED);
    }
};

static_assert(sizeof(Heap) == 288, "the host copies the control block");

OUTBOARD_DEVICE u32 wordOf(u32 unit) {
    return unit >> WORD_LOG2;
}

OUTBOARD_DEVICE u32 bitOf(u32 unit) {
    return 1u << (unit & (WORD_UNITS - 1));
}

// The bits of a unit and of those after it in its word.
OUTBOARD_DEVICE u32 bitsFrom(u32 unit) {
    return ~0u << (unit & (WORD_UNITS - 1));
}

OUTBOARD_DEVICE u32 low(u64 word) {
    return static_cast<u32>(word);
}

OUTBOARD_DEVICE u32 high(u64 word) {
    return static_cast<u32>(word >> 32);
}

}  // namespace outboard
