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
// For what is seldom done: one copy of it, and its registers aren't the caller's.
#define OUTBOARD_SELDOM __device__ __noinline__
// Before a loop that is to stay one: what is looked at in turns is code once.
#define OUTBOARD_ROLLED _Pragma("unroll 1")

namespace outboard {

// Device scope: one heap serves all threads of one GPU.
template <class T>
using Atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;

constexpr auto RELAXED = cuda::std::memory_order_relaxed;
constexpr auto ACQUIRE = cuda::std::memory_order_acquire;
constexpr auto RELEASE = cuda::std::memory_order_release;
constexpr auto ACQ_REL = cuda::std::memory_order_acq_rel;

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

// The warp's place on its multiprocessor: below 64.
OUTBOARD_DEVICE u32 warpOfMultiprocessor() {
    u32 warp;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return warp;
}

// A number that mostly differs between threads that ask at the same time, and between one thread's questions.
OUTBOARD_DEVICE u32 scatter() {
    u32 lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (static_cast<u32>(clock()) + lane * 0x85EBCA6Bu + multiprocessor() * 0xC2B2AE35u) * 0x9E3779B1u;
}

// Atomics on words that are known to lie in global memory, at device scope: cuda::atomic_ref goes through generic
// addresses, and has no operation without a result.
template <class T>
class GlobalAtomic {
    T* const word;

  public:
    OUTBOARD_DEVICE explicit GlobalAtomic(T& shared) : word(&shared) {}

    OUTBOARD_DEVICE T load() const {
        if constexpr (sizeof(T) == 8) {
            u64 value;
            asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
            return static_cast<T>(value);
        } else {
            u32 value;
            if constexpr (sizeof(T) == 4) {
                asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
            } else if constexpr (sizeof(T) == 2) {
                asm volatile("ld.relaxed.gpu.global.u16 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
            } else {
                asm volatile("ld.relaxed.gpu.global.u8 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
            }
            return static_cast<T>(value);
        }
    }

    OUTBOARD_DEVICE void store(T value) const {
        if constexpr (sizeof(T) == 8) {
            asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
        } else if constexpr (sizeof(T) == 4) {
            asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
        } else if constexpr (sizeof(T) == 2) {
            asm volatile("st.relaxed.gpu.global.u16 [%0], %1;" ::"l"(word), "r"(static_cast<u32>(value)) : "memory");
        } else {
            asm volatile("st.relaxed.gpu.global.u8 [%0], %1;" ::"l"(word), "r"(static_cast<u32>(value)) : "memory");
        }
    }

    // Of 64 bits, as what follows but exchange.
    OUTBOARD_DEVICE u64 fetchAndAcquire(u64 mask) const {
        u64 before;
        asm volatile("atom.acquire.gpu.global.and.b64 %0, [%1], %2;"
                     : "=l"(before)
                     : "l"(word), "l"(mask)
                     : "memory");
        return before;
    }

    OUTBOARD_DEVICE u64 fetchOr(u64 mask) const {
        u64 before;
        asm volatile("atom.relaxed.gpu.global.or.b64 %0, [%1], %2;"
                     : "=l"(before)
                     : "l"(word), "l"(mask)
                     : "memory");
        return before;
    }

    OUTBOARD_DEVICE u64 fetchOrAcquire(u64 mask) const {
        u64 before;
        asm volatile("atom.acquire.gpu.global.or.b64 %0, [%1], %2;"
                     : "=l"(before)
                     : "l"(word), "l"(mask)
                     : "memory");
        return before;
    }

    OUTBOARD_DEVICE u64 fetchXor(u64 mask) const {
        u64 before;
        asm volatile("atom.relaxed.gpu.global.xor.b64 %0, [%1], %2;"
                     : "=l"(before)
                     : "l"(word), "l"(mask)
                     : "memory");
        return before;
    }

    OUTBOARD_DEVICE u64 compareAndSwap(u64 expected, u64 desired) const {
        u64 before;
        asm volatile("atom.acquire.gpu.global.cas.b64 %0, [%1], %2, %3;"
                     : "=l"(before)
                     : "l"(word), "l"(expected), "l"(desired)
                     : "memory");
        return before;
    }

    OUTBOARD_DEVICE u32 exchange(u32 value) const {
        u32 before;
        asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;"
                     : "=r"(before)
                     : "l"(word), "r"(value)
                     : "memory");
        return before;
    }

    OUTBOARD_DEVICE void setBits(u64 mask) const {
        asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(word), "l"(mask) : "memory");
    }

