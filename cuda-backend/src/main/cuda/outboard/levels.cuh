// Levels 1 and above of the heap's tables: which words may have open chunks (the hierarchical bitmaps of Springer 2019,
// section 4). A bit may be set for nothing; who finds that out clears it. A bit is never clear for long while it should
// be set, and while it is, updatesBegun and updatesDone differ.
#pragma once

#include "heap.cuh"

namespace outboard {

// Tells the levels above that entry `index` of level - 1 has open chunks.
OUTBOARD_DEVICE void openAbove(Heap* heap, u32 level, u32 index) {
    bool begun = false;
    for (; level <= heap->top; ++level) {
        Atomic<u64> word(heap->level[level][index >> WORD_LOG2]);
        // Release: the entry was opened before. With the count, the compare-and-swap of who saw it closed fails.
        const u64 before = word.fetch_add(1ull << 32, ACQ_REL);
        if ((low(before) & bitOf(index)) != 0) {
            break;
        }
        if (low(before) == 0 && level < heap->top && !begun) {
            begun = true;
            Atomic<u64>(heap->updatesBegun).fetch_add(1, RELAXED);
        }
        if (low(word.fetch_or(bitOf(index), ACQ_REL)) != 0) {
            break;
        }
        index >>= WORD_LOG2;
    }
    if (begun) {
        Atomic<u64>(heap->updatesDone).fetch_add(1, RELEASE);
    }
}

// To be called by who has opened a chunk in a word, with the word's state before.
OUTBOARD_DEVICE void opened(Heap* heap, u32 word, u64 before) {
    // If others are open in the word, then level 1 knows, or another thread is about to tell it. That one may be
    // stalled, so look; the bit is there nearly always.
    if (low(before) == 0
        || (low(Atomic<u64>(heap->level[1][word >> WORD_LOG2]).load(RELAXED)) & bitOf(word)) == 0) {
        openAbove(heap, 1, word);
    }
}

// Clears the bit of entry `index` of level - 1, which was seen without open chunks.
OUTBOARD_DEVICE void closeAbove(Heap* heap, u32 level, u32 index) {
    Atomic<u64> word(heap->level[level][index >> WORD_LOG2]);
    u64 seen = word.load(ACQUIRE);
    if ((low(seen) & bitOf(index)) == 0) {
        return;
    }
    Atomic<u64> entry(heap->level[level - 1][index]);
    Atomic<u64>(heap->updatesBegun).fetch_add(1, RELAXED);
    // The entry is read after the word, so whoever opens it later changes the word's count later.
    if (low(entry.load(ACQUIRE)) == 0
        && word.compare_exchange_strong(seen, seen & ~static_cast<u64>(bitOf(index)), ACQ_REL, RELAXED)) {
        fullFence();  // pairs with the read in opened(), which doesn't count: one of the two sees the other
        if (low(entry.load(RELAXED)) != 0) {
            openAbove(heap, level, index);
        }
    }
    Atomic<u64>(heap->updatesDone).fetch_add(1, RELEASE);
}

// The first open chunk that starts at a unit or after it, or NO_UNIT. Up while there is none, down where there is one.
OUTBOARD_DEVICE u32 nextOpen(Heap* heap, u32 unit) {
    u32 level = 0;
    u32 index = unit;
    while (true) {
        const u32 all = low(Atomic<u64>(heap->level[level][index >> WORD_LOG2]).load(ACQUIRE));
        const u32 from = all & bitsFrom(index);
        if (from != 0) {
            index = (index & ~(WORD_UNITS - 1)) | lowestBit(from);
            if (level == 0) {
                return index;
            }
            --level;
            index <<= WORD_LOG2;
        } else {
            if (level == heap->top) {
                return NO_UNIT;
            }
            ++level;
            index >>= WORD_LOG2;
            if (all == 0) {
                closeAbove(heap, level, index);
            }
            ++index;
        }
    }
}

}  // namespace outboard
