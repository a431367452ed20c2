// BitMalloc's searches: all of the heap, for what the slot's words don't have.
//
// 1. For the threads of a group together, from the top level down, or around first if few granules there are whole; if
//    there is no such place, for half of them, or for as many as what was seen has room for, and so on. That there is none
//    anywhere is noted, and believed until as much has become free as pays for another search (PAID_WORDS).
// 2. Each thread that has nothing yet looks around for itself, from anywhere on each level, from its request's level up.
// 3. All threads look through all of the heap for one of them, for the smallest request first: if that isn't there, no
//    other is. This is done up to three times: as it is; after slots' own words below the request's level that are all ones
//    were promoted; and, if the same wasn't there before and nothing has become free since, exactly:
//    - It has added up how often memory has become free so far (frees).
//    - It looks at each word by a read-modify-write. Whoever sets bits in a word after it has looked there counts that
//      after it has added up. Below the request's level only slots' own words can be all ones, or words that somebody is
//      about to promote and to count.
//    - If it finds nothing and the sum is the same, the request is noted as hopeless, with that sum. As long as the sum
//      is the same, no request for as much or more is searched for.
//    Mostly one group does so for the same sum, the second time that as much isn't there.
//
// Null means that there was no room when it looked, unless in the hands of calls that were under way: memory that is freed
// behind a search while as much is taken before it is missed, and a word that was full is in sight only once the first of
// those that free in it has said so. What was freed before the call, as its thread knows (in the order of the program and
// its synchronisation), is seen by each of its reads. What is noted must hold for all threads, so it takes the
// read-modify-writes.
//
// Accesses of one request: per search at most 4 for each word of the three levels (a word a KiB) and of their hints, and
// as often for a hint's words as another thread was faster there, TRIES times. At most five searches for several threads
// find nothing, each after a look around (AROUND hints of a thread on two levels), and three for one, and the threads of a
// warp take part in those of each other. A request that is known to be hopeless has some fifty for each number of threads.
#pragma once

#include "bit_claims.cuh"
#include "bit_hopeless.cuh"

namespace outboard::detail {

// A GPU waits for what it reads when it uses it: so many words are looked at before one is used. More take registers from
// kernels that seldom come here.
constexpr u32 AT_ONCE = 6;

// A thread that searches by itself looks at so many hints of a level.
constexpr u32 AROUND = 2 * AT_ONCE;

// Granules of level 2 are scarce where more than one in so many isn't free.
constexpr u32 SCARCE = 8;

OUTBOARD_DEVICE u64 look(u64& word, bool exact) {
    const GlobalAtomic<u64> atomic(word);
    return exact ? atomic.fetchOr(0) : atomic.load();
}

OUTBOARD_DEVICE u32 hintsOf(const Heap* heap, u32 level) {
    return ceilingOf(heap->bits.words[level], RADIX_LOG2);
}

// Where so many units, less than granules of level 1 make, may be claimed in a word of that level as it was seen: behind
// the units that a claim left of the granule before. A place in units, or NO_BIT.
OUTBOARD_DEVICE u32 placeBehindTail(const Heap* heap, u32 units, u32 word, u64 seen, bool exact) {
    u64 rows = seen & ~(seen << 1) & runsOf(seen, units >> RADIX_LOG2) & ~1ull;
    while (rows != 0) {
        const u32 bit = lowestBit(rows);
        rows &= rows - 1;
        const u64 before = look(heap->bits.free[0][(word << RADIX_LOG2) + bit - 1], exact);
        const u32 place = (bit << RADIX_LOG2) - (before == ALL ? 0 : RADIX - 1 - highestBit(~before));
        const Range1 range(place, units);
        if (range.granules != 0 && (seen & range.granules) == range.granules) {
            return place;
        }
    }
    return NO_BIT;
}

// How many granules of level 1 in a row, so many in all, may be claimed at the end of a word if the others are the first ones
// of the next word: 0 if none. A block over the border of granules of level 2 doesn't begin the second one's claim, so that
// must be one that scans don't begin with (claims).
OUTBOARD_DEVICE u32 upperOf(const Heap* heap, u32 count, u32 word, u64 seen) {
    const u32 upper = seen == ALL ? RADIX : RADIX - 1 - highestBit(~seen);
    return upper >= count || word + 1 >= heap->bits.words[0] >> RADIX_LOG2 ? 0 : upper;
}

// All that is known during a slow allocation. Passed by reference, so that it is kept in local memory: registers of what is
// seldom done add to those of the kernel.
struct Search {
    const Heap* heap;
    u32 lanes;    // of the group
    u32 wanted;   // units, by this thread; 0 if it needs none any more
    u32 result;   // its unit
    u32 units;    // looked for
    u32 threads;  // that look together
    u32 rank;     // of this one among them
    u32 count;    // so many threads are tried for together
    u32 left;     // their lanes
    u32 refused;  // so many units weren't there
    bool mine;    // it is looked for this thread, too
    bool exact;
    u64 frees;     // before it began
    u32 losses;    // claims of what was found
    bool isAround;  // looks around before it looks everywhere
    u32 level;     // where it is:
    u32 granules;  // of that level in a row are looked for
    bool tails;    // or one less, behind what a claim left of the granule before
    u32 most;      // granules that were seen in one word
    u32 first;     // the hint that it began with
    u32 next;      // hints looked at so far
    u32 end;       // of so many
    u32 turn;      // the bit that each is looked at from, round to it again
    u64 hints[AT_ONCE];  // what is left of those that this thread looks at
    u64 stale[AT_ONCE];  // of them: bits that are set for nothing
    u32 words[AT_ONCE];  // the words that it looks at
    u64 seen[AT_ONCE];
    u32 unsure;  // which of them may have it with another one
    Chunk found;

