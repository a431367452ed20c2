// BitMalloc: free memory in bitmaps on three levels, outside of what is handed out (bit_levels.cuh). The one to take, unless
// another is known to suit. Ours, after the hierarchical bitmaps of Springer 2019, section 3, and the requests of a warp
// served by one claim of Huang et al. 2013, section 5.1: one thread that comes alone is a group of one.
//
// malloc   1. The units that the warp's threads want are added up, and one thread claims as many in a row: of its slot's
//             own word of level 0 if they are less than 64, of level 1 if they are no more than 4096, else granules of
//             level 2. It claims unseen: the answer tells what was there.
//          2. Otherwise it divides a granule of the level above, and that word becomes the slot's own (bit_claims.cuh).
//          3. Otherwise all of the heap is searched (bit_search.cuh).
//          4. The ends of the blocks are written, and what is left of the last granule is given back.
// free     1. The end is read; threads whose blocks lie in a row free them as one range.
//          2. The range's bits are set, of the highest levels that it has whole granules of.
//
// Every call ends after a number of accesses that the heap's size limits, whatever other threads do; none waits for
// another. bit_search.cuh says how many, and what null means.
//
// 1.7 % of the heap are tables.
#pragma once

#include "bit_search.cuh"
#include "coalesced.cuh"

namespace outboard {

namespace detail {

// The threads' requests as one: what this thread wants, what those before it want, and all of them.
struct Share {
    u32 units;  // 0: nothing
    u32 before;
    u32 total;

