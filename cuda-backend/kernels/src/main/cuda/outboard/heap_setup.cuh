// Making a heap: its layout, its tables, and the chunks that it is divided into at first (pre-splitting).
#pragma once

#include "bit_levels.cuh"
#include "heap.cuh"

namespace outboard {

constexpr u32 SPLIT_NONE = 0;
constexpr u32 SPLIT_BINARY_HEAP = 1;
constexpr u32 SPLIT_UNIFORM = 2;

constexpr u64 AREA_ALIGNMENT = 512;

// A table's place while the memory is dealt out from the front.
struct Dealer {
    unsigned char* next;

    template <class T>
    OUTBOARD_DEVICE T* table(u64 length) {
        T* const table = reinterpret_cast<T*>(next);
        next += (length * sizeof(T) + 15) & ~15ull;
        return table;
    }
};

// Places the tables for a number of words; the area after them starts at the address returned.
OUTBOARD_DEVICE u64 place(Heap* heap, u32 words) {
    Dealer dealer{reinterpret_cast<unsigned char*>(heap + 1)};
    heap->counters = dealer.table<Counters>(1);
    heap->starts = dealer.table<u32>(static_cast<u64>(heap->startCount) * START_STRIDE);
    // One word more than needed on each level: a search that leaves the last word lands there.
    u32 entries = words;
    heap->top = 0;
    while (true) {
        heap->level[heap->top] = dealer.table<u64>(entries + 1);
        if (entries == 1 && heap->top > 0) {
            break;
        }
        entries = (entries >> WORD_LOG2) + 1;
        ++heap->top;
    }
    heap->ends = dealer.table<u32>(words);
    heap->startBits = (heap->flags & FLAG_START_BITS) != 0 ? dealer.table<u32>(words) : nullptr;
    heap->slack = (heap->flags & FLAG_TRACK) != 0 ? dealer.table<u32>(static_cast<u64>(words) * WORD_UNITS) : nullptr;
    return (reinterpret_cast<u64>(dealer.next) + AREA_ALIGNMENT - 1) & ~(AREA_ALIGNMENT - 1);
}

// The same for BitMalloc's tables, for a number of words of level 0.
OUTBOARD_DEVICE u64 placeBits(Heap* heap, u32 words) {
    BitTables& bits = heap->bits;
    Dealer dealer{reinterpret_cast<unsigned char*>(heap + 1)};
    heap->counters = dealer.table<Counters>(1);
    bits.hopeless = dealer.table<u64>(4);
    bits.frees = dealer.table<Frees>(detail::FREE_COUNTERS);
    bits.slots = dealer.table<Slot>(bits.slotCount);
    bits.words[0] = words;
    bits.words[1] = detail::ceilingOf(words, detail::RADIX_LOG2);
    const u32 granules = words >> detail::RADIX_LOG2;
    bits.words[2] = granules == 0 ? 1 : detail::ceilingOf(granules, detail::RADIX_LOG2);
    // A word more on each level, which a slot without one takes for its own. What a word of level 1 covers is all there.
    const u64 levels[] = {static_cast<u64>(bits.words[1]) * detail::RADIX, bits.words[1], bits.words[2]};
    for (u32 level = 0; level <= detail::TOP_LEVEL; ++level) {
        bits.free[level] = dealer.table<u64>(levels[level] + 1);
        bits.hints[level] = dealer.table<u64>((levels[level] >> detail::RADIX_LOG2) + 1);
        if (level < detail::TOP_LEVEL) {
            bits.own[level] = dealer.table<u64>((levels[level] >> detail::RADIX_LOG2) + 1);
        }
    }
    bits.claims = dealer.table<u64>(bits.words[2]);
    // A word more, as free reads two.
    bits.ends = dealer.table<u64>(words + 1ull);
    bits.wholes = dealer.table<unsigned char>(words + 1ull);
    bits.starts = (heap->flags & FLAG_START_BITS) != 0 ? dealer.table<u64>(words) : nullptr;
    heap->slack = (heap->flags & FLAG_TRACK) != 0 ? dealer.table<u32>(static_cast<u64>(words) * detail::RADIX) : nullptr;
    return (reinterpret_cast<u64>(dealer.next) + AREA_ALIGNMENT - 1) & ~(AREA_ALIGNMENT - 1);
}

// A slot keeps a granule of level 2 to itself, so there are no more than for a part of the heap.
constexpr u64 BYTES_PER_SLOT = 256 << 10;

OUTBOARD_DEVICE void formatBits(Heap* heap, u64 bytes, u32 multiprocessors) {
    BitTables& bits = heap->bits;
    heap->layout = (heap->flags & FLAG_START_BITS) != 0 ? LAYOUT_BITS_CHECKED : LAYOUT_BITS;
    bits.multiprocessors = multiprocessors == 0 ? 1 : multiprocessors;
    const u64 slots = static_cast<u64>(bits.multiprocessors) * detail::SLOTS_PER_MULTIPROCESSOR;
    const u64 mostSlots = bytes / BYTES_PER_SLOT;
    bits.slotCount = static_cast<u32>(slots <= mostSlots ? slots : mostSlots == 0 ? 1 : mostSlots);
    const u64 end = reinterpret_cast<u64>(heap) + bytes;
    const u64 wordBytes = detail::RADIX * UNIT_BYTES;
    u64 words = bytes / wordBytes;
    // As many words as fit together with their tables; each step takes away what is too much, counted without tables.
    while (true) {
        heap->area = reinterpret_cast<unsigned char*>(placeBits(heap, static_cast<u32>(words)));
        const u64 needed = reinterpret_cast<u64>(heap->area) + words * wordBytes;
        if (needed <= end) {
            break;
        }
        words -= (needed - end + 2 * wordBytes - 1) / (2 * wordBytes);
    }
    heap->words = static_cast<u32>(words);
    heap->units = static_cast<u32>(words * detail::RADIX);
}

// A start offset for so many bytes of the heap at least.
constexpr u64 BYTES_PER_START = 128 << 10;

// With fewer bytes there may be no room beside the tables.
constexpr u64 LEAST_HEAP_BYTES = 4 << 10;
// The units of more can't be counted in 32 bits.
constexpr u64 MOST_HEAP_BYTES = 64ull << 30;

// Writes the control block of a heap of 4 KiB to 64 GiB. One thread. For allocators with start offsets for each
// multiprocessor their number, else 0. False, and nothing is written, if a heap can't have so many bytes.
[[nodiscard]] OUTBOARD_DEVICE bool format(Heap* heap, u64 bytes, u32 multiprocessors, u32 maxFragmentation, u32 flags) {
    if (bytes < LEAST_HEAP_BYTES || bytes > MOST_HEAP_BYTES) {
        return false;
    }
    heap->bytes = bytes;
    const u32 starts = multiprocessors == 0 ? 1 : multiprocessors * STARTS_PER_MULTIPROCESSOR;
    const u64 mostStarts = bytes / BYTES_PER_START;
    heap->startCount = starts <= mostStarts ? starts : mostStarts == 0 ? 1 : static_cast<u32>(mostStarts);
    heap->maxFragmentation = maxFragmentation;
    heap->flags = flags;
    if ((flags & FLAG_FREE_BITS) != 0) {
        formatBits(heap, bytes, multiprocessors);
        return true;
    }
    heap->layout = (flags & FLAG_BUMP) != 0 ? LAYOUT_BUMP : (flags & FLAG_START_BITS) != 0 ? LAYOUT_SEPARATE : LAYOUT_FUSED;
    const u64 end = reinterpret_cast<u64>(heap) + bytes;
    if ((flags & FLAG_BUMP) != 0) {
        heap->counters = reinterpret_cast<Counters*>(heap + 1);
        heap->area = reinterpret_cast<unsigned char*>(heap->counters + 1);
        heap->words = 0;
        heap->units = static_cast<u32>((end - reinterpret_cast<u64>(heap->area)) >> UNIT_LOG2);
        return true;
    }
    const u64 wordBytes = WORD_UNITS * UNIT_BYTES;
    u64 words = bytes / wordBytes;
    // As many words as fit together with their tables; each step takes away what is too much, counted without tables.
    while (true) {
        heap->area = reinterpret_cast<unsigned char*>(place(heap, static_cast<u32>(words)));
        const u64 needed = reinterpret_cast<u64>(heap->area) + words * wordBytes;
        if (needed <= end) {
            break;
        }
        words -= (needed - end + 2 * wordBytes - 1) / (2 * wordBytes);
    }
    heap->words = static_cast<u32>(words);
    // The last unit is kept: a chunk that is never free starts there, so that the one before it has an end.
    heap->units = static_cast<u32>(words * WORD_UNITS - 1);
    return true;
}

// Zeroes the tables. Thread `index` of `count`.
OUTBOARD_DEVICE void clearTables(Heap* heap, u64 index, u64 count) {
    u32* const first = reinterpret_cast<u32*>(heap->counters);
    const u64 length = static_cast<u64>(reinterpret_cast<u32*>(heap->area) - first);
    for (u64 i = index; i < length; i += count) {
        first[i] = 0;
    }
}

// The chunks of a fresh heap, by number.
//
// Binary heap, equation 1 of Vinkler and Havran 2014: 2^k chunks of root / 2^k units for k = 0, 1, ..., down to the
// smallest, and what is left as one more. One such heap for each start offset. The root is a power of two, where the
// paper takes the largest that fits: chunks of round sizes are divided without rest by requests of round sizes.
struct PreSplit {
    u32 main;         // units without the large chunk at the end
    u32 regions;
    u32 regionUnits;  // of each region but the last, which has what is left
    u32 chunkUnits;   // uniform
    u32 root;
    u32 levels;
    u64 chunksPerRegion;
    u64 chunks;       // of all regions and the one at the end; some may be empty

