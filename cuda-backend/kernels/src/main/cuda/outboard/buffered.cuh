// Buffered: keeps some freed blocks of any allocator, by size, and hands them out again, so that most calls don't reach the
// allocator behind (Huang et al. 2013, section 5.2). It serves one request a warp where Coalesced stands before it,
// Coalesced<Buffered<CudaMalloc>>, as in the paper; xmalloc.cuh is this with the paper's parameters.
//
//     __device__ outboard::Buffers<> buffers;  // zeroes: ready for use
//
//     outboard::Buffered<outboard::CudaMalloc> allocator({heap}, &buffers);
//     outboard::Coalesced<outboard::Buffered<outboard::CudaMalloc>> ofWarps{{{{heap}, &buffers}}};
//
// A buffer is a queue of up to DEPTH blocks of one size class; of each class there are QUEUES, of which a thread takes any, so
// that threads seldom meet. Sizes are rounded up to a class, four to each doubling. Each block has 16 bytes before it, which
// say the class. What is larger than the largest class isn't kept.
//
// head, tail   numbers of the next block to take and of the next place to fill, which only grow (the paper's sequence numbers).
// place        of number n: place n % DEPTH. A word: the block's address, 0 for none, and how often the place has been emptied,
//              modulo 2^16.
//
// put    fills the place at the tail by a compare-and-swap, if it is empty and has been emptied as often as it should be, and
//        then moves the tail on.
// take   empties the place at the head by another, if there is a block in it, and moves the head on.
//
// Whoever finds that this has been done already at the tail or at the head moves that number on himself: a thread that stops
// between its two steps holds up nobody. (In the paper the tail's block is part of the tail, so that one operation does both;
// its addresses have 32 bits.) What is done depends on what the place says, and not on where head and tail were seen: when a
// thread sleeps until the count in a place comes round, it fills or empties the place as well as any other would then.
//
// When the allocator behind has nothing left, its memory may lie in buffers of other sizes: then all of them are emptied into it,
// and it is asked once more. A request may get nothing though there is some in the hands of others who empty them, and each
// request that is larger than what there is empties them again.
//
// Bounds: a call looks at one queue, and there makes so many attempts (ATTEMPTS); then it calls the allocator behind. A call that
// empties the buffers makes DEPTH * ATTEMPTS of them for each queue at most. Nobody waits.
//
// Buffers belong to their heap: when that is reset, they must be zeroes again. A thread that sleeps within a call while a place
// is emptied 65,536 times may fill it out of turn; then the block there is taken when its turn comes.
//
// Memory order, by the PTX memory model: a block is put by a release compare-and-swap, and taken by an acquire one of the word
// that the first one wrote: what was done with a block happens before its next owner has it.
#pragma once

#include "coalesced.cuh"

namespace outboard {

namespace detail {

constexpr u32 LEAST_CLASS_LOG2 = 6;
constexpr u32 MOST_CLASS_LOG2 = 16;
constexpr u32 STEPS_LOG2 = 2;
constexpr u32 SIZE_CLASSES = ((MOST_CLASS_LOG2 - LEAST_CLASS_LOG2) << STEPS_LOG2) + 1;
constexpr u32 NO_CLASS = ~0u;

// The smallest class of blocks of so many bytes; NO_CLASS if they are too large.
OUTBOARD_DEVICE u32 sizeClassOf(u64 bytes) {
    if (bytes <= 1u << LEAST_CLASS_LOG2) {
        return 0;
    }
    const u32 doubling = highestBit(bytes - 1);
    const u32 step = static_cast<u32>((bytes - 1) >> (doubling - STEPS_LOG2)) & ((1u << STEPS_LOG2) - 1);
    const u32 number = ((doubling - LEAST_CLASS_LOG2) << STEPS_LOG2) + step + 1;
    return number < SIZE_CLASSES ? number : NO_CLASS;
}

// What its blocks have, 64 to 65536 bytes.
OUTBOARD_DEVICE u64 bytesOfClass(u32 number) {
    const u32 doubling = LEAST_CLASS_LOG2 + (number >> STEPS_LOG2);
    return (static_cast<u64>(1) << doubling) + (static_cast<u64>(number & ((1u << STEPS_LOG2) - 1)) << (doubling - STEPS_LOG2));
}

template <u32 DEPTH>
struct alignas(128) BlockQueue {
    static constexpr u32 ATTEMPTS = 4;
    static constexpr u32 COUNT_BITS = 16;
    static constexpr u32 UNUSED_BITS = 4;  // blocks are aligned to 16 bytes

    u64 head;
    u64 tail;
    u64 places[DEPTH];

    static OUTBOARD_DEVICE u64 word(u64 block, u64 count) {
        return block >> UNUSED_BITS << COUNT_BITS | (count & ((1u << COUNT_BITS) - 1));
    }

    static OUTBOARD_DEVICE u64 blockOf(u64 word) {
        return word >> COUNT_BITS << UNUSED_BITS;
    }

    static OUTBOARD_DEVICE bool change(u64& word, u64 from, u64 to, decltype(RELAXED) order) {
        u64 expected = from;
        return Atomic<u64>(word).compare_exchange_strong(expected, to, order, RELAXED);
    }

    // Whether a place has been emptied so often.
    static OUTBOARD_DEVICE bool hasCount(u64 seen, u64 count) {
        return seen == word(blockOf(seen), count);
    }

