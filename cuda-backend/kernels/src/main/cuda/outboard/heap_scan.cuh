// A heap in numbers, found by reading its tables while no kernel uses it: segments by many threads, then their sum.
#pragma once

#include <string.h>

#include "bit_malloc.cuh"
#include "heap.cuh"

namespace outboard {

// What a part of the words holds. A row is a number of free chunks one after another: what malloc can join.
struct alignas(64) Segment {
    double slack;  // sum of slack / size
    u64 usedUnits;
    u64 freeUnits;
    u32 usedChunks;
    u32 freeChunks;
    u32 largestChunk;
    u32 largestRow;  // of those that start and end in the segment
    u32 firstRow;    // the free chunks before the first used one
    u32 lastRow;     // the free chunks after the last used one
};

OUTBOARD_DEVICE u32 larger(u32 a, u32 b) {
    return a > b ? a : b;
}

OUTBOARD_DEVICE void scanChunk(const Heap* heap, Segment& segment, u32 unit, u32 size, bool free) {
    if (free) {
        ++segment.freeChunks;
        segment.freeUnits += size;
        segment.largestChunk = larger(segment.largestChunk, size);
        segment.lastRow += size;
        return;
    }
    if (segment.usedChunks == 0) {
        segment.firstRow = segment.lastRow;
    }
    segment.largestRow = larger(segment.largestRow, segment.lastRow);
    segment.lastRow = 0;
    ++segment.usedChunks;
    segment.usedUnits += size;
    if (heap->slack != nullptr) {
        segment.slack += static_cast<double>(heap->slack[unit]) / (static_cast<double>(size) * UNIT_BYTES);
    }
}

// BitMalloc: whether a block may begin at a granule's first unit: where a claim does, or where it is free on level 2.
OUTBOARD_DEVICE bool beginsClaim(const Heap* heap, u32 granule) {
    const BitTables& bits = heap->bits;
    const u32 granules = bits.words[0] >> detail::RADIX_LOG2;
    return granule >= granules
            || ((bits.free[2][granule >> detail::RADIX_LOG2] | bits.claims[granule >> detail::RADIX_LOG2])
                & detail::bit64(granule))
            != 0;
}

// BitMalloc: the end of the free units at this one that stand on one level, or the unit itself if it is used.
OUTBOARD_DEVICE u32 endOfFreeBits(const Heap* heap, u32 unit) {
    const BitTables& bits = heap->bits;
    const u32 word = unit >> detail::RADIX_LOG2;
    const u32 granule = word >> detail::RADIX_LOG2;
    if ((bits.free[2][granule >> detail::RADIX_LOG2] & detail::bit64(granule)) != 0) {
        return (granule + 1) << (2 * detail::RADIX_LOG2);
    }
    if ((bits.free[1][granule] & detail::bit64(word)) != 0) {
        return (word + 1) << detail::RADIX_LOG2;
    }
    const u64 used = ~bits.free[0][word] & detail::highBits(unit);
    return used == 0 ? (word + 1) << detail::RADIX_LOG2 : (word << detail::RADIX_LOG2) + lowestBit(used);
}

// BitMalloc: from the first claim of a thread's granules to the first one of the next thread's.
OUTBOARD_DEVICE void scanBits(const Heap* heap, Segment& segment, u32 index, u32 count) {
    const u32 granules = heap->bits.words[1];
    const u32 length = granules / count + 1;
    const u64 first = static_cast<u64>(index) * length;
    u64 granule = first;
    while (granule < granules && granule < first + length && !beginsClaim(heap, static_cast<u32>(granule))) {
        ++granule;
    }
    if (granule >= first + length) {
        return;
    }
    u64 end = first + length;
    while (end < granules && !beginsClaim(heap, static_cast<u32>(end))) {
        ++end;
    }
    u32 unit = static_cast<u32>(granule) << (2 * detail::RADIX_LOG2);
    const u64 endUnit = end << (2 * detail::RADIX_LOG2);
    while (unit < heap->units && unit < endUnit) {
        const u32 endOfFree = endOfFreeBits(heap, unit);
        const u32 next = endOfFree != unit ? endOfFree : detail::endOfBlock(heap, unit);
        if (next <= unit) {
            break;  // not a heap as it should be: what is missing shows
        }
        scanChunk(heap, segment, unit, next - unit, endOfFree != unit);
        unit = next;
    }
}

// Thread `index` of `count` reads its part of the words.
OUTBOARD_DEVICE void scanSegment(const Heap* heap, Segment* segments, u32 index, u32 count) {
    Segment segment = {};
    if ((heap->flags & FLAG_FREE_BITS) != 0) {
        scanBits(heap, segment, index, count);
        segments[index] = segment;
        return;
    }
    const u32 length = heap->words / count + 1;
    const u64 from = static_cast<u64>(index) * length;
    for (u64 word = from; word < from + length && word < heap->words; ++word) {
        const u64 state = heap->level[0][word];
        u32 starts = heap->startBits != nullptr ? heap->startBits[word] : low(state) | high(state);
        while (starts != 0) {
            const u32 bit = lowestBit(starts);
            starts &= starts - 1;
            const u32 unit = static_cast<u32>(word << WORD_LOG2) + bit;
            if (unit == heap->units) {
                break;
            }
            const u32 end =
                    starts != 0 ? static_cast<u32>(word << WORD_LOG2) + lowestBit(starts) : heap->ends[word];
            scanChunk(heap, segment, unit, end - unit, (low(state) >> bit & 1) != 0);
        }
    }
    segments[index] = segment;
}

constexpr u32 STATISTICS = 10;

// Adds the segments up. One thread.
OUTBOARD_DEVICE void summarise(const Heap* heap, const Segment* segments, u32 count, u64* statistics) {
    u64 usedUnits = 0, freeUnits = 0, usedChunks = 0, freeChunks = 0, row = 0, largestRow = 0;
    u32 largestChunk = 0;
    double slack = 0;
    for (u32 i = 0; i < count; ++i) {
        const Segment& segment = segments[i];
        slack += segment.slack;
        usedUnits += segment.usedUnits;
        freeUnits += segment.freeUnits;
        usedChunks += segment.usedChunks;
        freeChunks += segment.freeChunks;
        largestChunk = larger(largestChunk, segment.largestChunk);
        if (segment.usedChunks != 0) {
            row += segment.firstRow;
            largestRow = row > largestRow ? row : largestRow;
            largestRow = segment.largestRow > largestRow ? segment.largestRow : largestRow;
            row = 0;
        }
        row += segment.lastRow;
    }
    largestRow = row > largestRow ? row : largestRow;
    if ((heap->flags & FLAG_BUMP) != 0) {
        usedUnits = heap->counters->bump < heap->units ? heap->counters->bump : heap->units;
        freeUnits = heap->units - usedUnits;
        freeChunks = freeUnits != 0;
        largestRow = freeUnits;
        largestChunk = static_cast<u32>(freeUnits);
    }
    statistics[0] = (usedUnits + freeUnits) * UNIT_BYTES;
    statistics[1] = usedChunks;
    statistics[2] = usedUnits * UNIT_BYTES;
    statistics[3] = freeChunks;
    statistics[4] = freeUnits * UNIT_BYTES;
    statistics[5] = largestRow * UNIT_BYTES;
    statistics[6] = heap->counters->misuses;
    statistics[7] = heap->slack != nullptr ? usedChunks : 0;
    memcpy(&statistics[8], &slack, sizeof(slack));
    statistics[9] = static_cast<u64>(largestChunk) * UNIT_BYTES;
}

}  // namespace outboard
