// What is free stands in bitmaps outside of the memory: BitMalloc's tables, and the claims and gifts that change them.
//
// level 0     a bit a unit, 64 to a word:        a word is 1 KiB of the area.
// level 1     a bit for each word of level 0:    a word is 64 KiB.
// level 2     a bit for each word of level 1:    a word is 4 MiB.
//
// A set bit: its granule is wholly free, and stands on no other level. So a word of level 0 that becomes all ones becomes
// zero, and its bit is set on level 1, and so on (promotion); a granule that is divided goes the other way. To claim is an
// atomic AND that saw the bits set, to give back an atomic OR; neighbours join because their bits lie side by side. On the
// host, BitmaskStrategy is the same idea with one thread: there a bit marks a boundary between granules.
//
// hints       a bit for each word of a level: it may have free granules. Set for nothing now and then; who finds that out
//             clears it.
// own         a bit for each word of levels 0 and 1: it is a slot's own. Such a word stays when it is all ones, since its
//             slot will divide it again. What is marked is a slot's, or a call is under way that is just making it one or
//             has taken it from one. A mark may be lost where two slots have the same word, or two calls made it one
//             slot's: that costs a promotion too many.
// ends        for each word of level 0 either bits, set at the last unit of each block, or the end of the one block that
//             covers all of the word, as a number.
// wholes      a byte for each of these words: 1 if it is a number. What free memory has in ends and wholes is of no
//             account, but wholes is 0 wherever level 0 has bits.
// claims      a bit for each granule of level 2 that isn't free there: a claim begins at its first unit. For scans.
// starts      a bit a unit: a block starts there. Only in heaps for the checked build.
//
// Memory order, by the PTX memory model:
// - Every change of free bits is an atomic read-modify-write, so those of one word are in one order, in which each
//   observes the one before. Who gives executes a fence between what its block's users did and the OR (a release
//   pattern); who claims does an acquire AND, and observes that OR directly or through others': so whatever was done with
//   a block happens before its next owner has it.
// - Whoever sets free bits, and then a hint, and then counts that (frees), does the first two with an acquire OR. An exact
//   search adds up the counts, executes a fence, and then looks at hints and free bits with a read-modify-write too. One of
//   the two comes later in a word's order: a search that does sees the bits, and is seen to have added up before they are
//   counted if it doesn't.
// - ends and wholes are relaxed. Who frees a block has its address from its malloc through whatever order the program
//   has for that, release and acquire between threads, __syncwarp within a warp; so it also has its end.
#pragma once

#include "bitmap.cuh"
#include "heap.cuh"

namespace outboard::detail {

constexpr u32 TOP_LEVEL = 2;
constexpr u32 GRANULE2_UNITS = RADIX * RADIX;

// Warps of a multiprocessor with slots of their own. A warp beyond shares one.
constexpr u32 SLOTS_PER_MULTIPROCESSOR = 32;

// So many multiprocessors count frees apart, and as many counters are added up.
constexpr u32 FREE_COUNTERS = 16;

// A claim of one word is tried so often: after that its other users get somewhere, and this one goes elsewhere.
constexpr u32 TRIES = 3;

OUTBOARD_DEVICE u32 ceilingOf(u32 units, u32 log2) {
    return (units + (1u << log2) - 1) >> log2;
}

OUTBOARD_DEVICE u32 least(u32 a, u32 b) {
    return a < b ? a : b;
}

// The bits at which so many set ones begin.
OUTBOARD_DEVICE u64 runsOf(u64 word, u32 count) {
    u32 known = 1;
    while (known < count) {
        const u32 step = least(known, count - known);
        word &= word >> step;
        known += step;
    }
    return word;
}

// The level on which so many units are claimed, for all threads of a warp or for one.
OUTBOARD_DEVICE u32 levelFor(u32 units) {
    return units < RADIX ? 0 : units <= GRANULE2_UNITS ? 1 : TOP_LEVEL;
}

OUTBOARD_DEVICE GlobalAtomic<u64> freeBits(const Heap* heap, u32 level, u32 word) {
    return GlobalAtomic<u64>(heap->bits.free[level][word]);
}

// Whether it has slots for a part of the warps only. These have a quarter of all granules of level 2 then.
OUTBOARD_DEVICE bool isSmall(const Heap* heap) {
    return heap->bits.slotCount < heap->bits.multiprocessors * SLOTS_PER_MULTIPROCESSOR;
}

// So many words of level 2 have the granules that slots begin with. What is divided stays so for long: if it were everywhere,
// there would be no rows for large blocks. Closer together, slots get into each other's way, by sectors of the tables; so in a
// large heap they have all but an eighth.
OUTBOARD_DEVICE u32 lowerWords(const Heap* heap) {
    const u32 words = heap->bits.words[TOP_LEVEL];
    return words - words / (isSmall(heap) ? 2 : 8);
}

// The number of the multiprocessor, below the heap's. They need not be numbered without gaps.
OUTBOARD_DEVICE u32 ownMultiprocessor(const Heap* heap) {
    u32 number = multiprocessor();
    if (number >= heap->bits.multiprocessors) {
        number %= heap->bits.multiprocessors;
    }
    return number;
}

OUTBOARD_DEVICE Slot* ownSlot(const Heap* heap) {
    const u32 warp = warpOfMultiprocessor() & (SLOTS_PER_MULTIPROCESSOR - 1);
    u32 slot = warp * heap->bits.multiprocessors + ownMultiprocessor(heap);
    if (slot >= heap->bits.slotCount) {
        slot %= heap->bits.slotCount;
    }
    return heap->bits.slots + slot;
}

// What a slot says, as last seen.
struct SlotView {
    u32 word0;
    u32 word1;
    u32 granule;
    u32 places;

