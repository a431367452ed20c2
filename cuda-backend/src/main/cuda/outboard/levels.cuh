// Levels 1 and above of the heap's tables: which words may have open chunks (the hierarchical bitmaps of Springer 2019,
// section 4). A bit may be set for nothing; who finds that out clears it, and so may who uses up a word's last open
// chunk. A bit is clear while it should be set only while who opened the chunk is about to set it, or who cleared it to
// look again.
#pragma once

#include "heap.cuh"

namespace outboard::detail {

// To be taken before a search of all of the heap, and given to mayHaveMissed after it.
OUTBOARD_DEVICE u32 changesSoFar(const Heap* heap) {
    return Atomic<u32>(heap->counters->updatesDone).load(ACQUIRE)
            + low(Atomic<u64>(heap->counters->joins).load(ACQUIRE));
}

// Whether an open chunk may have been out of the search's sight: because an update was under way, as fewer were done at
// its begin than are begun by now; or because it stood on what became part of a chunk before it. A join that was
// counted before the search began is no danger: the search comes to its first chunk, claimed, or as it is then.
OUTBOARD_DEVICE bool mayHaveMissed(const Heap* heap, u32 changes) {
    return Atomic<u32>(heap->counters->updatesBegun).load(ACQUIRE)
            + low(Atomic<u64>(heap->counters->joins).load(ACQUIRE))
            != changes;
}

// Whether the level above that word's has heard of its open entries, or will in an update that is counted.
OUTBOARD_DEVICE bool isKnownAbove(u64 word) {
    return low(word) != 0 && (word & EMPTIED) == 0;
}

// Tells the levels above that entry `index` of level - 1 has open chunks.
OUTBOARD_DEVICE void openAbove(const Heap* heap, u32 level, u32 index) {
    bool begun = false;
    while (level <= heap->top) {
        const Atomic<u64> word(heap->level[level][index >> WORD_LOG2]);
        u64 before = word.load(RELAXED);
        if ((low(before) & bitOf(index)) != 0) {
            // The entry was opened before. By the count, the compare-and-swap of who saw it closed fails.
            before = word.fetch_add(1ull << 32, AFTER_RESULT);
            if ((low(before) & bitOf(index)) == 0) {
                continue;
            }
        } else if (low(before) != 0) {
            before = word.fetch_or(bitOf(index), AFTER_RESULT);
        } else {
            // The first bit of the word: the next level must hear of it, and until it has, no search may be sure.
            if (!begun) {
                begun = true;
                // No release after it, which took a tenth of an allocation: where the count comes later than the bit, a
                // search may end too early, and malloc return null.
                Atomic<u32>(heap->counters->updatesBegun).fetch_add(1, RELAXED);
            }
            if (!word.compare_exchange_strong(before, (before | bitOf(index)) & ~EMPTIED, AFTER_RESULT, RELAXED)) {
                continue;
            }
        }
        if (isKnownAbove(before)) {
            break;
        }
        index >>= WORD_LOG2;
        ++level;
    }
    if (begun) {
        Atomic<u32>(heap->counters->updatesDone).fetch_add(1, AFTER_RESULT);
    }
}

// Whether level 1, whose word is `above`, knows of a word in which the caller has opened a chunk, so that he needn't
// tell it. `others` were open there before, and of these other threads have claimed those in `claimed`.
//
// If there are others, then level 1 knows, or another thread is about to tell it. That one may be stalled, so the bit
// is looked at; it is there nearly always. But who has claimed one may be about to clear the bit, see openedInstead.
OUTBOARD_DEVICE bool isKnown(u64 above, u32 word, u32 others, u32 claimed) {
    return others != 0 && claimed == 0 && (low(above) & bitOf(word)) != 0 && isKnownAbove(above);
}

// To be called by who has opened a chunk in a word, with the word's state before.
OUTBOARD_DEVICE void opened(const Heap* heap, u32 word, u64 before) {
    const u32 claimed = low(before) & ~high(before);
    if (low(before) == 0
        || !isKnown(Atomic<u64>(heap->level[1][wordOf(word)]).load(RELAXED), word, low(before), claimed)) {
        openAbove(heap, 1, word);
    }
}

// The same where the caller has opened, in `word`, what is left of the chunk at `unit`, which he has claimed and is
// about to use. If nothing else is open in that one's word, and the same word of level 1 has both bits, its bit is
// cleared together with the setting of the other, by one access more; else a search would have to find out.
//
// Nobody misses an open chunk by that. If another is opened in the claimed one's word before level 1 is read here, it
// is seen here. If later, then by a thread that sees the claimed one, and changes the count of level 1's word or finds
// the bit cleared.
OUTBOARD_DEVICE void openedInstead(const Heap* heap, u32 unit, u32 word, u64 before) {
    const u32 usedUp = wordOf(unit);
    const Atomic<u64> above(heap->level[1][wordOf(word)]);
    u64 seen = above.load(ACQUIRE);
    const u32 own = word == usedUp ? bitOf(unit) : 0;
    if (isKnown(seen, word, low(before), low(before) & ~high(before) & ~own)) {
        return;
    }
    if (word != usedUp && wordOf(word) == wordOf(usedUp) && isKnownAbove(seen)) {
        const u32 open = low(Atomic<u64>(heap->level[0][usedUp]).load(RELAXED));
        const u64 moved = ((seen & ~static_cast<u64>(bitOf(usedUp))) | bitOf(word)) + (1ull << 32);
        if ((open & (open - 1)) == 0 && above.compare_exchange_strong(seen, moved, ACQ_REL, RELAXED)) {
            return;
        }
    }
    openAbove(heap, 1, word);
}

// Clears the bit of entry `index` of level - 1, which was seen without open chunks.
OUTBOARD_DEVICE void closeAbove(const Heap* heap, u32 level, u32 index) {
    const Atomic<u64> word(heap->level[level][index >> WORD_LOG2]);
    u64 seen = word.load(ACQUIRE);
    if ((low(seen) & bitOf(index)) == 0) {
        return;
    }
    const Atomic<u64> entry(heap->level[level - 1][index]);
    Atomic<u32>(heap->counters->updatesBegun).fetch_add(1, RELAXED);
    // The entry is read after the word, so whoever opens it later changes the word's count later.
    u64 closed = seen & ~static_cast<u64>(bitOf(index));
    if (low(closed) == 0) {
        closed |= EMPTIED;
    }
    if (low(entry.load(ACQUIRE)) == 0 && word.compare_exchange_strong(seen, closed, ACQ_REL, RELAXED)) {
        // Pairs with the read in opened(), which doesn't count: one of the two sees the other. That one follows an
        // operation whose result the thread has waited for, which orders the two on a GPU, not in its memory model.
        fullFence();
        if (low(entry.load(RELAXED)) != 0) {
            openAbove(heap, level, index);
        }
    }
    Atomic<u32>(heap->counters->updatesDone).fetch_add(1, RELEASE);
}

// An open chunk's first unit, and the state of its word, as seen.
struct Sight {
    u32 unit;
    u64 state;
};

// The first open chunk that starts at a unit or after it, or NO_UNIT. Up while there is none, down where there is one.
OUTBOARD_DEVICE Sight nextOpen(const Heap* heap, u32 unit) {
    u32 level = 0;
    u32 index = unit;
    while (true) {
        const u64 state = Atomic<u64>(heap->level[level][index >> WORD_LOG2]).load(SEARCH);
        const u32 from = low(state) & bitsFrom(index);
        if (from != 0) {
            index = (index & ~(WORD_UNITS - 1)) | lowestBit(from);
            if (level == 0) {
                return {index, state};
            }
            --level;
            index <<= WORD_LOG2;
        } else {
            if (level == heap->top) {
                return {NO_UNIT, 0};
            }
            ++level;
            index >>= WORD_LOG2;
            if (low(state) == 0) {
                closeAbove(heap, level, index);
            }
            ++index;
        }
    }
}

}  // namespace outboard::detail