    OUTBOARD_DEVICE Share(const Group& group, u32 wanted) : units(wanted) {
        const u32 first = group.fromFirst(wanted);
        if (group.all(wanted == first)) {
            before = group.rank() * wanted;
            total = group.size() * wanted;
        } else {
            before = group.sumOfLowerRanks(wanted);
            total = group.fromLast(before + wanted);
        }
    }
};

OUTBOARD_DEVICE GlobalAtomic<u64> endsOf(const Heap* heap, u32 word) {
    return GlobalAtomic<u64>(heap->bits.ends[word]);
}

OUTBOARD_DEVICE void setWhole(const Heap* heap, u32 word, u32 whole) {
    GlobalAtomic<unsigned char>(heap->bits.wholes[word]).store(static_cast<unsigned char>(whole));
}

OUTBOARD_DEVICE void clearEnds(const Heap* heap, u32 word) {
    endsOf(heap, word).store(0);
    setWhole(heap, word, 0);
}

// The same of a word that others have blocks in, before or after the claim.
OUTBOARD_DEVICE void clearShared(const Heap* heap, const Chunk& claim, u32 word) {
    if (word == NO_UNIT) {
        return;
    }
    const u64 from = word == claim.unit >> RADIX_LOG2 ? highBits(claim.unit) : ALL;
    const u64 to = word == claim.end >> RADIX_LOG2 ? lowBits(claim.end & (RADIX - 1)) : ALL;
    endsOf(heap, word).clearBits(from & to);
}

// The bits of all threads' ends in one word; for the first thread.
OUTBOARD_DEVICE u64 endsInWord(const Group& group, const Share& share, u32 end) {
    if (group.all(share.units * group.size() == share.total)) {
        // All want as much: every so many bits one.
        u64 bits = 1ull << (share.units - 1);
        for (u32 known = 1; known < group.size(); known *= 2) {
            bits |= bits << (known * share.units);
        }
        return (bits & lowBits(share.total)) << ((end - share.units) & (RADIX - 1));
    }
    const u64 own = end != 0 ? bit64(end - 1) : 0;
    return static_cast<u64>(group.unionOf(high(own))) << 32 | group.unionOf(low(own));
}

// Writes the ends of the threads' blocks in a claim. `end`: of this thread's block, 0 if it has none.
OUTBOARD_DEVICE void writeEnds(const Group& group, const Heap* heap, const Chunk& claim, const Share& share, u32 unit, u32 end) {
    const bool first = group.rank() == 0;
    if (share.total < RADIX && claim.unit >> RADIX_LOG2 == (claim.end - 1) >> RADIX_LOG2) {
        const u64 bits = endsInWord(group, share, end);
        if (first) {
            const GlobalAtomic<u64> ends = endsOf(heap, claim.unit >> RADIX_LOG2);
            ends.clearBits(lowBits(share.total) << (claim.unit & (RADIX - 1)));
            ends.setBits(bits);
        }
        return;
    }
    const u32 word = unit >> RADIX_LOG2;
    const u32 inner = ceilingOf(unit, RADIX_LOG2);  // the first word that is all this block's, if one is
    const bool whole = end != 0 && end >> RADIX_LOG2 > inner;
    if (whole) {
        endsOf(heap, inner).store(end);
        setWhole(heap, inner, 1);
    }
    const bool simple = end == 0 || (whole && word == inner);
    if (!group.any(!simple)) {
        return;
    }
    // Where the claim begins or ends within a word, others have the units before or after.
    const u32 shared = (claim.unit & (RADIX - 1)) != 0 ? claim.unit >> RADIX_LOG2 : NO_UNIT;
    const u32 sharedEnd = (claim.end & (RADIX - 1)) != 0 ? claim.end >> RADIX_LOG2 : NO_UNIT;
    const u32 key = end != 0 && !whole ? (end - 1) >> RADIX_LOG2 : NO_UNIT;
    u64 bits = bit64(end - 1);
    if (group.isFull() && group.all(end != 0)) {
        // The ends in a word are joined, and the last thread of those that have one there writes them.
        const u32 lane = group.lane();
        for (u32 distance = 1; distance < WARP_LANES; distance *= 2) {
            const u32 otherKey = group.fromDistance(key, distance);
            const u32 otherLow = group.fromDistance(low(bits), distance);
            const u32 otherHigh = group.fromDistance(high(bits), distance);
            bits |= lane >= distance && otherKey == key ? static_cast<u64>(otherHigh) << 32 | otherLow : 0;
        }
        const u32 next = group.fromLane(key, (lane + 1) % WARP_LANES);
        const u32 before = group.fromDistance(key, 1);
        if (key != NO_UNIT && (lane == WARP_LANES - 1 || next != key)) {
            if (key == shared || key == sharedEnd) {
                clearShared(heap, claim, key);
                endsOf(heap, key).setBits(bits);
            } else {
                endsOf(heap, key).store(bits);
                setWhole(heap, key, 0);
            }
        }
        if (!simple && key != word && (lane == 0 || before != word)) {
            if (word == shared) {
                clearShared(heap, claim, word);
            } else {
                clearEnds(heap, word);
            }
        }
        return;
    }
    if (!simple) {
        for (const u32 each : {word, key}) {
            if (each == shared || each == sharedEnd) {
                clearShared(heap, claim, each);
            } else if (each != NO_UNIT) {
                clearEnds(heap, each);
            }
        }
    }
    group.sync();
    if (key != NO_UNIT) {
        endsOf(heap, key).setBits(bits);
    }
}

// Units that a claim has beyond what was asked for, all of one granule of level 2.
OUTBOARD_DEVICE void giveTail(const Heap* heap, u32 from, u32 to) {
    const u32 word = from >> RADIX_LOG2;
    const u32 granule = ceilingOf(from, RADIX_LOG2);
    if (granule != word) {
        setWhole(heap, word, 0);
    }
    releaseFence();
    if (granule != word) {
        setFree(heap, 0, word, highBits(from));
    }
    if (granule < to >> RADIX_LOG2) {
        setFree(heap, 1, granule >> RADIX_LOG2, lowBits((to >> RADIX_LOG2) - granule) << (granule & (RADIX - 1)));
    }
    countRest(heap);
}

// Uses a claim for the threads' blocks; the unit of this thread's, or NO_UNIT if it wants none.
OUTBOARD_DEVICE u32 use(const Group& group, const Heap* heap, const Chunk& claim, const Share& share) {
    const u32 unit = claim.unit + share.before;
    // One thread has claimed: by this, what others did before happens before what each thread writes now.
    group.sync();
    writeEnds(group, heap, claim, share, unit, share.units != 0 ? unit + share.units : 0);
    const u32 end = claim.unit + share.total;
    if (end != claim.end) {
        group.sync();
        if (group.rank() == 0) {
            giveTail(heap, end, claim.end);
        }
    }
    return share.units != 0 ? unit : NO_UNIT;
}

// Uses what was found for the threads of a group that it was looked for.
OUTBOARD_SELDOM inline void useFound(Search& search, u32 lanes) {
    const Group group(lanes);
    const u32 unit = use(group, search.heap, search.found, Share(group, search.mine ? search.wanted : 0));
    search.found = noChunk();
    if (search.mine) {
        search.result = unit;
        search.wanted = 0;
    }
}

// What the first claim didn't find. A thread that wants nothing has 0 units.
OUTBOARD_SELDOM inline u32 mallocSlowly(u32 lanes, const Heap* heap, u32 units) {
    Search search(heap, lanes, units);
    // A request of more than 4 MiB goes alone: a sum of them needn't fit in 32 bits.
    search.left = Group(lanes).lanesWhere(units != 0 && units <= RADIX * GRANULE2_UNITS);
    search.count = countOf(search.left);
    while (search.count > 1) {
        const bool searched = chooseTogether(search);
        if (searched && !(search.isAround && searchAround(search))) {
            searchAll(search);
        }
        if (search.found.unit != NO_UNIT) {
            search.left &= ~Group(lanes).lanesWhere(search.mine);
            useFound(search, lanes);
            search.count = least(search.count, countOf(search.left));
        } else {
            search.count = fewerThan(search, searched);
        }
    }
    search.count = 1;
    if (search.wanted != 0 && chooseOwn(search)) {
        for (u32 word; search.found.unit == NO_UNIT && (word = findAround(search)) != NO_UNIT;) {
            claimFound(search, word);
        }
        if (search.found.unit != NO_UNIT) {
            search.mine = true;
            useFound(search, 1u << Group(lanes).lane());
        }
    }
    Group(lanes).sync();
    while (chooseSmallest(search)) {
        searchAll(search);
        if (search.found.unit == NO_UNIT && promoteOwn(search)) {
            searchAll(search);
        }
        if (search.found.unit == NO_UNIT && beginExactly(search)) {
            searchAll(search);
            endExactly(search);
        }
        if (search.found.unit != NO_UNIT) {
            useFound(search, lanes);
        } else {
            search.refused = search.units;
        }
    }
    return search.result;
}

// The end of the block that starts at a unit. For a unit where none starts, anything.
OUTBOARD_DEVICE u32 endOfBlock(const Heap* heap, u32 unit) {
    const u32 word = unit >> RADIX_LOG2;
    const u64 ends = endsOf(heap, word).load();
    const u64 nextEnds = endsOf(heap, word + 1).load();
    const bool whole = GlobalAtomic<unsigned char>(heap->bits.wholes[word]).load() != 0;
    const bool nextWhole = GlobalAtomic<unsigned char>(heap->bits.wholes[word + 1]).load() != 0;
    const u64 here = ends & highBits(unit);
    if (whole) {
        return low(ends);
    }
    if (here != 0) {
        return (word << RADIX_LOG2) + lowestBit(here) + 1;
    }
    return nextWhole ? low(nextEnds) : ((word + 1) << RADIX_LOG2) + lowestBit(nextEnds) + 1;
}

// Makes units free, after a fence: from both ends up to the highest level that they have whole granules of.
OUTBOARD_DEVICE void giveRange(const Heap* heap, u32 from, u32 to, Slot* slot, const SlotView& view) {
    u32 level = 0;
    while (from < to) {
        u32 first = from;
        u32 end = to;
        if (level < TOP_LEVEL && (from & (RADIX - 1)) == 0 && to - from >= RADIX) {
            if ((to & (RADIX - 1)) == 0) {
                from >>= RADIX_LOG2;
                to >>= RADIX_LOG2;
                ++level;
                continue;
            }
            first = to & ~(RADIX - 1);
            to = first;
        } else {
            end = least(to, (from | (RADIX - 1)) + 1);
            from = end;
        }
        give(heap, level, first >> RADIX_LOG2, lowBits(end - first) << (first & (RADIX - 1)), slot, view);
    }
    countFree(heap);
}

OUTBOARD_SELDOM inline void giveRangeSeldom(const Heap* heap, u32 from, u32 to) {
    giveRange(heap, from, to, ownSlot(heap), SlotView());
}

// Makes a block of a part of one. The words that it shares with what was before or after it are shared with others.
OUTBOARD_SELDOM inline void trim(const Heap* heap, u32 from, u32 unit, u32 end, u32 to) {
    const u32 word = unit >> RADIX_LOG2;
    const u32 inner = ceilingOf(unit, RADIX_LOG2);
    if (inner != word) {
        // After what there was, others may have blocks in the word.
        endsOf(heap, word).clearBits(highBits(unit) & (to >> RADIX_LOG2 == word ? lowBits(to & (RADIX - 1)) : ALL));
        setWhole(heap, word, 0);
    }
    if (end >> RADIX_LOG2 > inner) {
        endsOf(heap, inner).store(end);
        setWhole(heap, inner, 1);
    } else {
        const u32 last = (end - 1) >> RADIX_LOG2;
        endsOf(heap, last).clearBits(last == word ? highBits(unit) & lowBits(((end - 1) & (RADIX - 1)) + 1)
                                                  : lowBits(((end - 1) & (RADIX - 1)) + 1));
        endsOf(heap, last).setBits(bit64(end - 1));
        setWhole(heap, last, 0);
    }
    if ((end & (RADIX - 1)) != 0 && end != to) {
        setWhole(heap, end >> RADIX_LOG2, 0);
    }
    releaseFence();
    giveRangeSeldom(heap, from, unit);
    giveRangeSeldom(heap, end, to);
}

// BitMalloc. Threads of a warp that ask together, or free together, are served together.
struct BitMalloc {
#ifdef OUTBOARD_CHECKED
    static constexpr u32 LAYOUT = LAYOUT_BITS_CHECKED;
#else
    static constexpr u32 LAYOUT = LAYOUT_BITS;
#endif
    static constexpr bool CAN_FREE = true;