    OUTBOARD_DEVICE Search(const Heap* theHeap, u32 theLanes, u32 units)
        : heap(theHeap), lanes(theLanes), wanted(units), result(NO_UNIT), refused(NO_UNIT), exact(false), found(noChunk()) {}

    // Each thread by itself, or all of the group together.
    OUTBOARD_DEVICE void lookAlone(u32 forUnits) {
        units = forUnits;
        threads = 1;
        rank = 0;
    }

    OUTBOARD_DEVICE void lookTogether(u32 forUnits) {
        const Group group(lanes);
        units = forUnits;
        threads = group.size();
        rank = group.rank();
    }

    // Goes to a level: from anywhere, so that those that search at once don't get into each other's way.
    OUTBOARD_DEVICE void enter(u32 theLevel, u32 chance) {
        level = theLevel;
        granules = level > levelFor(units) ? 1 : ceilingOf(units, level * RADIX_LOG2);
        tails = level == 1 && units > RADIX && (units & (RADIX - 1)) != 0;
        most = 0;
        end = level <= TOP_LEVEL ? hintsOf(heap, level) : 0;
        first = scaled(chance, end);
        next = 0;
        // From the first bit again: blocks that begin anywhere leave holes everywhere, and large requests find nothing.
        turn = 0;
    }

