// Bitmaps that are searched from above: level 0 has a bit for each thing, and each level above a bit for each word of the one
// below, which may have bits (Springer 2019, section 3). BitMalloc's levels have one level of such hints each, ObjectHeap's
// states of blocks two.
//
// Deviation from the paper: level 0 alone says what is so. What stands above are hints, and nobody waits until they are right:
// the paper's set(pos) and clear(pos) repeat until another thread has done its part. Who makes a word something else than zero
// sets its hint; who finds a word to be zero clears it:
//
//   set     OR of the word, acquire; if it was zero, OR of the hint, acquire.
//   lower   AND of the hint; fence; a look at the word by a read-modify-write; if it isn't zero, the hint is set again.
//
// One of the two comes later in the word's order. A look that does sees the bits. An OR that does acquires what the fence
// releases, and so sets the hint after it is cleared.
#pragma once

#include "platform.cuh"

namespace outboard::detail {

constexpr u32 RADIX_LOG2 = 6;
constexpr u32 RADIX = 1u << RADIX_LOG2;
constexpr u64 ALL = ~0ull;
constexpr u32 NO_BIT = ~0u;

OUTBOARD_DEVICE u64 bit64(u32 index) {
    return 1ull << (index & (RADIX - 1));
}

OUTBOARD_DEVICE u64 lowBits(u32 count) {
    return count >= RADIX ? ALL : (1ull << count) - 1;
}

// From a bit to the highest.
OUTBOARD_DEVICE u64 highBits(u32 from) {
    return ALL << (from & (RADIX - 1));
}

// The first set bit from one on, round to it again. Undefined for 0.
OUTBOARD_DEVICE u32 nextBit(u64 word, u32 from) {
    const u64 later = word & highBits(from);
    return lowestBit(later != 0 ? later : word);
}

template <u32 LEVELS>
struct Bitmap {
    u64* level[LEVELS];

    OUTBOARD_DEVICE GlobalAtomic<u64> word(u32 of, u32 index) const {
        return GlobalAtomic<u64>(level[of][index]);
    }

    // Sets a bit of a level, and those above it that say so. Acquire.
    OUTBOARD_DEVICE void raise(u32 of, u32 index) const {
        for (u32 i = of; i < LEVELS && word(i, index >> RADIX_LOG2).fetchOrAcquire(bit64(index)) == 0; ++i) {
            index >>= RADIX_LOG2;
        }
    }

    // Sets bits of one word of level 0; what it was. Acquire.
    OUTBOARD_DEVICE u64 set(u32 index, u64 bits) const {
        const u64 before = word(0, index).fetchOrAcquire(bits);
        if (before == 0) {
            raise(1, index);
        }
        return before;
    }

    // Clears a bit above level 0 whose word was seen to be zero, unless it isn't any more.
    OUTBOARD_SELDOM void lower(u32 of, u32 index) const {
        word(of, index >> RADIX_LOG2).clearBits(bit64(index));
        releaseFence();
        if (word(of - 1, index).fetchOr(0) != 0) {
            raise(of, index);
        }
    }

    // A set bit: in the word of `place`, else in one that is found from above, by `tops` words there; NO_BIT if none was seen.
    // Looks at each word once at most.
    OUTBOARD_SELDOM u32 find(u32 place, u32 tops) const {
        static_assert(LEVELS == 3, "two levels of hints");
        const u64 own = word(0, place >> RADIX_LOG2).load();
        if (own != 0) {
            return (place & ~(RADIX - 1)) + nextBit(own, place);
        }
        const u32 first = place >> (3 * RADIX_LOG2);
        for (u32 i = 0; i < tops; ++i) {
            const u32 top = first + i < tops ? first + i : first + i - tops;
            for (u64 hints = word(2, top).load(); hints != 0;) {
                const u32 hint = (top << RADIX_LOG2) + nextBit(hints, place >> (2 * RADIX_LOG2));
                const u32 found = findBelow(hint, place);
                if (found != NO_BIT) {
                    return found;
                }
                hints &= ~bit64(hint);
            }
        }
        return NO_BIT;
    }

  private:
    OUTBOARD_DEVICE u32 findBelow(u32 hint, u32 place) const {
        u64 words = word(1, hint).load();
        if (words == 0) {
            lower(2, hint);
        }
        while (words != 0) {
            const u32 index = (hint << RADIX_LOG2) + nextBit(words, place >> RADIX_LOG2);
            const u64 seen = word(0, index).load();
            if (seen != 0) {
                return (index << RADIX_LOG2) + nextBit(seen, place);
            }
            lower(1, index);
            words &= ~bit64(index);
        }
        return NO_BIT;
    }
};

}  // namespace outboard::detail
