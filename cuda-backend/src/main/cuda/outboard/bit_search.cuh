// BitMalloc's searches: all of the heap, by all threads of a group.
//
// A search is exact or not. What isn't exact only reads, and may miss what is being freed or promoted meanwhile, or what
// stayed below as it is in slots' own words. If it finds nothing, an exact one follows:
//
// 1. It adds up how often memory has become free so far (frees).
// 2. It promotes all words below the request's level that are all ones.
// 3. It looks at each word by a read-modify-write. Whoever sets bits in a word after it has looked there counts that after
//    it has added up.
// 4. If it finds nothing, the request is noted as hopeless, with that sum. As long as the sum is the same, no request for
//    as much or more is searched for.
//
// If the sum is another by then, nothing is noted, and nothing is tried again: so it always ends. Null means that there
// was no room when it looked, unless in the hands of calls that were under way: memory that is freed behind a search while
// as much is taken before it is missed, and a word that was full is in sight only once the first of those that free in it
// has said so.
//
// Accesses of one request: per search at most 4 for each word of the three levels (a word a KiB) and of their hints, and
// as often for a hint's words as another thread was faster there, TRIES times. Each request has at most one search for
// each number of threads that it is tried with, 32, 16, 8, ... and alone, and an exact one alone, unless one of the same
// warp that wanted no more has just been refused. One that is known to be hopeless has some fifty for each such number.
#pragma once

#include "bit_claims.cuh"

namespace outboard::detail {

constexpr u32 ALONE = 0;
constexpr u32 TOGETHER = 1;

// Of what is noted as hopeless, so many bits say what it is: a rank is at most 4096 + 2^20. The others are the sum of
// frees; the same comes again after 2^43.
constexpr u32 HOPELESS_BITS = 21;

// How often memory has become free, in the bits that `hopeless` has for that. Eight counters at a time, since a GPU waits
// for a number when it adds it.
OUTBOARD_DEVICE u64 freesSoFar(const Heap* heap, u32 which) {
    u64 sum = 0;
    for (u32 i = 0; i < FREE_COUNTERS; i += 8) {
        u64 frees[8];
        u64 rests[8];
        for (u32 j = 0; j < 8; ++j) {
            frees[j] = GlobalAtomic<u64>(heap->bits.frees[i + j].frees).load();
            rests[j] = GlobalAtomic<u64>(heap->bits.frees[i + j].rests).load();
        }
        for (u32 j = 0; j < 8; ++j) {
            sum += which == ALONE ? frees[j] + rests[j] : frees[j];
        }
    }
    return sum << HOPELESS_BITS;
}

// A request as its place among all: those of the same place find the same. Units, or granules of level 2 above 64 KiB.
OUTBOARD_DEVICE u32 rankOf(u32 units) {
    return units <= GRANULE2_UNITS ? units : GRANULE2_UNITS + ceilingOf(units, 2 * RADIX_LOG2);
}

// Whether as much wasn't there when a search found none, and nothing has become free since. `which`: ALONE for what an
// exact search found; TOGETHER for the inexact ones of several threads, which have still each to try alone, so that what
// claims leave doesn't matter.
OUTBOARD_DEVICE bool isHopeless(const Heap* heap, u32 units, u32 which) {
    const u64 noted = GlobalAtomic<u64>(heap->bits.hopeless[which]).load();
    const u32 rank = low(noted) & ((1u << HOPELESS_BITS) - 1);
    if (rank == 0 || rankOf(units) < rank) {
        return false;
    }
    // Pairs with the fence before it was noted: the sum isn't older than what was noted.
    releaseFence();
    return noted - rank == freesSoFar(heap, which);
}

OUTBOARD_DEVICE u64 look(u64& word, bool exact) {
    const GlobalAtomic<u64> atomic(word);
    return exact ? atomic.fetchOrAcquire(0) : atomic.load();
}

OUTBOARD_DEVICE u32 hintsOf(const Heap* heap, u32 level) {
    return ceilingOf(heap->bits.words[level], RADIX_LOG2);
}

// Where so many units, less than granules of level 1 make, may be claimed in a word of that level as it was seen: behind
// the units that a claim left of the granule before. A place in units, or NO_BIT.
OUTBOARD_DEVICE u32 placeBehindTail(const Heap* heap, u32 units, u32 word, u64 seen) {
    u64 rows = seen & ~(seen << 1) & runsOf(seen, units >> RADIX_LOG2) & ~1ull;
    while (rows != 0) {
        const u32 bit = lowestBit(rows);
        rows &= rows - 1;
        const u64 before = freeBits(heap, 0, (word << RADIX_LOG2) + bit - 1).load();
        const u32 place = (bit << RADIX_LOG2) - (before == ALL ? 0 : RADIX - 1 - highestBit(~before));
        const Range1 range(place, units);
        if (range.granules != 0 && (seen & range.granules) == range.granules) {
            return place;
        }
    }
    return NO_BIT;
}

// Whether a word of a level, the request's or one above, has so many units.
OUTBOARD_DEVICE bool serves(const Heap* heap, u32 units, u32 level, u32 word, u64 seen) {
    const u32 own = levelFor(units);
    if (seen == 0 || level > own || runsOf(seen, ceilingOf(units, level * RADIX_LOG2)) != 0) {
        return seen != 0;
    }
    return level == 1 && (units & (RADIX - 1)) != 0 && placeBehindTail(heap, units, word, seen) != NO_BIT;
}

// Clears bits of a hint that are set for nothing.
OUTBOARD_DEVICE void clearHints(const Heap* heap, u32 level, u32 hint, u64 stale) {
    const GlobalAtomic<u64> hints(heap->bits.hints[level][hint]);
    hints.clearBits(stale);
    // Who sets bits of such a word and then its hint: either that is after this in the word's order, and so the hint is
    // set after it is cleared; or the bits are seen here.
    releaseFence();
    while (stale != 0) {
        const u32 bit = lowestBit(stale);
        stale &= stale - 1;
        if (freeBits(heap, level, (hint << RADIX_LOG2) + bit).fetchOrAcquire(0) != 0) {
            // A search may have passed by in between.
            hints.fetchOrAcquire(1ull << bit);
            countFree(heap);
        }
    }
}

// All that is known during a slow allocation by a group's threads. Passed by reference, so that it is kept in local
// memory: registers of what is seldom done add to those of the kernel.
struct Search {
    const Heap* heap;
    u32 lanes;   // of the group
    u32 wanted;  // units, by this thread
    u32 left;    // lanes of those that are to be served yet
    u32 count;   // so many of them are tried for together
    u32 failed;  // so many units weren't there
    u32 result;  // this thread's unit
    u32 units;   // looked for
    u32 pass;    // 0, or of exact searches
    u64 frees;   // before it began
    u32 losses;  // claims of what was found
    u32 level;   // where it is:
    u32 first;   // the hint that it began with
    u32 next;    // hints looked at so far
    Chunk found;

