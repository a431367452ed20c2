// What the allocators need of the machine under them: atomics, the number of the multiprocessor, and the threads of a
// warp that run together. On a GPU these are cuda::atomic_ref and intrinsics with masks. The tests compile the same
// allocators for the CPU with a header of their own in place of this part (OUTBOARD_PLATFORM).
#pragma once

#include <stddef.h>

namespace outboard {

using u32 = unsigned int;
using u64 = unsigned long long;

}  // namespace outboard

#ifdef OUTBOARD_PLATFORM
#include OUTBOARD_PLATFORM
#else

#include <cuda/atomic>

#define OUTBOARD_DEVICE __device__ __forceinline__

namespace outboard {

// Device scope: one heap serves all threads of one GPU.
template <class T>
using Atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;

constexpr auto RELAXED = cuda::std::memory_order_relaxed;
constexpr auto ACQUIRE = cuda::std::memory_order_acquire;
constexpr auto RELEASE = cuda::std::memory_order_release;
constexpr auto ACQ_REL = cuda::std::memory_order_acq_rel;

// For a search: each step depends on what the one before has read, and a GPU doesn't read ahead on a guess. Acquire
// would empty the L1 cache at each step.
constexpr auto SEARCH = RELAXED;

// For an operation on one word after one on another whose result the thread has waited for: that one is done in the L2
// cache, where all threads of the GPU meet.
constexpr auto AFTER_RESULT = RELAXED;

// Orders a write before a later read of another word, which acquire and release don't.
OUTBOARD_DEVICE void fullFence() {
    cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
}

OUTBOARD_DEVICE u32 multiprocessor() {
    u32 number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

// A number below 32 that differs between threads of a warp, and between the same threads of warps side by side.
OUTBOARD_DEVICE u32 threadOfMultiprocessor() {
    u32 lane;
    u32 warp;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return (lane + warp) & 31;
}

// Adds for all threads; the compiler joins the additions of a warp into one.
OUTBOARD_DEVICE u64 addTogether(u64& word, u64 value) {
    return atomicAdd(&word, value);
}

// A number that mostly differs between threads that ask at the same time, and between one thread's questions.
OUTBOARD_DEVICE u32 scatter() {
    u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (static_cast<u32>(clock()) + lane * 0x85EBCA6Bu + multiprocessor() * 0xC2B2AE35u) * 0x9E3779B1u;
}

// Bits from the lowest: 0 for an odd word. Undefined for 0.
OUTBOARD_DEVICE u32 lowestBit(u32 word) {
    return __ffs(static_cast<int>(word)) - 1;
}

// From the lowest: 31 for a word with its highest bit set. Undefined for 0.
OUTBOARD_DEVICE u32 highestBit(u32 word) {
    return 31 - __clz(static_cast<int>(word));
}

// The part of 0..limit-1 that fraction is of 2^32.
OUTBOARD_DEVICE u32 scaled(u32 fraction, u32 limit) {
    return __umulhi(fraction, limit);
}

// The threads of this warp that reached this line together. Each call names its members. Not a coalesced_group of
// cooperative groups: in a function that isn't inlined, ptxas (CUDA 13.0) takes the result of a vote for one that all
// threads of the warp share, though threads of other groups run there too. Its barriers and shuffles then let threads
// through before their group is there: they hung, or got memory of others. With its own bit, which the vote has anyway,
// each thread's mask is its own for ptxas, and right.
class Group {
    u32 mask = __ballot_sync(__activemask(), 1) | ownBit();

    static OUTBOARD_DEVICE u32 ownBit() {
        u32 bit;
        asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(bit));
        return bit;
    }

  public:
    OUTBOARD_DEVICE u32 rank() const {
        u32 lower;
        asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
        return __popc(mask & lower);
    }

    OUTBOARD_DEVICE u32 size() const {
        return __popc(mask);
    }

    OUTBOARD_DEVICE u32 sumOfLowerRanks(u32 value) const {
        const u32 lower = rank();
        u32 sum = 0;
        if (mask == ~0u) {
            sum = value;
            for (u32 distance = 1; distance < 32; distance *= 2) {
                const u32 other = __shfl_up_sync(~0u, sum, distance);
                sum += lower >= distance ? other : 0;
            }
            return sum - value;
        }
        for (u32 left = mask, other = 0; left != 0; left &= left - 1, ++other) {
            const u32 theirs = __shfl_sync(mask, value, static_cast<int>(lowestBit(left)));
            sum += other < lower ? theirs : 0;
        }
        return sum;
    }

    // What the first thread has.
    OUTBOARD_DEVICE u32 fromFirst(u32 value) const {
        return __shfl_sync(mask, value, static_cast<int>(lowestBit(mask)));
    }

    // What the last thread has.
    OUTBOARD_DEVICE u32 fromLast(u32 value) const {
        return __shfl_sync(mask, value, static_cast<int>(highestBit(mask)));
    }

    // Orders what the threads did before, as each of them and who hears of it from them sees it.
    OUTBOARD_DEVICE void sync() const {
        __syncwarp(mask);
    }
};

}  // namespace outboard

#endif