    // The hint that this thread looks at after so many: round from the first one, NO_UNIT if there are no more.
    OUTBOARD_DEVICE u32 hintAfter(u32 i) const {
        const u32 count = hintsOf(heap, level);
        const u32 place = next + i * threads + rank;
        const u32 hint = first + place;
        return place >= count ? NO_UNIT : hint < count ? hint : hint - count;
    }
};

// Looks at the first AT_ONCE of those of a hint's words whose bits are set; the bits of the others.
OUTBOARD_DEVICE u64 lookAtWords(const Heap* heap, u32 level, u32 hint, u64 bits, bool exact, u64* seen) {
    u64* const words = heap->bits.free[level] + (static_cast<u64>(hint) << RADIX_LOG2);
    for (u32 i = 0; i < AT_ONCE; ++i) {
        seen[i] = bits != 0 ? look(words[lowestBit(bits)], exact) : 0;
        bits &= bits - 1;
    }
    return bits;
}

// Clears bits of a hint that are set for nothing.
OUTBOARD_SELDOM inline void clearHints(const Heap* heap, u32 level, u32 hint, u64 stale) {
    const GlobalAtomic<u64> hints(heap->bits.hints[level][hint]);
    hints.clearBits(stale);
    // Who sets bits of such a word and then its hint: either that is after this in the word's order, and so the hint is
    // set after it is cleared; or the bits are seen here.
    releaseFence();
    while (stale != 0) {
        u64 seen[AT_ONCE];
        const u64 later = lookAtWords(heap, level, hint, stale, true, seen);
        OUTBOARD_ROLLED
        for (u32 i = 0; stale != later; ++i) {
            const u64 bit = stale & (0 - stale);
            stale ^= bit;
            if (seen[i] != 0) {
                // A search may have passed by in between.
                hints.fetchOrAcquire(bit);
                countFree(heap);
            }
        }
    }
}

// Looks at this thread's next hints.
OUTBOARD_SELDOM inline void lookAtHints(Search& search) {
    for (u32 i = 0; i < AT_ONCE; ++i) {
        const u32 hint = search.hintAfter(i);
        search.hints[i] = hint != NO_UNIT ? look(search.heap->bits.hints[search.level][hint], search.exact) : 0;
        search.stale[i] = 0;
    }
}

// Before the next hints.
OUTBOARD_DEVICE void clearStale(const Search& search) {
    OUTBOARD_ROLLED
    for (u32 i = 0; i < AT_ONCE; ++i) {
        if (search.stale[i] != 0) {
            clearHints(search.heap, search.level, search.hintAfter(i), search.stale[i]);
        }
    }
}

// Whether the next word has the rest of a row of which a word has so many granules.
OUTBOARD_DEVICE bool goesOn(const Search& search, u32 upper, u64 next) {
    const u64 lower = lowBits(search.granules - upper);
    return upper != 0 && (next & lower) == lower;
}

// The first of the next words of a hint that has what is looked for; NO_UNIT if none has by itself or with the word after
// it, as far as those were seen.
OUTBOARD_DEVICE u32 findAmongNext(Search& search, u32 i) {
    const u32 hint = search.hintAfter(i);
    const u32 fewest = search.granules - (search.tails ? 1 : 0);
    const u64 bits = search.hints[i];
    u64 left = bits & highBits(search.turn);
    left = left != 0 ? left : bits;
    const u64 rest = bits ^ left;
    const u64 later = lookAtWords(search.heap, search.level, hint, left, search.exact, search.seen);
    search.hints[i] = later | rest;
    search.unsure = 0;
    OUTBOARD_ROLLED
    for (u32 j = 0; left != later; ++j) {
        const u64 seen = search.seen[j];
        const u64 bit = left & (0 - left);
        const u32 word = (hint << RADIX_LOG2) + lowestBit(left);
        left ^= bit;
        search.words[j] = word;
        search.stale[i] |= seen == 0 ? bit : 0;
        // Most words don't even have as many granules.
        const u64 rows = countOf(seen) >= fewest ? runsOf(seen, fewest) : 0;
        if ((search.tails ? rows & (rows >> 1) : rows) != 0) {
            return word;
        }
        search.unsure |= rows != 0 ? 1u << j : 0;
        search.most = search.most < countOf(seen) ? countOf(seen) : search.most;
        const u32 upper = search.level == 1 ? upperOf(search.heap, search.granules, word, seen) : 0;
        if (upper == 0) {
            continue;
        }
        // If the next word has anything, it has a bit in the same hint, or it is the next one's first. It may have been
        // looked at before.
        const bool has = (left & (bit << 1)) != 0;
        if (bit == bit64(RADIX - 1) || bit << 1 == bit64(search.turn) || (has && j + 1 == AT_ONCE)) {
            search.unsure |= 1u << j;
        } else if (has && goesOn(search, upper, search.seen[j + 1])) {
            return word;
        }
    }
    return NO_UNIT;
}

// Of those words, one that has it with the next one, or the granule before. Not at once with each: then all threads would
// wait for memory as often as any of them.
OUTBOARD_DEVICE u32 findAmongUnsure(const Search& search) {
    const Heap* const heap = search.heap;
    OUTBOARD_ROLLED
    for (u32 left = search.unsure; left != 0; left &= left - 1) {
        const u32 word = search.words[lowestBit(left)];
        const u64 seen = search.seen[lowestBit(left)];
        if (search.tails && placeBehindTail(heap, search.units, word, seen, search.exact) != NO_BIT) {
            return word;
        }
        const u32 upper = upperOf(heap, search.granules, word, seen);
        if (upper != 0 && goesOn(search, upper, look(heap->bits.free[1][word + 1], search.exact))) {
            return word;
        }
    }
    return NO_UNIT;
}

// A word of these hints that has it, by all threads of the group; NO_UNIT if none has.
OUTBOARD_SELDOM inline u32 findInHints(Search& search) {
    const Group group(search.lanes);
    OUTBOARD_ROLLED
    for (u32 i = 0; i < AT_ONCE; ++i) {
        while (group.any(search.hints[i] != 0)) {
            u32 word = findAmongNext(search, i);
            u32 finders = group.lanesWhere(word != NO_UNIT);
            if (finders == 0 && group.any(search.unsure != 0)) {
                word = findAmongUnsure(search);
                finders = group.lanesWhere(word != NO_UNIT);
            }
            if (finders != 0) {
                const u32 later = finders & ~0u << search.turn % WARP_LANES;
                return group.fromLane(word, lowestBit(later != 0 ? later : finders));
            }
        }
    }
    return NO_UNIT;
}

// The next word of a level that has what is looked for, by the hints from `first` to `end`; NO_UNIT if there is none. By all
// threads of the group, each looking at the words of hints of its own.
OUTBOARD_SELDOM inline u32 findWord(Search& search) {
    while (search.next < search.end) {
        lookAtHints(search);
        const u32 word = findInHints(search);
        clearStale(search);
        if (word != NO_UNIT) {
            return word;
        }
        search.next += AT_ONCE * search.threads;
        if (Group(search.lanes).any(isHopeless(search.heap, search.units, ALONE))) {
            // By another search than this one, which must not note what it hasn't seen itself.
            ++search.losses;
            break;
        }
    }
    return NO_UNIT;
}

// Promotes slots' own words below the request's level that are all ones; whether there were any. By all threads of the
// group. Which they are is read relaxed: a word becomes all ones only when what was first claimed of it is freed, by somebody
// who has that from a call that made the exchange, and executes a fence before it counts the free. So who has that in its sum
// sees the exchange.
OUTBOARD_SELDOM inline bool promoteOwn(Search& search) {
    const Heap* const heap = search.heap;
    const Group group(search.lanes);
    bool any = false;
    for (u32 level = 0; level < levelFor(search.units); ++level) {
        for (u32 next = search.rank; next < heap->bits.slotCount; next += AT_ONCE * search.threads) {
            u32 words[AT_ONCE];
            u64 seen[AT_ONCE];
            for (u32 i = 0; i < AT_ONCE; ++i) {
                const u32 slot = next + i * search.threads;
                words[i] = slot < heap->bits.slotCount ? GlobalAtomic<u32>(heap->bits.slots[slot].word[level]).load() : NO_UNIT;
            }
            for (u32 i = 0; i < AT_ONCE; ++i) {
                seen[i] = words[i] != NO_UNIT ? look(heap->bits.free[level][words[i]], search.exact) : 0;
            }
            OUTBOARD_ROLLED
            for (u32 i = 0; i < AT_ONCE; ++i) {
                if (seen[i] == ALL) {
                    settle(heap, level, words[i], 0);
                    any = true;
                }
            }
        }
        group.sync();
    }
    any = group.any(any);
    if (any && !search.exact) {
        // Not these promotions, and what is looked for exactly is looked for after this.
        search.frees = freesSoFar(heap, ALONE);
    }
    return any;
}

OUTBOARD_SELDOM inline void claimRunSeldom(NearClaim& near) {
    claimRun(near);
}

OUTBOARD_SELDOM inline void useGranulesSeldom(NearClaim& near) {
    useGranules(near);
}

// Claims the last granules of a word of level 1, and the first ones of the next.
OUTBOARD_SELDOM inline void claimOverEnd(Search& search, u32 word) {
    const Heap* const heap = search.heap;
    const u32 count = ceilingOf(search.units, RADIX_LOG2);
    const u32 upper = upperOf(heap, count, word, freeBits(heap, 1, word).load());
    const u64 lower = lowBits(count - upper);
    u64 seen;
    if (upper == 0 || (freeBits(heap, 1, word + 1).load() & lower) != lower
        || !claim(heap, 1, word, highBits(RADIX - upper), seen)) {
        return;
    }
    if (claim(heap, 1, word + 1, lower, seen)) {
        noteClaim(heap, word + 1, 1, false);
        search.found = chunkFrom(((word + 1) * RADIX - upper) << RADIX_LOG2, search.units, RADIX_LOG2);
    } else {
        settle(heap, 1, word, highBits(RADIX - upper));
    }
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
        const u32 place = placeBehindTail(heap, near.total, word, near.seen, false);
        if (place != NO_BIT) {
            u64 seen;
            search.found = claimRange1(heap, word, Range1(place, near.total), near.total, seen);
            if (search.found.unit != NO_UNIT) {
                return;
            }
        }
    }
    near.count = near.level == own ? ceilingOf(near.total, own * RADIX_LOG2) : 1;
    // Single granules anywhere, so that threads don't get into each other's way; rows side by side, so that many fit.
    near.from = near.level == TOP_LEVEL && near.count == 1 ? scaled(scatter(), RADIX) : 0;
    claimRunSeldom(near);
    if (near.granule != NO_UNIT) {
        if ((near.seen & ~(lowBits(near.count) << (near.granule & (RADIX - 1)))) == 0) {
            // The word has no more: in a heap that is nearly full, searches would come here for nothing.
            clearHints(heap, near.level, word >> RADIX_LOG2, bit64(word));
        }
        useGranulesSeldom(near);
        search.found = near.chunk;
    } else if (near.level == 1 && own == 1) {
        claimOverEnd(search, word);
    }
}