    OUTBOARD_DEVICE explicit SlotView(const Slot* slot) {
        const FourWords four = loadFour(slot->word);
        word0 = four.a;
        word1 = four.b;
        granule = four.c;
        places = four.d;
    }

    // The words that it says nothing of.
    OUTBOARD_DEVICE SlotView() : word0(NO_UNIT), word1(NO_UNIT), granule(NO_UNIT), places(0) {}

    OUTBOARD_DEVICE u32 word(u32 level) const {
        return level == 0 ? word0 : word1;
    }

    OUTBOARD_DEVICE u32 place(u32 level) const {
        return level == 0 ? places & 0xFFFF : places >> 16;
    }
};

// Where the slot's own word has nothing: its next claim there is not made unseen.
constexpr u32 NO_PLACE = 0xFFFF;

OUTBOARD_DEVICE void setPlace(Slot* slot, u32 level, u32 place) {
    GlobalAtomic<unsigned short>(slot->place[level]).store(static_cast<unsigned short>(place));
}

// Says that memory has become free, to searches that found none. After an acquire operation that set its bits: see
// "Memory order" above.
OUTBOARD_DEVICE void countFree(const Heap* heap) {
    GlobalAtomic<u64>(heap->bits.frees[multiprocessor() % FREE_COUNTERS].frees).increment();
}

// The same of what a claim leaves of its last granule: it was free before.
OUTBOARD_DEVICE void countRest(const Heap* heap) {
    GlobalAtomic<u64>(heap->bits.frees[multiprocessor() % FREE_COUNTERS].rests).increment();
}

// Sets free bits, and says that the word has some if it had none.
OUTBOARD_DEVICE u64 setFree(const Heap* heap, u32 level, u32 word, u64 granules) {
    const u64 before = freeBits(heap, level, word).fetchOrAcquire(granules);
    if (before == 0) {
        // Acquire: a search that looks at the hint before comes before what is counted after.
        GlobalAtomic<u64>(heap->bits.hints[level][word >> RADIX_LOG2]).fetchOrAcquire(bit64(word));
    }
    return before;
}

OUTBOARD_DEVICE bool isOwn(const Heap* heap, u32 level, u32 word) {
    return (GlobalAtomic<u64>(heap->bits.own[level][word >> RADIX_LOG2]).load() & bit64(word)) != 0;
}

// Makes granules of one word free, which the caller owns, after a fence; and promotes what becomes whole by that.
OUTBOARD_DEVICE void give(const Heap* heap, u32 level, u32 word, u64 granules, Slot* slot, const SlotView& view) {
    while (true) {
        const u64 before = setFree(heap, level, word, granules);
        const u64 now = before | granules;
        if ((before & granules) != 0) {
            heap->countMisuse();  // freed twice, as far as this can be told
        }
        // The next claim takes what was freed last: it is in the L2 cache yet.
        if (level == TOP_LEVEL) {
            if (view.granule >> RADIX_LOG2 == word) {
                GlobalAtomic<u32>(slot->granule).store((word << RADIX_LOG2) + lowestBit(granules));
            }
            return;
        }
        if (view.word(level) == word) {
            const u32 place = lowestBit(now) << (level * RADIX_LOG2);
            if (place != view.place(level)) {
                setPlace(slot, level, place);
            }
        }
        if (now != ALL || isOwn(heap, level, word)) {
            return;
        }
        // Who makes a word whole promotes it. If another has claimed of it since, then who makes it whole next does.
        if (freeBits(heap, level, word).compareAndSwap(ALL, 0) != ALL) {
            return;
        }
        releaseFence();
        granules = bit64(word);
        word >>= RADIX_LOG2;
        ++level;
    }
}

// Makes granules of a word free that a claim got without getting all that it wanted; or, if there are none, promotes the
// word if it stayed when it became whole: that is counted too, as a search may look for it above before it is there, and
// below after it was.
OUTBOARD_DEVICE void settle(const Heap* heap, u32 level, u32 word, u64 granules) {
    releaseFence();
    while (true) {
        const u64 now = granules == 0 ? freeBits(heap, level, word).fetchOr(0) : setFree(heap, level, word, granules) | granules;
        if (now != ALL || level == TOP_LEVEL || (granules != 0 && isOwn(heap, level, word))
            || freeBits(heap, level, word).compareAndSwap(ALL, 0) != ALL) {
            break;
        }
        releaseFence();
        granules = bit64(word);
        word >>= RADIX_LOG2;
        ++level;
    }
    countFree(heap);
}

// Claims granules of a word, all or none. `seen`: what the word was.
OUTBOARD_DEVICE bool claim(const Heap* heap, u32 level, u32 word, u64 granules, u64& seen) {
    seen = freeBits(heap, level, word).fetchAndAcquire(~granules);
    const u64 got = seen & granules;
    if (got == granules) {
        return true;
    }
    if (got != 0) {
        settle(heap, level, word, got);
    }
    return false;
}

// A word that becomes a slot's own, in place of one that was. What the caller sets free between the constructor and end()
// comes after a fence, and doesn't wait for what the constructor looks at.
class Move {
    const Heap* const heap;
    const u32 level;
    const u32 expected;
    const u32 before;
    u64 state;

