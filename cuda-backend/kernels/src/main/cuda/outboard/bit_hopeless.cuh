// What BitMalloc's searches didn't find, so that others needn't look for it: as much, and how often memory had become free
// before (frees). Mostly as long as that stays the same.
#pragma once

#include "bit_levels.cuh"

namespace outboard::detail {

// What is noted: nothing for one thread, exactly; nothing for several; nothing for one, as far as was seen; and that a
// group is looking exactly, since one is enough.
constexpr u32 ALONE = 0;
constexpr u32 TOGETHER = 1;
constexpr u32 SUSPECTED = 2;
constexpr u32 LOOKED_FOR = 3;

// Of what is noted as hopeless, so many bits say what it is: a rank is at most 4096 + 2^20. The others are the sum of
// frees; the same comes again after 2^43.
constexpr u32 HOPELESS_BITS = 21;

// How often memory has become free, in the bits that `hopeless` has for that. Four counters at a time, since a GPU waits
// for a number when it adds it.
OUTBOARD_SELDOM inline u64 freesSoFar(const Heap* heap, u32 which) {
    u64 sum = 0;
    for (u32 i = 0; i < FREE_COUNTERS; i += 4) {
        u64 frees[4];
        u64 rests[4];
        for (u32 j = 0; j < 4; ++j) {
            frees[j] = GlobalAtomic<u64>(heap->bits.frees[i + j].frees).load();
            rests[j] = which == TOGETHER ? 0 : GlobalAtomic<u64>(heap->bits.frees[i + j].rests).load();
        }
        for (u32 j = 0; j < 4; ++j) {
            sum += frees[j] + rests[j];
        }
    }
    return sum << HOPELESS_BITS;
}

// A request as its place among all: those of the same place find the same. Units, or granules of level 2 above 64 KiB.
OUTBOARD_DEVICE u32 rankOf(u32 units) {
    return units <= GRANULE2_UNITS ? units : GRANULE2_UNITS + ceilingOf(units, 2 * RADIX_LOG2);
}

// What a search of a level costs is paid for by frees, so many words by each.
constexpr u32 PAID_WORDS = 32;

// Whether as much wasn't there when a search found none, and nothing has become free since: or not much, if it was for
// several threads together, who have still each to try alone. What claims leave of their granules doesn't matter for them.
OUTBOARD_DEVICE bool isHopeless(const Heap* heap, u32 units, u32 which) {
    const u64 noted = GlobalAtomic<u64>(heap->bits.hopeless[which]).load();
    const u32 rank = low(noted) & ((1u << HOPELESS_BITS) - 1);
    if (rank == 0 || rankOf(units) < rank) {
        return false;
    }
    // Pairs with the fence before it was noted: the sum isn't older than what was noted. Of LOOKED_FOR it may be, in part; then
    // a thread that has found nothing doesn't look once more.
    releaseFence();
    const u64 since = (freesSoFar(heap, which) - (noted - rank)) >> HOPELESS_BITS;
    return since <= (which == TOGETHER ? heap->bits.words[levelFor(units)] / PAID_WORDS : 0);
}

// Notes that a search found none, that had added up the frees before it began.
OUTBOARD_DEVICE void noteHopeless(const Heap* heap, u32 units, u32 which, u64 frees) {
    releaseFence();
    GlobalAtomic<u64>(heap->bits.hopeless[which]).store(frees | rankOf(units));
}

// Whether the caller is to look exactly for as much, with what has become free until now. Nobody needs to if another does, or
// has just done so; two may if they begin at once.
OUTBOARD_DEVICE bool beginLook(const Heap* heap, u32 units, u64 frees) {
    if (isHopeless(heap, units, ALONE) || isHopeless(heap, units, LOOKED_FOR)) {
        return false;
    }
    const GlobalAtomic<u64> looks(heap->bits.hopeless[LOOKED_FOR]);
    const u64 before = looks.load();
    return looks.compareAndSwap(before, frees | rankOf(units)) == before;
}

OUTBOARD_DEVICE void endLook(const Heap* heap, u32 units, u64 frees) {
    GlobalAtomic<u64>(heap->bits.hopeless[LOOKED_FOR]).compareAndSwap(frees | rankOf(units), 0);
}

}  // namespace outboard::detail