    OUTBOARD_DEVICE void clearBits(u64 mask) const {
        asm volatile("red.relaxed.gpu.global.and.b64 [%0], %1;" ::"l"(word), "l"(~mask) : "memory");
    }

    OUTBOARD_DEVICE void increment() const {
        asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(word) : "memory");
    }
};

struct FourWords {
    u32 a, b, c, d;
};

// Four words side by side, each read as by a relaxed load. Aligned to 16 bytes.
OUTBOARD_DEVICE FourWords loadFour(const u32* words) {
    FourWords four;
    asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four.a), "=r"(four.b), "=r"(four.c), "=r"(four.d)
                 : "l"(words)
                 : "memory");
    return four;
}

OUTBOARD_DEVICE void storeFour(u32* words, const FourWords& four) {
    asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(words), "r"(four.a), "r"(four.b), "r"(four.c), "r"(four.d)
                 : "memory");
}

// Release and acquire, for all that the thread has done, and all that it has seen others do.
OUTBOARD_DEVICE void releaseFence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// CUDA's own allocator in kernels.
OUTBOARD_DEVICE void* driverMalloc(size_t bytes) {
    return ::malloc(bytes);
}

OUTBOARD_DEVICE void driverFree(void* pointer) {
    ::free(pointer);
}

constexpr u32 WARP_LANES = 32;

// What a thread does once it has found the heap to be another allocator's.
[[noreturn]] OUTBOARD_DEVICE void stop() {
    __trap();
}

// Bits from the lowest: 0 for an odd word. Undefined for 0.
OUTBOARD_DEVICE u32 lowestBit(u32 word) {
    return __ffs(static_cast<int>(word)) - 1;
}

OUTBOARD_DEVICE u32 lowestBit(u64 word) {
    return __ffsll(static_cast<long long>(word)) - 1;
}

OUTBOARD_DEVICE u32 highestBit(u64 word) {
    return 63 - __clzll(static_cast<long long>(word));
}

OUTBOARD_DEVICE u32 countOf(u32 word) {
    return __popc(word);
}

OUTBOARD_DEVICE u32 countOf(u64 word) {
    return __popcll(word);
}

// From the lowest: 31 for a word with its highest bit set. Undefined for 0.
OUTBOARD_DEVICE u32 highestBit(u32 word) {
    return 31 - __clz(static_cast<int>(word));
}

// The part of 0..limit-1 that fraction is of 2^32.
OUTBOARD_DEVICE u32 scaled(u32 fraction, u32 limit) {
    return __umulhi(fraction, limit);
}

// The threads of this warp that reached this line together with the same pointer, to what serves them as one: those beside
// them may come with another heap. The pointer must lead into the heap, not to its control block: each thread may have a
// copy of that in local memory, and such copies have the same address in all threads. Each call names its members.
//
// Not a coalesced_group of cooperative groups: in a function that isn't inlined, ptxas (CUDA 13.0) takes the result of a
// vote for one that all threads of the warp share, though threads of other groups run there too. Its barriers and shuffles
// then let threads through before their group is there: they hung, or got memory of others. With its own bit, which is in
// the mask anyway, each thread's mask is its own for ptxas, and right. So is what a vote tells: it is taken together with
// the mask.
class Group {
    u32 mask;

