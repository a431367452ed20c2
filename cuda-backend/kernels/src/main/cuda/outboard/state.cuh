// How a chunk's state stands in level 0 of the tables: the difference between CMalloc and CFMalloc.
//
// In both the low half of a word says for each of its 32 units "an open chunk starts here", and both halves together
// "a free chunk". Claiming a free chunk clears the bit in the high half, so that it stays in sight: a search that finds
// nothing but claimed chunks must look again, since what is left of them comes back.
//
//                            SeparateState            FusedState
//     unit                   low  high  start bit     low  high
//     no chunk starts here    0    0      0            0    0
//     free                    1    1      1            1    1
//     claimed                 1    0      1            1    0
//     used                    0    0      1            0    1
//
// Only who has claimed a chunk, or owns it, changes what lies between its start and its end. In every function the mask
// holds units of one word, and the states before and after are given in the order of its name's words above.
//
// What pairs, of the operations on a word of level 0:
//
// - Who makes a chunk free, or has claimed it and gives it back, releases; who claims it acquires: what the owner
//   before did to the memory, and where the chunk ends.
// - Who changes what a search may see releases, and searches acquire (nextOpen, endOfFree): what is left of a chunk is
//   in sight before the chunk is used, and a join is counted before what was joined is erased.
// - Who opens a chunk, frees it or publishes it, acquires, too, before he looks whether level 1 knows (opened): if a
//   closer's operation on the word (closeAbove) comes before his, he sees the bit cleared.
#pragma once

#include "heap.cuh"

namespace outboard::detail {

// CMalloc: flags and starts in words of their own, as the paper's flag and next pointer. Two accesses, but a claim
// needs no loop, and never fails because of a neighbour.
struct SeparateState {
    static constexpr u32 LAYOUT = LAYOUT_SEPARATE;

    // Acquire; pairs with publish and useSlice: who sees a start sees that what it was part of had been claimed.
    static OUTBOARD_DEVICE u32 starts(const Heap* heap, u32 word, u64) {
        return Atomic<u32>(heap->startBits[word]).load(ACQUIRE);
    }

    // Free to claimed, where it is so. Returns what it has claimed. `seen` is the word's state, as last seen; the next
    // variant claims all or nothing, and leaves in it what the state was then.
    static OUTBOARD_DEVICE u32 claim(const Heap* heap, u32 word, u32 mask, u64&) {
        // Acquire; pairs with who made them free.
        return high(Atomic<u64>(heap->level[0][word]).fetch_and(~(static_cast<u64>(mask) << 32), ACQUIRE)) & mask;
    }

    // Claimed to free.
    static OUTBOARD_DEVICE void giveBack(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with the next claim: the chunk may end elsewhere.
        Atomic<u64>(heap->level[0][word]).fetch_or(static_cast<u64>(mask) << 32, RELEASE);
    }

    // Claimed to no start at all: the chunk belongs to the one before it.
    static OUTBOARD_DEVICE void erase(const Heap* heap, u32 word, u32 mask) {
        // Relaxed: released with what follows. Release; pairs with searches, and with a checked free, which finds a
        // chunk closed and then finds out whether it starts there.
        Atomic<u32>(heap->startBits[word]).fetch_and(~mask, RELAXED);
        Atomic<u64>(heap->level[0][word]).fetch_and(~static_cast<u64>(mask), RELEASE);
    }

    // No start to free; the state before.
    static OUTBOARD_DEVICE u64 publish(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with starts(). Then release, for claims and searches, and acquire, for opened().
        Atomic<u32>(heap->startBits[word]).fetch_or(mask, RELEASE);
        return Atomic<u64>(heap->level[0][word]).fetch_or((static_cast<u64>(mask) << 32) | mask, ACQ_REL);
    }

    // Claimed to used.
    static OUTBOARD_DEVICE void use(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with searches: who sees no open chunk here sees what is left of it.
        Atomic<u64>(heap->level[0][word]).fetch_and(~static_cast<u64>(mask), RELEASE);
    }

    // No start to used.
    static OUTBOARD_DEVICE void useSlice(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with starts().
        Atomic<u32>(heap->startBits[word]).fetch_or(mask, RELEASE);
    }