    const Heap* heap;

    // Threads for which this is the same pointer are served together.
    OUTBOARD_DEVICE const void* shared() const {
        return heap->counters;
    }

    // Memory for a number of bytes, 16-byte aligned, or nullptr if there is none (or bytes is 0).
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        heap->requireLayout(LAYOUT);
        const u32 units = heap->unitsFor(bytes);
        const u32 unit = take(units);
        if (unit == NO_UNIT) {
            return nullptr;
        }
        start(unit, units, bytes);
        return heap->address(unit);
    }

    // The same with another alignment, a power of two; nullptr if it is none, or if there is no memory. Takes as much
    // more for a moment as the alignment is larger than 16.
    OUTBOARD_DEVICE void* alignedMalloc(size_t alignment, size_t bytes) {
        if (alignment <= UNIT_BYTES) {
            return alignment == 0 || (alignment & (alignment - 1)) != 0 ? nullptr : malloc(bytes);
        }
        heap->requireLayout(LAYOUT);
        const u32 units = heap->unitsFor(bytes);
        const u32 more = heap->unitsFor(alignment);
        if (units == 0 || more == 0 || (alignment & (alignment - 1)) != 0 || heap->units - units < more - 1) {
            return nullptr;
        }
        const u32 first = take(units + more - 1);
        if (first == NO_UNIT) {
            return nullptr;
        }
        const u64 address = reinterpret_cast<u64>(heap->address(first));
        const u32 unit = first + static_cast<u32>(((0 - address) & (alignment - 1)) >> UNIT_LOG2);
        trim(heap, first, unit, unit + units, first + units + more - 1);
        start(unit, units, bytes);
        return heap->address(unit);
    }