    static OUTBOARD_DEVICE u32 ownBit() {
        u32 bit;
        asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(bit));
        return bit;
    }

  public:
    OUTBOARD_DEVICE explicit Group(const void* shared)
        : mask(__match_any_sync(__activemask(), reinterpret_cast<u64>(shared)) | ownBit()) {}

    // The same threads, in a function that isn't inlined.
    OUTBOARD_DEVICE explicit Group(u32 lanes) : mask(lanes | ownBit()) {}

    // A bit for each member's lane.
    OUTBOARD_DEVICE u32 lanes() const {
        return mask;
    }

    OUTBOARD_DEVICE u32 lane() const {
        u32 lane;
        asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
        return lane;
    }

    // Whether it is a whole warp.
    OUTBOARD_DEVICE bool isFull() const {
        return mask == ~0u;
    }

    // The members' lanes below this one.
    OUTBOARD_DEVICE u32 lowerLanes() const {
        u32 lower;
        asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
        return mask & lower;
    }

    OUTBOARD_DEVICE u32 rank() const {
        return __popc(lowerLanes());
    }

    OUTBOARD_DEVICE u32 size() const {
        return __popc(mask);
    }

    OUTBOARD_DEVICE u32 sumOfLowerRanks(u32 value) const {
        return upToThis(value, [](u32 a, u32 b) { return a + b; }) - value;
    }

    // What the first thread has.
    OUTBOARD_DEVICE u32 fromFirst(u32 value) const {
        return fromLane(value, lowestBit(mask));
    }

    // What the last thread has.
    OUTBOARD_DEVICE u32 fromLast(u32 value) const {
        return fromLane(value, highestBit(mask));
    }

    // What the member of a lane has.
    OUTBOARD_DEVICE u32 fromLane(u32 value, u32 lane) const {
        return __shfl_sync(mask, value, static_cast<int>(lane));
    }

    // The members' lanes for which it is true.
    OUTBOARD_DEVICE u32 lanesWhere(bool condition) const {
        return __ballot_sync(mask, condition) & mask;
    }

    OUTBOARD_DEVICE bool any(bool condition) const {
        return lanesWhere(condition) != 0;
    }

    OUTBOARD_DEVICE bool all(bool condition) const {
        return lanesWhere(condition) == mask;
    }

    // Of those that belong to members before this one, in a full warp.
    OUTBOARD_DEVICE u32 fromDistance(u32 value, u32 distance) const {
        return __shfl_up_sync(~0u, value, distance);
    }

    // Of all members' words.
    OUTBOARD_DEVICE u32 unionOf(u32 word) const {
#if __CUDA_ARCH__ >= 800
        return __reduce_or_sync(mask, word);
#else
        return fromLast(upToThis(word, [](u32 a, u32 b) { return a | b; }));
#endif
    }

    // Orders what the threads did before, as each of them and who hears of it from them sees it.
    OUTBOARD_DEVICE void sync() const {
        __syncwarp(mask);
    }

  private:
    static constexpr u32 NO_LANE = ~0u;

    // Of the values of this member and those before it, by an associative operation.
    template <class Join>
    OUTBOARD_DEVICE u32 upToThis(u32 value, const Join& join) const {
        u32 all = value;
        if (mask == ~0u) {
            const u32 own = lane();
            for (u32 distance = 1; distance < 32; distance *= 2) {
                const u32 other = __shfl_up_sync(~0u, all, distance);
                all = own >= distance ? join(all, other) : all;
            }
            return all;
        }
        // Each member looks at the one before it, then at the one before that one's, and so on: five times at most.
        const u32 lower = lowerLanes();
        u32 before = lower != 0 ? highestBit(lower) : NO_LANE;
        while (any(before != NO_LANE)) {
            const int from = before != NO_LANE ? static_cast<int>(before) : static_cast<int>(lane());
            const u32 theirs = __shfl_sync(mask, all, from);
            const u32 next = __shfl_sync(mask, before, from);
            if (before != NO_LANE) {
                all = join(all, theirs);
                before = next;
            }
        }
        return all;
    }
};

}  // namespace outboard

#endif

namespace outboard::detail {

// What the first thread of a group has, where that isn't a word of 32 bits.
OUTBOARD_DEVICE u64 fromFirst(const Group& group, u64 value) {
    return static_cast<u64>(group.fromFirst(static_cast<u32>(value >> 32))) << 32 | group.fromFirst(static_cast<u32>(value));
}

template <class T>
OUTBOARD_DEVICE T* fromFirst(const Group& group, T* pointer) {
    return reinterpret_cast<T*>(fromFirst(group, reinterpret_cast<u64>(pointer)));
}

}  // namespace outboard::detail