    // Used to free. False if it isn't used, as far as can be told. `seen` is the state, as last seen, then as it was
    // before.
    static OUTBOARD_DEVICE bool release(const Heap* heap, u32 word, u32 mask, u64& seen) {
        const Atomic<u64> state(heap->level[0][word]);
#ifdef OUTBOARD_CHECKED
        // Claimed first: one of two frees does that, and then nobody else changes the chunk. What this misses, and
        // may take for a free chunk's, is a second free during which the chunk is joined to another and that one
        // divided at the same place; FusedState doesn't.
        // Acquire; pairs with erase, and as in opened().
        seen = state.fetch_or(mask, ACQ_REL);
        if ((low(seen) & mask) == 0 && (starts(heap, word, seen) & mask) == 0) {
            // Relaxed: nothing has been done.
            state.fetch_and(~static_cast<u64>(mask), RELAXED);
            return false;
        }
        if ((low(seen) & mask) == 0) {
            // Release; pairs with the next claim.
            state.fetch_or(static_cast<u64>(mask) << 32, RELEASE);
            return true;
        }
        return false;
#else
        // Release; pairs with the next claim. Acquire: for opened().
        seen = state.fetch_or((static_cast<u64>(mask) << 32) | mask, ACQ_REL);
        return (low(seen) & mask) == 0;
#endif
    }
};

// CFMalloc: all in one word, as the paper's fused flag and pointer. A quarter less of tables and one access less, but a
// claim has to be tried again when a neighbour in the word changes.
struct FusedState {
    static constexpr u32 LAYOUT = LAYOUT_FUSED;

    static OUTBOARD_DEVICE u32 starts(const Heap*, u32, u64 state) {
        return low(state) | high(state);
    }

    static OUTBOARD_DEVICE u32 claim(const Heap* heap, u32 word, u32 mask, u64& seen) {
        const Atomic<u64> state(heap->level[0][word]);
        while ((low(seen) & high(seen) & mask) == mask) {
            // Acquire; pairs with who made them free. Relaxed if it fails: then nothing is done with what was seen but
            // to try again.
            if (state.compare_exchange_weak(seen, seen & ~(static_cast<u64>(mask) << 32), ACQUIRE, RELAXED)) {
                return mask;
            }
        }
        return 0;
    }

    static OUTBOARD_DEVICE void giveBack(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with the next claim.
        Atomic<u64>(heap->level[0][word]).fetch_or(static_cast<u64>(mask) << 32, RELEASE);
    }

    static OUTBOARD_DEVICE void erase(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with searches.
        Atomic<u64>(heap->level[0][word]).fetch_and(~static_cast<u64>(mask), RELEASE);
    }

    static OUTBOARD_DEVICE u64 publish(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with claims and searches. Acquire: for opened().
        return Atomic<u64>(heap->level[0][word]).fetch_or((static_cast<u64>(mask) << 32) | mask, ACQ_REL);
    }

    static OUTBOARD_DEVICE void use(const Heap* heap, u32 word, u32 mask) {
        // Release; pairs with searches.
        Atomic<u64>(heap->level[0][word]).fetch_xor((static_cast<u64>(mask) << 32) | mask, RELEASE);
    }

    static OUTBOARD_DEVICE void useSlice(const Heap* heap, u32 word, u32 mask) {
        // Relaxed: opens nothing and hides nothing, and who frees the slice has its pointer from this thread.
        Atomic<u64>(heap->level[0][word]).fetch_or(static_cast<u64>(mask) << 32, RELAXED);
    }

    static OUTBOARD_DEVICE bool release(const Heap* heap, u32 word, u32 mask, u64& seen) {
        const Atomic<u64> state(heap->level[0][word]);
        // Release; pairs with the next claim. Acquire: for opened().
#ifdef OUTBOARD_CHECKED
        while ((high(seen) & ~low(seen) & mask) != 0) {
            if (state.compare_exchange_weak(seen, seen | mask, ACQ_REL, RELAXED)) {
                return true;
            }
        }
        return false;
#else
        seen = state.fetch_or(mask, ACQ_REL);
        return (low(seen) & mask) == 0;
#endif
    }
};

}  // namespace outboard::detail