    // Gives back what malloc gave. Nothing for nullptr. What is no address of the heap's is counted and changes nothing.
    // A second free, or an address within a block, is counted with OUTBOARD_CHECKED, and changes nothing then; without,
    // it ruins the heap.
    OUTBOARD_DEVICE void free(void* pointer) {
        heap->requireLayout(LAYOUT);
        if (pointer == nullptr) {
            return;
        }
        const u32 unit = heap->unitAt(pointer);
        if (unit == NO_UNIT || !end(unit)) {
            heap->countMisuse();
            return;
        }
        const Group group(shared());
        Slot* const slot = ownSlot(heap);
        const SlotView view(slot);
        u32 to = endOfBlock(heap, unit);
        group.sync();
        // After what this thread has read, and all that was done with the block: pairs with the acquire of who claims.
        releaseFence();
        bool head = true;
        if (group.size() > 1) {
            const u32 lower = group.lowerLanes();
            const u32 endBefore = group.fromLane(to, lower != 0 ? highestBit(lower) : group.lane());
            head = lower == 0 || endBefore != unit;
            // The head of a row frees it up to the last one's end.
            const u32 heads = group.lanesWhere(head);
            const u32 later = heads & ~lower & ~(1u << group.lane());
            const u32 upTo = later == 0 ? group.lanes() : group.lanes() & ((later & (0u - later)) - 1);
            to = group.fromLane(to, highestBit(upTo));
        }
        if (!head) {
            return;
        }
        if (to <= unit || to > heap->units) {
            heap->countMisuse();
            return;
        }
        giveRange(heap, unit, to, slot, view);
    }

