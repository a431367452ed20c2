// BitMalloc's claims: where the calling thread's slot expects free memory, and around it.
#pragma once

#include "bit_levels.cuh"

namespace outboard::detail {

OUTBOARD_DEVICE Chunk noChunk() {
    Chunk none;
    none.unit = NO_UNIT;
    none.end = NO_UNIT;
    return none;
}

// What a claim of so many units from this one on has: up to the end of its last granule.
OUTBOARD_DEVICE Chunk chunkFrom(u32 unit, u32 total, u32 granuleLog2) {
    Chunk chunk;
    chunk.unit = unit;
    chunk.end = ceilingOf(unit + total, granuleLog2) << granuleLog2;
    return chunk;
}

// A range of level 1, of at least 64 units: from a place in one of its words on. Bits of level 0 up to the next granule
// (the tail that another claim has left), then whole granules.
struct Range1 {
    u32 first;     // granule, of those in the word
    u64 units;     // of the one before it
    u64 granules;  // none if they don't fit in the word

    OUTBOARD_DEVICE Range1(u32 place, u32 total) {
        const u32 offset = place & (RADIX - 1);
        const u32 tail = offset == 0 ? 0 : RADIX - offset;
        const u32 count = ceilingOf(total - tail, RADIX_LOG2);
        first = ceilingOf(place, RADIX_LOG2);
        units = offset == 0 ? 0 : highBits(offset);
        granules = first + count <= RADIX ? lowBits(count) << first : 0;
    }
};

// Claims it, or what serves as well: where the tail has become a whole granule again, that one. `seen`: what the word was
// before.
OUTBOARD_DEVICE Chunk claimRange1(const Heap* heap, u32 word, const Range1& range, u32 total, u64& seen) {
    // The granule of the tail is not free as such, if things are as expected: then its bit is of no account.
    const u64 tailGranule = range.units != 0 ? 1ull << (range.first - 1) : 0;
    seen = freeBits(heap, 1, word).fetchAndAcquire(~(range.granules | tailGranule));
    const u32 unit = ((word << RADIX_LOG2) + range.first) << RADIX_LOG2;
    u64 got = seen & (range.granules | tailGranule);
    if (got == range.granules) {
        u64 seenUnits;
        if (range.units == 0) {
            return chunkFrom(unit, total, RADIX_LOG2);
        }
        if (claim(heap, 0, (unit >> RADIX_LOG2) - 1, range.units, seenUnits)) {
            return chunkFrom(unit - countOf(range.units), total, RADIX_LOG2);
        }
        if (countOf(range.granules) << RADIX_LOG2 >= total) {
            return chunkFrom(unit, total, RADIX_LOG2);
        }
    } else if (got == (range.granules | tailGranule)) {
        Chunk chunk = chunkFrom(unit - RADIX, total, RADIX_LOG2);
        chunk.end = unit + (countOf(range.granules) << RADIX_LOG2);
        return chunk;
    }
    if (got != 0) {
        settle(heap, 1, word, got);
    }
    return noChunk();
}

// Notes that granules of level 2 in a row belong to one claim that begins with the first of them.
OUTBOARD_DEVICE void noteClaim(const Heap* heap, u32 granule, u32 count, bool first) {
    const GlobalAtomic<u64> claims(heap->bits.claims[granule >> RADIX_LOG2]);
    if (count > 1 || !first) {
        claims.clearBits(lowBits(count) << (granule & (RADIX - 1)));
    }
    if (first) {
        claims.setBits(bit64(granule));
    }
}

// A claim that looks before, as far as it is. Passed by reference, so that it is kept in local memory: registers of what is
// seldom done add to those of the kernel.
struct NearClaim {
    const Heap* heap;
    Slot* slot;
    SlotView view;
    u32 total;  // units
    u32 level;  // where it is looked for: the word, as last seen, and where in it first
    u32 word;
    u64 seen;
    u64 seenBy[3];  // the slot's words of all levels
    u32 count;      // granules in a row
    u32 from;
    u32 granule;  // the first of them; NO_UNIT if there are none
    u32 tail;     // so many units before it may be free
    Chunk chunk;