// Granules of level 2 in a row over as many words as it takes, from the lowest on. One thread.
OUTBOARD_DEVICE Chunk claimRow(const Heap* heap, u32 units, bool exact, u32& losses) {
    const u32 words = heap->bits.words[2];
    const u32 count = ceilingOf(units, 2 * RADIX_LOG2);
    u32 row = 0;  // free granules in a row before this word
    u64 ahead[AT_ONCE];  // words seen before they are used
    u32 from = 0;
    u32 to = 0;
    OUTBOARD_ROLLED
    for (u32 word = 0; word < words; ++word) {
        if (word == to) {
            from = word;
            to = least(words, least(word + AT_ONCE, (word | (RADIX - 1)) + 1));
            lookAtWords(heap, 2, word >> RADIX_LOG2, lowBits(to - from) << (word & (RADIX - 1)), exact, ahead);
        }
        u64 seen = ahead[word - from];
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
    search.found = claimRow(search.heap, search.units, search.exact, search.losses);
}

// The first thread's claim, for all of the group.
OUTBOARD_DEVICE bool share(Search& search) {
    const Group group(search.lanes);
    search.found.unit = group.fromFirst(search.found.unit);
    search.found.end = group.fromFirst(search.found.end);
    return search.found.unit != NO_UNIT;
}

// Looks for it on the level that was entered. Whether it was found.
OUTBOARD_DEVICE bool searchLevel(Search& search) {
    for (u32 word = 0; (word = findWord(search)) != NO_UNIT;) {
        if (search.rank == 0) {
            claimFound(search, word);
        }
        if (share(search)) {
            return true;
        }
        // Another was faster. There may be more in the same place: all of these go on from different words.
        search.turn = scaled(Group(search.lanes).fromFirst(scatter()), RADIX);
        const u32 hints = AT_ONCE * search.threads;
        if (++search.losses % (TRIES * hints) == 0) {
            search.next += hints;
        }
    }
    return false;
}

// Looks for it around, below the top level. Whether it was found. By all threads of the group.
OUTBOARD_SELDOM inline bool searchAround(Search& search) {
    search.losses = 0;
    OUTBOARD_ROLLED
    for (u32 level = levelFor(search.units); level < TOP_LEVEL; ++level) {
        search.enter(level, Group(search.lanes).fromFirst(scatter()));
        search.end = least(search.end, AROUND * search.threads);
        if (searchLevel(search)) {
            return true;
        }
    }
    return false;
}

// Looks for it on all levels: alone from the request's up, as memory moves that is promoted meanwhile; together, when it
// is about a place for more, from the top down. By all threads of the group.
//
// From the top down is fast, but divides what is whole though there are holes: after some time all is divided, and large
// blocks are refused in a heap that is mostly free (searchAround).
OUTBOARD_SELDOM inline void searchAll(Search& search) {
    const u32 own = levelFor(search.units);
    search.losses = 0;
    OUTBOARD_ROLLED
    for (u32 i = own; i <= TOP_LEVEL && search.units <= RADIX * GRANULE2_UNITS; ++i) {
        search.enter(search.count > 1 ? TOP_LEVEL + own - i : i, Group(search.lanes).fromFirst(scatter()));
        if (searchLevel(search)) {
            return;
        }
    }
    if (own == TOP_LEVEL && search.count == 1) {
        if (search.rank == 0) {
            claimLargeRow(search);
        }
        search.losses = Group(search.lanes).fromFirst(search.losses);
        share(search);
    }
}

// Whether nothing has become free since it began, and no claim was lost. By all threads of the group.
OUTBOARD_DEVICE bool isQuiet(const Search& search) {
    return search.losses == 0 && Group(search.lanes).all(freesSoFar(search.heap, ALONE) == search.frees);
}

OUTBOARD_DEVICE void note(const Search& search, u32 which) {
    if (search.rank == 0) {
        noteHopeless(search.heap, search.units, which, search.frees);
    }
}

// Whether to look around first: where granules of level 2 are scarce, as far as one of the upper words says, or the only one. In
// a small heap only: there slots have a quarter of them, so that holes are worth a search. By all threads of the group.
OUTBOARD_DEVICE bool isWorthLookingAround(const Search& search) {
    const Heap* const heap = search.heap;
    if (!isSmall(heap) || levelFor(search.units) == TOP_LEVEL) {
        return false;
    }
    const u32 words = heap->bits.words[TOP_LEVEL];
    const u32 word = words - 1 - scaled(Group(search.lanes).fromFirst(scatter()), words - lowerWords(heap));
    const u32 granules = least((heap->bits.words[0] >> RADIX_LOG2) - (word << RADIX_LOG2), RADIX);
    const u32 free = countOf(freeBits(heap, TOP_LEVEL, word).load());
    return Group(search.lanes).any(SCARCE * free < (SCARCE - 1) * granules);
}

// Chooses `count` threads to look for together; whether it makes sense.
OUTBOARD_SELDOM inline bool chooseTogether(Search& search) {
    const Group group(search.lanes);
    search.mine = (search.left >> group.lane() & 1) != 0 && countOf(search.left & group.lowerLanes()) < search.count;
    const u32 units = search.mine ? search.wanted : 0;
    search.lookTogether(group.fromLast(group.sumOfLowerRanks(units) + units));
    if (search.units > RADIX * GRANULE2_UNITS
        || group.any(isHopeless(search.heap, search.units, TOGETHER) || isHopeless(search.heap, search.units, ALONE))) {
        return false;
    }
    search.frees = freesSoFar(search.heap, TOGETHER);
    search.isAround = isWorthLookingAround(search);
    return true;
}

// After threads that got nothing together: how many to try for next. Half of them; or as many as want what one word was
// seen to have, up to a power of two, or what the level below may have.
OUTBOARD_SELDOM inline u32 fewerThan(const Search& search, bool searched) {
    u32 fewer = (search.count + 1) / 2;
    if (searched) {
        const Group group(search.lanes);
        // Who lost a claim may have missed others.
        if (search.losses == 0 && !group.any(isHopeless(search.heap, search.units, TOGETHER))) {
            note(search, TOGETHER);
        }
        u32 most = 1;
        OUTBOARD_ROLLED
        for (u32 step = 1; step < RADIX; step *= 2) {
            most = group.any(search.most >= step) ? 2 * step : most;
        }
        fewer = least(fewer, search.count * ((most << (levelFor(search.units) * RADIX_LOG2)) - 1) / search.units);
    }
    return fewer != 0 ? fewer : 1;
}

// Chooses the thread that wants least. Whether there is one that may get something.
OUTBOARD_SELDOM inline bool chooseSmallest(Search& search) {
    const Group group(search.lanes);
    u32 smallest = NO_UNIT;
    for (u32 left = group.lanesWhere(search.wanted != 0 && search.wanted < search.refused); left != 0; left &= left - 1) {
        const u32 lane = lowestBit(left);
        const u32 units = group.fromLane(search.wanted, lane);
        if (units < smallest) {
            smallest = units;
            search.mine = lane == group.lane();
        }
    }
    if (smallest == NO_UNIT || group.any(isHopeless(search.heap, smallest, ALONE))) {
        return false;
    }
    search.lookTogether(smallest);
    search.exact = false;
    search.frees = freesSoFar(search.heap, ALONE);
    return true;
}

// After a search for one thread that found nothing: begins to look exactly. Whether that is worth its time: only if the same
// has been asked for before, nothing has become free since, and no other group is at it or has found none by it. By all
// threads of the group.
OUTBOARD_SELDOM inline bool beginExactly(Search& search) {
    const Group group(search.lanes);
    if (!isQuiet(search)) {
        return false;
    }
    if (!group.any(isHopeless(search.heap, search.units, SUSPECTED))) {
        note(search, SUSPECTED);
        return false;
    }
    if (!group.any(search.rank == 0 && beginLook(search.heap, search.units, search.frees))) {
        return false;
    }
    search.exact = true;
    // The first fence makes what the first thread has added up an acquire pattern, and the barrier brings it to the others: who
    // counted one of these frees comes before all that they read. The second one, by each thread, pairs with the acquire of
    // who sets bits after it has looked.
    releaseFence();
    group.sync();
    releaseFence();
    promoteOwn(search);
    return true;
}

// After it.
OUTBOARD_SELDOM inline void endExactly(const Search& search) {
    if (search.found.unit == NO_UNIT && isQuiet(search)) {
        note(search, ALONE);
    }
    if (search.rank == 0) {
        endLook(search.heap, search.units, search.frees);
    }
}

// Begins to look for what this thread wants, by itself, where it happens to be: then it needn't wait for its turn. Whether
// that makes sense.
OUTBOARD_SELDOM inline bool chooseOwn(Search& search) {
    search.lookAlone(search.wanted);
    if (isHopeless(search.heap, search.wanted, ALONE)) {
        search.refused = search.wanted;
        return false;
    }
    search.enter(levelFor(search.wanted), scatter());
    return search.wanted <= RADIX * GRANULE2_UNITS;
}

OUTBOARD_SELDOM inline u32 findInOwnHints(Search& search) {
    u32 word = NO_UNIT;
    OUTBOARD_ROLLED
    for (u32 i = 0; i < AT_ONCE && word == NO_UNIT; ++i) {
        while (word == NO_UNIT && search.hints[i] != 0) {
            word = findAmongNext(search, i);
            word = word == NO_UNIT ? findAmongUnsure(search) : word;
        }
    }
    return word;
}

// The next word that it may be in, on the levels from the request's up; NO_UNIT after so many hints.
OUTBOARD_SELDOM inline u32 findAround(Search& search) {
    for (; search.level <= TOP_LEVEL; search.enter(search.level + 1, scatter())) {
        while (search.next < AROUND) {
            lookAtHints(search);
            const u32 word = findInOwnHints(search);
            clearStale(search);
            search.next += AT_ONCE;
            if (word != NO_UNIT) {
                return word;
            }
        }
    }
    return NO_UNIT;
}

}  // namespace outboard::detail