    // Bytes of the block that malloc gave for this pointer: the request rounded up to a multiple of 16. 0 for what is no
    // address in the heap.
    OUTBOARD_DEVICE size_t chunkBytes(const void* pointer) const {
        const u32 unit = heap->unitAt(pointer);
        return unit == NO_UNIT ? 0 : static_cast<size_t>(endOfBlock(heap, unit) - unit) << UNIT_LOG2;
    }

  private:
    OUTBOARD_DEVICE u32 take(u32 units) const {
        const Group group(shared());
        const u32 modest = units <= RADIX * GRANULE2_UNITS ? units : 0;
        const Share share(group, modest);
        Chunk claim = noChunk();
        if (group.rank() == 0 && share.total != 0) {
            claim = claimExpected(heap, share.total);
        }
        claim.unit = group.fromFirst(claim.unit);
        claim.end = group.fromFirst(claim.end);
        u32 unit = NO_UNIT;
        if (claim.unit != NO_UNIT) {
            unit = use(group, heap, claim, share);
        }
        if (group.any(unit == NO_UNIT && units != 0)) {
            const u32 other = mallocSlowly(group.lanes(), heap, unit == NO_UNIT ? units : 0);
            unit = unit == NO_UNIT ? other : unit;
        }
        // An end may stand in another thread's write: all must stand before any block is freed.
        group.sync();
        return unit;
    }

    OUTBOARD_DEVICE void start(u32 unit, u32 units, size_t bytes) const {
#ifdef OUTBOARD_CHECKED
        GlobalAtomic<u64>(heap->bits.starts[unit >> RADIX_LOG2]).setBits(bit64(unit));
#endif
        if (heap->slack != nullptr) {
            heap->slack[unit] = (units << UNIT_LOG2) - static_cast<u32>(bytes);
        }
    }

    // Whether a block starts there, as far as is known; none does after.
    OUTBOARD_DEVICE bool end([[maybe_unused]] u32 unit) const {
#ifdef OUTBOARD_CHECKED
        const u64 bit = bit64(unit);
        return (GlobalAtomic<u64>(heap->bits.starts[unit >> RADIX_LOG2]).fetchAndAcquire(~bit) & bit) != 0;
#else
        return true;
#endif
    }
};

}  // namespace detail

using BitMalloc = detail::BitMalloc;

// The same: its requests are joined anyway.
template <>
struct Coalesced<BitMalloc> : BitMalloc {};

}  // namespace outboard