    OUTBOARD_DEVICE PreSplit(const Heap* heap, u32 scheme, u64 chunkBytes, u64 endBytes) {
        const u64 endUnits = (endBytes + UNIT_BYTES - 1) >> UNIT_LOG2;
        main = endUnits >= heap->units ? 0 : heap->units - static_cast<u32>(endUnits);
        regions = scheme == SPLIT_BINARY_HEAP ? heap->startCount : 1;
        regionUnits = main / regions;
        if (regionUnits >= 4) {
            // Four to seven times a power of two, so that chunks of round sizes leave no gaps, which every search for a
            // larger one would come across. What remains is in the last region.
            regionUnits &= ~0u << (highestBit(regionUnits) - 2);
        }
        const u64 wanted = (chunkBytes + UNIT_BYTES - 1) >> UNIT_LOG2;
        chunkUnits = wanted > main ? main : static_cast<u32>(wanted);
        root = 0;
        levels = 0;
        chunksPerRegion = 1;
        if (scheme == SPLIT_UNIFORM && chunkUnits != 0) {
            chunksPerRegion = (main - 1) / chunkUnits + 1;
        } else if (scheme == SPLIT_BINARY_HEAP && chunkUnits != 0) {
            u64 smallest = 1;
            while (smallest < chunkUnits) {
                smallest *= 2;
            }
            u64 size = smallest;
            for (u32 number = 1; size * number <= regionUnits; ++number) {
                levels = number;
                root = static_cast<u32>(size);
                size *= 2;
            }
            chunksPerRegion = 1ull << levels;
        }
        chunks = chunksPerRegion * regions + 1;
    }