    OUTBOARD_DEVICE u32 exchange(Slot* slot, u32 word) const {
        GlobalAtomic<u64>(heap->bits.own[level][word >> RADIX_LOG2]).setBits(bit64(word));
        return GlobalAtomic<u32>(slot->word[level]).exchange(word);
    }

  public:
    // `expectedBefore`: the slot's own word, as last seen.
    OUTBOARD_DEVICE Move(const Heap* theHeap, Slot* slot, u32 theLevel, u32 word, u32 expectedBefore)
        : heap(theHeap), level(theLevel), expected(expectedBefore), before(exchange(slot, word)), state(0) {
        const bool leaves = expected != word;
        if (leaves) {
            GlobalAtomic<u64>(heap->bits.own[level][expected >> RADIX_LOG2]).clearBits(bit64(expected));
        }
        // Pairs with give(): who makes a word whole that this one leaves either is seen here, by an operation that has its
        // place among all on the word; or comes later, and so acquires what the fence releases: the mark is gone for him.
        releaseFence();
        if (leaves) {
            state = freeBits(heap, level, expected).fetchOr(0);
        }
    }

    OUTBOARD_DEVICE void end() const {
        if (state == ALL) {
            settle(heap, level, expected, 0);
        }
        if (before != expected) {
            leave(heap, level, before);
        }
    }

  private:
    static OUTBOARD_SELDOM void leave(const Heap* heap, u32 level, u32 word) {
        GlobalAtomic<u64>(heap->bits.own[level][word >> RADIX_LOG2]).clearBits(bit64(word));
        settle(heap, level, word, 0);
    }
};

}  // namespace outboard::detail
