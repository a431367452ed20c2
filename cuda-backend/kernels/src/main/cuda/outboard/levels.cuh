// Levels 1 and above of the heap's tables: which words may have open chunks (the hierarchical bitmaps of Springer 2019,
// section 4). A bit may be set for nothing; who finds that out clears it, and so may who uses up a word's last open
// chunk. A bit is clear while it should be set only while who opened the chunk is about to set it, or who cleared it to
// look again.
#pragma once

#include "heap.cuh"

namespace outboard::detail {

// To be taken before a search of all of the heap, and given to mayHaveMissed after it.
OUTBOARD_DEVICE u32 changesSoFar(const Heap* heap) {
    // Acquire; pairs with the releases of who counts an update or a join: the search sees what they did before.
    return Atomic<u32>(heap->counters->updatesDone).load(ACQUIRE)
            + low(Atomic<u64>(heap->counters->joins).load(ACQUIRE));
}

// Whether an open chunk may have been out of the search's sight: because an update was under way, as fewer were done at
// its begin than are begun by now; or because it stood on what became part of a chunk before it. A join that was
// counted before the search began is no danger: the search comes to its first chunk, claimed, or as it is then.
OUTBOARD_DEVICE bool mayHaveMissed(const Heap* heap, u32 changes) {
    // Relaxed: who counts does so before a release, and if the search has read what was written with that, or after it,
    // then it has acquired the count, too.
    return Atomic<u32>(heap->counters->updatesBegun).load(RELAXED)
            + low(Atomic<u64>(heap->counters->joins).load(RELAXED))
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
        // Relaxed: only says which of the three to try. They release, for searches and openedInstead, which acquire:
        // who sees the bit, or the count, sees the open entry. They acquire what who set the word's first bit released:
        // that the update of the next level is counted.
        u64 before = word.load(RELAXED);
        if ((low(before) & bitOf(index)) != 0) {
            // The entry was opened before. By the count, the compare-and-swap of who saw it closed fails.
            before = word.fetch_add(1ull << 32, ACQ_REL);
            if ((low(before) & bitOf(index)) == 0) {
                continue;
            }
        } else if (low(before) != 0) {
            before = word.fetch_or(bitOf(index), ACQ_REL);
        } else {
            // The first bit of the word: the next level must hear of it, and until it has, no search may be sure.
            if (!begun) {
                begun = true;
                // Relaxed: released with the bit.
                Atomic<u32>(heap->counters->updatesBegun).fetch_add(1, RELAXED);
            }
            if (!word.compare_exchange_strong(before, (before | bitOf(index)) & ~EMPTIED, ACQ_REL, RELAXED)) {
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
        // Release; pairs with changesSoFar: a search that begins now sees the levels as they are.
        Atomic<u32>(heap->counters->updatesDone).fetch_add(1, RELEASE);
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
    // Acquire; pairs with openAbove, as its own operations do. That a closer's clearing is seen here, or the open chunk
    // there, is up to the operations of both on the chunk's word, see closeAbove.
    if (low(before) == 0
        || !isKnown(Atomic<u64>(heap->level[1][wordOf(word)]).load(ACQUIRE), word, low(before), claimed)) {
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
    // Acquire; pairs with openAbove: if it counts what was opened in the other word, that is seen there below. And as
    // in opened().
    u64 seen = above.load(ACQUIRE);
    const u32 own = word == usedUp ? bitOf(unit) : 0;
    if (isKnown(seen, word, low(before), low(before) & ~high(before) & ~own)) {
        return;
    }
    if (word != usedUp && wordOf(word) == wordOf(usedUp) && isKnownAbove(seen)) {
        const u32 open = low(Atomic<u64>(heap->level[0][usedUp]).load(RELAXED));
        const u64 moved = ((seen & ~static_cast<u64>(bitOf(usedUp))) | bitOf(word)) + (1ull << 32);
        // Release; pairs with searches: who sees the bits moved sees what is left of the chunk.
        if ((open & (open - 1)) == 0 && above.compare_exchange_strong(seen, moved, RELEASE, RELAXED)) {
            return;
        }
    }
    openAbove(heap, 1, word);
}

// Clears the bit of entry `index` of level - 1, which was seen without open chunks.
OUTBOARD_DEVICE void closeAbove(const Heap* heap, u32 level, u32 index) {
    const Atomic<u64> word(heap->level[level][index >> WORD_LOG2]);
    // Acquire; pairs with openAbove: whoever opens the entry and isn't seen below changes the word's count later.
    u64 seen = word.load(ACQUIRE);
    if ((low(seen) & bitOf(index)) == 0) {
        return;
    }
    const Atomic<u64> entry(heap->level[level - 1][index]);
    // Relaxed: released with the cleared bit.
    Atomic<u32>(heap->counters->updatesBegun).fetch_add(1, RELAXED);
    u64 closed = seen & ~static_cast<u64>(bitOf(index));
    if (low(closed) == 0) {
        closed |= EMPTIED;
    }
    // Release; pairs with searches: who sees the bit cleared sees the update counted.
    if (low(entry.load(RELAXED)) == 0 && word.compare_exchange_strong(seen, closed, RELEASE, RELAXED)) {
        // Who has opened the entry and didn't count, since he saw the bit set, is seen now: by an operation that
        // changes nothing, but has its place among all on the entry. If the other's comes after it, then that one
        // acquires what this one releases, and finds the bit cleared.
        if (low(entry.fetch_or(0, ACQ_REL)) != 0) {
            openAbove(heap, level, index);
        }
    }
    // Release; pairs with changesSoFar.
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
        // Acquire; pairs with whatever changed the word. Who has used up, joined or moved what was here has shown
        // before what is left of it, and counted: what is read next is at least as new.
        const u64 state = Atomic<u64>(heap->level[level][index >> WORD_LOG2]).load(ACQUIRE);
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