    // Whether it has been kept.
    OUTBOARD_DEVICE bool put(u64 block) {
        for (u32 i = 0; i < ATTEMPTS; ++i) {
            const u64 number = Atomic<u64>(tail).load(RELAXED);
            const u64 count = number / DEPTH;
            u64& place = places[number % DEPTH];
            const u64 seen = Atomic<u64>(place).load(RELAXED);
            if (seen == word(0, count)) {
                if (change(place, seen, word(block, count), RELEASE)) {
                    change(tail, number, number + 1, RELAXED);
                    return true;
                }
            } else if (hasCount(seen, count) || hasCount(seen, count + 1)) {
                change(tail, number, number + 1, RELAXED);  // filled, and maybe emptied, by another
            } else if (hasCount(seen, count - 1)) {
                return false;  // full
            }
        }
        return false;
    }

    // 0 if there is none.
    OUTBOARD_DEVICE u64 take() {
        for (u32 i = 0; i < ATTEMPTS; ++i) {
            const u64 number = Atomic<u64>(head).load(RELAXED);
            const u64 count = number / DEPTH;
            u64& place = places[number % DEPTH];
            const u64 seen = Atomic<u64>(place).load(RELAXED);
            if (seen == word(0, count)) {
                return 0;
            }
            if (hasCount(seen, count)) {
                if (change(place, seen, word(0, count + 1), ACQUIRE)) {
                    change(head, number, number + 1, RELAXED);
                    return blockOf(seen);
                }
            } else if (hasCount(seen, count + 1)) {
                change(head, number, number + 1, RELAXED);  // emptied, and maybe filled, by another
            }
        }
        return 0;
    }
};

}  // namespace detail

// The queues of one heap, in device memory. Zeroes are empty queues.
template <u32 QUEUES = 16, u32 DEPTH = 64>
struct Buffers {
    detail::BlockQueue<DEPTH> queues[detail::SIZE_CLASSES][QUEUES];
};

template <class Allocator, u32 QUEUES = 16, u32 DEPTH = 64>
class Buffered {
    static_assert(Allocator::CAN_FREE, "what isn't freed can't be kept");
    static constexpr u32 HEADER_BYTES = 16;

    Allocator allocator;
    Buffers<QUEUES, DEPTH>* buffers;

    OUTBOARD_DEVICE detail::BlockQueue<DEPTH>& anyQueue(u32 sizeClass) const {
        return buffers->queues[sizeClass][scaled(scatter(), QUEUES)];
    }

    static OUTBOARD_DEVICE void* begin(void* block, u32 sizeClass) {
        if (block == nullptr) {
            return nullptr;
        }
        *static_cast<u32*>(block) = sizeClass;
        return static_cast<unsigned char*>(block) + HEADER_BYTES;
    }

  public:
    static constexpr bool CAN_FREE = true;

    OUTBOARD_DEVICE Buffered(const Allocator& behind, Buffers<QUEUES, DEPTH>* theBuffers) : allocator(behind), buffers(theBuffers) {}

    // Threads for which this is the same pointer are served together.
    OUTBOARD_DEVICE const void* shared() const {
        return buffers;
    }

    // So many bytes, aligned to 16; nullptr for 0 bytes, or if there are none, not in buffers either.
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        if (bytes == 0 || bytes > ~static_cast<size_t>(0) - HEADER_BYTES) {
            return nullptr;
        }
        const u32 sizeClass = detail::sizeClassOf(bytes + HEADER_BYTES);
        const u64 kept = sizeClass == detail::NO_CLASS ? 0 : anyQueue(sizeClass).take();
        if (kept != 0) {
            return reinterpret_cast<unsigned char*>(kept) + HEADER_BYTES;
        }
        if (sizeClass != detail::NO_CLASS) {
            void* const block = begin(allocator.malloc(detail::bytesOfClass(sizeClass)), sizeClass);
            if (block != nullptr) {
                return block;
            }
        }
        // As small as it can be.
        void* const block = begin(allocator.malloc(bytes + HEADER_BYTES), detail::NO_CLASS);
        if (block != nullptr) {
            return block;
        }
        drain(0, 1);
        // Also if there was nothing: another thread may have been faster.
        return begin(allocator.malloc(bytes + HEADER_BYTES), detail::NO_CLASS);
    }

    OUTBOARD_DEVICE void free(void* pointer) {
        if (pointer == nullptr) {
            return;
        }
        unsigned char* const block = static_cast<unsigned char*>(pointer) - HEADER_BYTES;
        const u32 sizeClass = *reinterpret_cast<const u32*>(block);
        if (sizeClass == detail::NO_CLASS || !anyQueue(sizeClass).put(reinterpret_cast<u64>(block))) {
            allocator.free(block);
        }
    }

    // All that is kept goes to the allocator behind. Thread `index` of `count`, each with queues of its own.
    OUTBOARD_SELDOM void drain(u32 index, u32 count) {
        for (u32 i = index; i < detail::SIZE_CLASSES * QUEUES; i += count) {
            detail::BlockQueue<DEPTH>& queue = buffers->queues[i / QUEUES][i % QUEUES];
            for (u32 j = 0; j < DEPTH; ++j) {
                const u64 block = queue.take();
                if (block == 0) {
                    break;
                }
                allocator.free(reinterpret_cast<void*>(block));
            }
        }
    }
};

template <class Allocator, u32 QUEUES, u32 DEPTH>
struct Coalesced<Buffered<Allocator, QUEUES, DEPTH>> : CountedParts<Buffered<Allocator, QUEUES, DEPTH>> {};

}  // namespace outboard