    OUTBOARD_DEVICE bool isExact() const {
        return pass != 0;
    }
};

// The next word of a level that has so many units, by the hints from `first` on, round to it; NO_UNIT if there is none.
// By all threads of a group, each looking at the words of a hint of its own.
template <class Threads>
OUTBOARD_SELDOM u32 findWord(Search& search) {
    const Threads group(search.lanes);
    const Heap* const heap = search.heap;
    const u32 units = search.units;
    const u32 level = search.level;
    const bool exact = search.isExact();
    const u32 count = hintsOf(heap, level);
    u32 next = search.next;
    u32 result = NO_UNIT;
    for (; next < count && result == NO_UNIT; next += result == NO_UNIT ? group.size() : 0) {
        const u32 place = next + group.rank();
        u32 hint = search.first + place;
        hint -= hint >= count ? count : 0;
        u64 left = place < count ? look(heap->bits.hints[level][hint], exact) : 0;
        u64 stale = 0;
        while (group.any(left != 0) && result == NO_UNIT) {
            u32 word = 0;
            bool found = false;
            if (left != 0) {
                const u32 bit = lowestBit(left);
                left &= left - 1;
                word = (hint << RADIX_LOG2) + bit;
                const u64 seen = look(heap->bits.free[level][word], exact);
                stale |= seen == 0 ? 1ull << bit : 0;
                found = serves(heap, units, level, word, seen);
            }
            const u32 finders = group.lanesWhere(found);
            if (finders != 0) {
                result = group.fromLane(word, lowestBit(finders));
            }
        }
        if (stale != 0) {
            clearHints(heap, level, hint, stale);
        }
        if (group.any(isHopeless(heap, units, ALONE))) {
            // By another search than this one, which must not note what it hasn't seen itself.
            ++search.losses;
            break;
        }
    }
    search.next = next;
    return result;
}

// Promotes all words of a level that are all ones.
template <class Threads>
OUTBOARD_DEVICE void promoteAll(const Threads& group, const Heap* heap, u32 level) {
    for (u32 hint = group.rank(); hint < hintsOf(heap, level); hint += group.size()) {
        for (u64 left = look(heap->bits.hints[level][hint], true); left != 0; left &= left - 1) {
            const u32 word = (hint << RADIX_LOG2) + lowestBit(left);
            if (look(heap->bits.free[level][word], true) == ALL) {
                settle(heap, level, word, 0);
            }
        }
    }
    group.sync();
}

OUTBOARD_SELDOM inline void claimRunSeldom(NearClaim& near) {
    claimRun(near);
}

OUTBOARD_SELDOM inline void useGranulesSeldom(NearClaim& near) {
    useGranules(near);
}

// By one thread: claims what is wanted of a word that had it.
OUTBOARD_SELDOM inline void claimFound(Search& search, u32 word) {
    const Heap* const heap = search.heap;
    const u32 own = levelFor(search.units);
    Slot* const slot = ownSlot(heap);
    NearClaim near(heap, slot, SlotView(slot), search.units);
    near.level = search.level;
    near.word = word;
    near.seen = freeBits(heap, near.level, word).load();
    if (near.level == 1 && own == 1) {
        // Nothing is left between two claims then.
        const u32 place = placeBehindTail(heap, near.total, word, near.seen);
        if (place != NO_BIT) {
            u64 seen;
            search.found = claimRange1(heap, word, Range1(place, near.total), near.total, seen);
            if (search.found.unit != NO_UNIT) {
                return;
            }
        }
    }
    near.count = near.level == own ? ceilingOf(near.total, own * RADIX_LOG2) : 1;
    near.from = near.level == TOP_LEVEL ? scaled(scatter(), RADIX) : 0;
    claimRunSeldom(near);
    if (near.granule != NO_UNIT) {
        if ((near.seen & ~(lowBits(near.count) << (near.granule & (RADIX - 1)))) == 0) {
            // The word has no more: in a heap that is nearly full, searches would come here for nothing.
            clearHints(heap, near.level, word >> RADIX_LOG2, bit64(word));
        }
        useGranulesSeldom(near);
    }
    search.found = near.chunk;
}

// Granules of level 2 in a row over as many words as it takes, from the lowest on. One thread.
OUTBOARD_DEVICE Chunk claimRow(const Heap* heap, u32 units, bool exact, u32& losses) {
    const u32 words = heap->bits.words[2];
    const u32 count = ceilingOf(units, 2 * RADIX_LOG2);
    u32 row = 0;  // free granules in a row before this word
    for (u32 word = 0; word < words; ++word) {
        u64 seen = look(heap->bits.free[2][word], exact);
        const u32 lower = seen == ALL ? RADIX : lowestBit(~seen);
        u32 first = NO_UNIT;
        if (row + lower >= count) {
            first = (word << RADIX_LOG2) - row;
        } else if (count <= RADIX) {
            const u64 runs = runsOf(seen, count);
            first = runs != 0 ? (word << RADIX_LOG2) + lowestBit(runs) : NO_UNIT;
        }
        if (first != NO_UNIT) {
            // Word by word upwards; all is given back if another thread was faster at one.
            const u32 end = first + count;
            u32 at = first;
            bool got = true;
            while (got && at < end) {
                const u32 part = least(RADIX - (at & (RADIX - 1)), end - at);
                u64 state;
                got = claim(heap, 2, at >> RADIX_LOG2, lowBits(part) << (at & (RADIX - 1)), state);
                at += got ? part : 0;
            }
            if (got) {
                for (u32 noted = first; noted < end;) {
                    const u32 part = least(RADIX - (noted & (RADIX - 1)), end - noted);
                    noteClaim(heap, noted, part, noted == first);
                    noted += part;
                }
                return chunkFrom(first << (2 * RADIX_LOG2), units, 2 * RADIX_LOG2);
            }
            for (u32 given = first; given < at;) {
                const u32 part = least(RADIX - (given & (RADIX - 1)), at - given);
                settle(heap, 2, given >> RADIX_LOG2, lowBits(part) << (given & (RADIX - 1)));
                given += part;
            }
            // What that one has left of this word may be where the next row begins.
            ++losses;
            row = 0;
            seen = look(heap->bits.free[2][word], exact);
        }
        row = seen == ALL ? row + RADIX : RADIX - 1 - highestBit(~seen);
    }
    return noChunk();
}

OUTBOARD_SELDOM inline void claimLargeRow(Search& search) {
    search.found = claimRow(search.heap, search.units, search.isExact(), search.losses);
}

// What comes before an exact search, after it was added up what has become free.
template <class Threads>
OUTBOARD_SELDOM void beginExactly(Search& search) {
    const Threads group(search.lanes);
    const Heap* const heap = search.heap;
    // By each thread, after the first has added up: pairs with the acquire of who sets bits after it has looked.
    group.sync();
    releaseFence();
    for (u32 level = 0; level < levelFor(search.units); ++level) {
        promoteAll(group, heap, level);
    }
}

// The first thread's claim, for all.
template <class Threads>
OUTBOARD_DEVICE bool share(Search& search) {
    const Threads group(search.lanes);
    search.found.unit = group.fromFirst(search.found.unit);
    search.found.end = group.fromFirst(search.found.end);
    return search.found.unit != NO_UNIT;
}

// From the top level down to the request's.
template <class Threads>
OUTBOARD_DEVICE void searchOnce(Search& search) {
    search.found = noChunk();
    search.losses = 0;
    if (search.units <= RADIX * GRANULE2_UNITS) {
        for (search.level = TOP_LEVEL + 1; search.level-- > levelFor(search.units);) {
            // From anywhere, so that those that search at once don't get into each other's way.
            search.first = Threads(search.lanes).fromFirst(scaled(scatter(), hintsOf(search.heap, search.level)));
            search.next = 0;
            for (u32 word = 0; (word = findWord<Threads>(search)) != NO_UNIT;) {
                if (Threads(search.lanes).rank() == 0) {
                    claimFound(search, word);
                }
                if (share<Threads>(search)) {
                    return;
                }
                // Another was faster. There may be more in the same place.
                if (++search.losses % TRIES == 0) {
                    search.next += Threads(search.lanes).size();
                }
            }
        }
    }
    if (levelFor(search.units) == TOP_LEVEL && (search.isExact() || search.units > RADIX * GRANULE2_UNITS)) {
        if (Threads(search.lanes).rank() == 0) {
            claimLargeRow(search);
        }
        search.losses = Threads(search.lanes).fromFirst(search.losses);
        share<Threads>(search);
    }
}

// So many units for the threads of the group together, with exact searches only if that is one thread: groups can still
// be made smaller.
template <class Threads>
OUTBOARD_DEVICE void claimAnywhere(Search& search) {
    const u32 which = search.count == 1 ? ALONE : TOGETHER;
    search.found = noChunk();
    for (search.pass = 0; search.pass <= (which == ALONE ? 1 : 0); ++search.pass) {
        if (Threads(search.lanes).any(isHopeless(search.heap, search.units, which)
                                      || isHopeless(search.heap, search.units, ALONE))) {
            return;
        }
        search.frees = freesSoFar(search.heap, which);
        if (search.isExact()) {
            beginExactly<Threads>(search);
        }
        searchOnce<Threads>(search);
        if (search.found.unit != NO_UNIT) {
            return;
        }
        if ((search.isExact() || which == TOGETHER) && search.losses == 0
            && Threads(search.lanes).all(freesSoFar(search.heap, which) == search.frees)) {
            if (Threads(search.lanes).rank() == 0) {
                releaseFence();
                GlobalAtomic<u64>(search.heap->bits.hopeless[which]).store(search.frees | rankOf(search.units));
            }
            return;
        }
    }
}

}  // namespace outboard::detail
