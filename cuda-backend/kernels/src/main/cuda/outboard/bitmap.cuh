// Bits in words, and bitmaps that are searched from above: level 0 has a bit for each thing, and each level above a bit for
// each word of the one below, which has bits (Springer 2019, section 3).
//
// Deviation from the paper: there, set(pos) and clear(pos) repeat until the bit above is what it must be, and so wait for the
// threads that are about to make it so. Here nobody waits, and nobody looks. The changes of a word are in an order, and in it
// becoming zero and becoming something else take turns. Who makes one of these changes knows it by the answer of its atomic
// operation, and turns the bit above over (exclusive or), once. In which order these arrive there doesn't matter: when all
// have, the bit is right. Until then it may be wrong either way.
//
// BitMalloc's levels have hints instead: a claim there turns words into zero all the time, and doesn't pay for telling.
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

// Words above level 0 stand so far apart: in lines of the L2 cache of their own, since they are few and many threads change them.
constexpr u32 APART = 16;

// Others change what is looked at near a place: bits above may say of so many words in a row what isn't so any more.
constexpr u32 NEAR = 4;

template <u32 LEVELS>
struct Bitmap {
    u64* level[LEVELS];

    OUTBOARD_DEVICE GlobalAtomic<u64> word(u32 of, u32 index) const {
        return GlobalAtomic<u64>(level[of][of == 0 ? index : index * APART]);
    }

    // Turns a bit of a level over; what its word was before, for tell().
    OUTBOARD_DEVICE u64 turn(u32 of, u32 index) const {
        return word(of, index >> RADIX_LOG2).fetchXor(bit64(index));
    }

    // To be called by who has changed a bit of a level, with what its word was before: turns over what stands above.
    OUTBOARD_DEVICE void tell(u64 before, u32 of, u32 index) const {
        while ((before == 0 || before == bit64(index)) && ++of < LEVELS) {
            index >>= RADIX_LOG2;
            before = turn(of, index);
        }
    }

    // Sets a bit of level 0, which isn't set.
    OUTBOARD_DEVICE void set(u32 index) const {
        tell(turn(0, index), 0, index);
    }

    // Clears a bit of level 0; whether it was set. Acquire.
    OUTBOARD_DEVICE bool take(u32 index) const {
        const u64 before = word(0, index >> RADIX_LOG2).fetchAndAcquire(~bit64(index));
        if (before == bit64(index)) {
            tell(before, 0, index);
        }
        return (before & bit64(index)) != 0;
    }

    // Looks for bits near a place: in its word and in the one above that. For near(): a GPU waits for what it reads when it uses
    // it.
    struct Look {
        u64 own;
        u64 above;
    };

    OUTBOARD_DEVICE Look look(u32 place) const {
        return {word(0, place >> RADIX_LOG2).load(), word(1, place >> (2 * RADIX_LOG2)).load()};
    }

    // A set bit of those that have the same word above; NO_BIT if none was seen in the first NEAR words.
    OUTBOARD_DEVICE u32 near(const Look& look, u32 place) const {
        return look.own != 0 ? (place & ~(RADIX - 1)) + nextBit(look.own, place)
                             : below(look.above, place >> (2 * RADIX_LOG2), place, NEAR);
    }

    // A set bit anywhere, by so many words at the top; NO_BIT if none was seen. Reads each word once at most.
    OUTBOARD_SELDOM u32 find(u32 place, u32 tops) const {
        static_assert(LEVELS == 3, "two levels above the bits");
        const u32 first = place >> (3 * RADIX_LOG2);
        for (u32 i = 0; i < tops; ++i) {
            const u32 top = first + i < tops ? first + i : first + i - tops;
            for (u64 words = word(2, top).load(); words != 0;) {
                const u32 index = (top << RADIX_LOG2) + nextBit(words, place >> (2 * RADIX_LOG2));
                const u32 found = below(word(1, index).load(), index, place, RADIX);
                if (found != NO_BIT) {
                    return found;
                }
                words &= ~bit64(index);
            }
        }
        return NO_BIT;
    }

  private:
    // In the words of level 0 that a word of level 1 has bits for.
    OUTBOARD_DEVICE u32 below(u64 words, u32 of, u32 place, u32 most) const {
        for (; words != 0 && most != 0; --most) {
            const u32 index = (of << RADIX_LOG2) + nextBit(words, place >> RADIX_LOG2);
            const u64 seen = word(0, index).load();
            if (seen != 0) {
                return (index << RADIX_LOG2) + nextBit(seen, place);
            }
            words &= ~bit64(index);
        }
        return NO_BIT;
    }
};

}  // namespace outboard::detail