    OUTBOARD_DEVICE NearClaim(const Heap* theHeap, Slot* theSlot, const SlotView& theView, u32 units)
        : heap(theHeap), slot(theSlot), view(theView), total(units), tail(0), chunk(noChunk()) {}
};

// Claims so many granules in a row, at `from` or after it if there are some, else anywhere in the word.
OUTBOARD_DEVICE void claimRun(NearClaim& near) {
    near.granule = NO_UNIT;
    for (u32 i = 0; i < TRIES; ++i) {
        const u64 runs = runsOf(near.seen, near.count);
        if (runs == 0) {
            return;
        }
        const u64 later = runs & highBits(near.from);
        const u32 bit = lowestBit(later != 0 ? later : runs);
        if (claim(near.heap, near.level, near.word, lowBits(near.count) << bit, near.seen)) {
            near.granule = (near.word << RADIX_LOG2) + bit;
            return;
        }
    }
}

// Divides a granule of level 2 that was claimed: its first part is the claim, or the granule of level 1 that it is made
// from, and what it doesn't need becomes free. The word that this is in is the slot's own from then on.
OUTBOARD_DEVICE void divide2(NearClaim& near) {
    const Heap* const heap = near.heap;
    const u32 word = near.granule;
    const u32 total = near.total;
    const u32 count = ceilingOf(total, RADIX_LOG2);
    const Move move(heap, near.slot, 1, word, near.view.word1);
    setPlace(near.slot, 1, total < RADIX ? RADIX : total);
    if (count < RADIX) {
        setFree(heap, 1, word, ALL << count);
    }
    move.end();
    countRest(heap);
    near.granule = word << RADIX_LOG2;
}

// The same of a granule of level 1. The units before it are claimed too if they are free.
OUTBOARD_DEVICE void divide1(NearClaim& near) {
    const Heap* const heap = near.heap;
    const u32 word = near.granule;
    u32 unit = word << RADIX_LOG2;
    if (near.tail != 0) {
        u64 seen;
        if (claim(heap, 0, word - 1, highBits(RADIX - near.tail), seen)) {
            unit -= near.tail;
        }
    }
    const u32 end = unit + near.total;
    GlobalAtomic<unsigned char>(heap->bits.wholes[word]).store(0);
    const Move move(heap, near.slot, 0, word, near.view.word0);
    setPlace(near.slot, 0, end & (RADIX - 1));
    setFree(heap, 0, word, highBits(end));
    countRest(heap);
    move.end();
    near.chunk = {unit, end};
}

// Makes a claim of granules of a level, the request's or one above it.
OUTBOARD_DEVICE void useGranules(NearClaim& near) {
    const u32 own = levelFor(near.total);
    if (near.level == TOP_LEVEL) {
        GlobalAtomic<u32>(near.slot->granule).store(near.granule);
        noteClaim(near.heap, near.granule, near.count, true);
        if (own != TOP_LEVEL) {
            divide2(near);
        }
    }
    if (own != 0) {
        near.chunk = chunkFrom(near.granule << (own * RADIX_LOG2), near.total, own * RADIX_LOG2);
    } else if (near.level != 0) {
        divide1(near);
    } else {
        const u32 unit = near.granule;
        near.chunk = {unit, unit + near.total};
    }
}

// Where the slot's guess was wrong, or for whole granules of level 2: from the words that it knows. At most 4 MiB. No
// chunk if there is nothing. `near.seenBy`: its own word of the request's level, but for level 2.
OUTBOARD_DEVICE void claimNear(NearClaim& near) {
    const u32 own = levelFor(near.total);
    if (own == 0) {
        near.seenBy[1] = freeBits(near.heap, 1, near.view.word1).load();
    }
    near.seenBy[2] = freeBits(near.heap, 2, near.view.granule >> RADIX_LOG2).load();
    for (near.level = own; near.level <= TOP_LEVEL; ++near.level) {
        near.count = near.level == own ? ceilingOf(near.total, own * RADIX_LOG2) : 1;
        near.from = 0;
        near.tail = 0;
        near.seen = near.seenBy[near.level];
        if (near.level == TOP_LEVEL) {
            near.word = near.view.granule >> RADIX_LOG2;
            // The granule that was taken last, if it is free again: data of it are in the L2 cache. Else anyone: side by
            // side, slots get into each other's way more and more.
            const bool again = own == TOP_LEVEL || (near.seen & bit64(near.view.granule)) != 0;
            near.from = again ? near.view.granule : scaled(scatter(), RADIX);
        } else {
            near.word = near.view.word(near.level);
            const u32 next = near.view.word0 + 1;
            if (near.level > own && near.view.word0 >> RADIX_LOG2 == near.word && next >> RADIX_LOG2 == near.word
                && near.seenBy[0] != ALL) {
                // The next granule in a row, so that what is left of this one is of use. If it were all of the request,
                // another thread has been here since it was seen. Within a granule of level 2, as scans begin with these.
                const u32 tail = RADIX - 1 - highestBit(~near.seenBy[0]);
                near.tail = tail < near.total ? tail : 0;
                near.from = near.tail != 0 ? next : 0;
            }
        }
        claimRun(near);
        if (near.granule == NO_UNIT) {
            continue;
        }
        if (near.granule != near.view.word0 + 1) {
            near.tail = 0;
        }
        if (near.level == own && own != TOP_LEVEL) {
            setPlace(near.slot, own, ((near.granule & (RADIX - 1)) << (own * RADIX_LOG2)) + near.total);
        }
        useGranules(near);
        return;
    }
    if (own != TOP_LEVEL) {
        setPlace(near.slot, own, NO_PLACE);
    }
}

// Where the slot expects as much: without a look before, as the claim's answer tells what was there. Levels above are
// looked at meanwhile.
OUTBOARD_DEVICE Chunk claimExpected(const Heap* heap, u32 total) {
    if (total > RADIX * GRANULE2_UNITS) {
        return noChunk();
    }
    Slot* const slot = ownSlot(heap);
    const SlotView view(slot);
    u64 seen1 = 0;
    u64 seen0 = 0;
    if (total < RADIX) {
        u32 place = view.place(0);
        u64 units = lowBits(total);
        if (place + total <= RADIX) {
            units <<= place;
        } else {
            units = place == NO_PLACE ? 0 : units;
            place = 0;
        }
        seen0 = freeBits(heap, 0, view.word0).fetchAndAcquire(~units);
        if ((seen0 & units) == units && units != 0) {
            const u64 runs = runsOf(seen0 & ~units, total);
            const u32 next = runs != 0 ? lowestBit(runs) : place;
            if (next != view.place(0)) {
                setPlace(slot, 0, next);
            }
            const u32 unit = (view.word0 << RADIX_LOG2) + place;
            return {unit, unit + total};
        }
        if ((seen0 & units) != 0) {
            settle(heap, 0, view.word0, seen0 & units);
        }
    } else if (total <= GRANULE2_UNITS) {
        u32 place = view.place(1);
        Range1 range(place, total);
        if (range.granules == 0) {
            range = Range1(0, total);
        }
        if (place == NO_PLACE) {
            seen1 = freeBits(heap, 1, view.word1).load();
        } else {
            const Chunk chunk = claimRange1(heap, view.word1, range, total, seen1);
            if (chunk.unit != NO_UNIT) {
                u32 next = (chunk.unit + total) & (GRANULE2_UNITS - 1);
                if ((next & (RADIX - 1)) == 0) {
                    const u64 runs = runsOf(seen1 & ~range.granules, total >> RADIX_LOG2);
                    next = runs != 0 ? lowestBit(runs) << RADIX_LOG2 : next;
                }
                if (next != place) {
                    setPlace(slot, 1, next);
                }
                return chunk;
            }
        }
    }
    NearClaim near(heap, slot, view, total);
    near.seenBy[0] = seen0;
    near.seenBy[1] = seen1;
    claimNear(near);
    return near.chunk;
}

}  // namespace outboard::detail