    // Where a chunk starts; that of number `chunks` is the heap's end.
    OUTBOARD_DEVICE u32 start(const Heap* heap, u64 number) const {
        if (number >= chunks) {
            return heap->units;
        }
        if (number == chunks - 1) {
            return main;
        }
        const u64 region = number / chunksPerRegion;
        const u64 inRegion = number % chunksPerRegion;
        const u64 base = region * regionUnits;
        if (levels == 0) {
            return static_cast<u32>(base + inRegion * chunkUnits);
        }
        u32 level = 0;
        while ((2ull << level) <= inRegion + 1) {
            ++level;
        }
        return static_cast<u32>(base + static_cast<u64>(level) * root
                + (inRegion + 1 - (1ull << level)) * (root >> level));
    }
};

// Makes all of it free, and gives each slot one of the lower granules to begin with. After clearTables.
OUTBOARD_DEVICE void freeAllBits(Heap* heap, u64 index, u64 count) {
    BitTables& bits = heap->bits;
    const u32 granules = bits.words[0] >> detail::RADIX_LOG2;
    for (u64 word = index; word < bits.words[2]; word += count) {
        const u64 before = word << detail::RADIX_LOG2;
        const u32 left = before >= granules ? 0 : granules - static_cast<u32>(before);
        if (left != 0) {
            bits.free[2][word] = detail::lowBits(left);
            Atomic<u64>(bits.hints[2][word >> detail::RADIX_LOG2])
                    .fetch_or(detail::bit64(static_cast<u32>(word)), RELAXED);
        }
    }
    const u32 rest = bits.words[0] & (detail::RADIX - 1);
    if (index == 0 && rest != 0) {
        bits.free[1][granules] = detail::lowBits(rest);
        Atomic<u64>(bits.hints[1][granules >> detail::RADIX_LOG2]).fetch_or(detail::bit64(granules), RELAXED);
    }
    const u32 lower = detail::least(granules, detail::lowerWords(heap) << detail::RADIX_LOG2);
    for (u64 slot = index; slot < bits.slotCount; slot += count) {
        bits.slots[slot].word[0] = bits.words[1] << detail::RADIX_LOG2;
        bits.slots[slot].word[1] = bits.words[1];
        // By the golden ratio (Knuth, section 6.4): as far apart as so many slots can be, more or less. It is a guess: two may
        // have the same.
        bits.slots[slot].granule = scaled(static_cast<u32>(slot) * 0x9E3779B9u, lower);
    }
}

// Makes the first chunks, and the start offsets, one to a region. Thread `index` of `count`, after clearTables.
OUTBOARD_DEVICE void preSplit(Heap* heap, u32 scheme, u64 chunkBytes, u64 endBytes, u64 index, u64 count) {
    if ((heap->flags & FLAG_FREE_BITS) != 0) {
        freeAllBits(heap, index, count);
        return;
    }
    if (heap->words == 0) {
        return;
    }
    const PreSplit split(heap, scheme, chunkBytes, endBytes);
    const bool startBits = heap->startBits != nullptr;
    for (u64 i = index; i <= split.chunks; i += count) {
        const u32 unit = split.start(heap, i);
        const u32 word = wordOf(unit);
        const u32 end = split.start(heap, i + 1);
        const bool sentinel = i == split.chunks;
        if (unit == end && !sentinel) {
            continue;
        }
        if (startBits) {
            Atomic<u32>(heap->startBits[word]).fetch_or(bitOf(unit), RELAXED);
        }
        if (sentinel) {
            if (!startBits) {
                Atomic<u64>(heap->level[0][word]).fetch_or(static_cast<u64>(bitOf(unit)) << 32, RELAXED);
            }
            continue;
        }
        Atomic<u64>(heap->level[0][word]).fetch_or((static_cast<u64>(bitOf(unit)) << 32) | bitOf(unit), RELAXED);
        if (wordOf(end) != word) {
            heap->ends[word] = end;
        }
        if (wordOf(end) > word + 1) {
            heap->ends[wordOf(end) - 1] = unit;  // for a doubly linked list, see circular_malloc.cuh
        }
        u32 entry = word;
        for (u32 level = 1; level <= heap->top; ++level) {
            Atomic<u64>(heap->level[level][wordOf(entry)]).fetch_or(bitOf(entry), RELAXED);
            entry >>= WORD_LOG2;
        }
    }
    const u32 apart = split.regions == heap->startCount ? split.regionUnits : heap->units / heap->startCount;
    for (u64 i = index; i < heap->startCount; i += count) {
        heap->starts[i * START_STRIDE] = static_cast<u32>(i * apart);
    }
}

}  // namespace outboard
