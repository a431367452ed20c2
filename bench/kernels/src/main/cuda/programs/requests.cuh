// What programs have in common that measure nothing but requests: the parameter of their kernels, what these count, and kernels
// that keep one block a thread between them. RequestKernels.java launches them.
#pragma once

#include "allocator_of.cuh"
#include "outboard/object_heap.cuh"

using u32 = unsigned;
using u64 = unsigned long long;

// Counted by all kernels, timed or not.
struct Counts {
    u64 refused;     // requests that got nothing
    u64 misaligned;  // blocks that don't begin at a multiple of 16
    u64 mismatches;  // blocks that don't hold what was written: they overlap
};

// What all kernels get. The control block comes first.
struct Work {
    union {
        outboard::Heap heap;
        outboard::Objects objects;
    };
    Counts* counts;
    u64 threads;            // that ask for something; more are launched
    u64 cycles;             // of `hold`
    u64* held;              // of each thread: what it got in one kernel and gives back in another
    u64 lanes;              // of each warp, those that ask
    u64 bytes;              // of a request
    unsigned char* memory;  // where no heap is: set aside
};

namespace requests {

constexpr u32 WARP_THREADS = 32;

// For other threads to write there, too, if they take it to be theirs.
constexpr u32 PAUSE_NS = 5000;

__device__ inline u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline void count(u64* counter) { atomicAdd(counter, 1ull); }

// Differs from what any other number has, in each byte with a chance of 255 in 256 (the finaliser of MurmurHash3, Appleby).
__device__ inline u32 tagOf(u32 number) {
    number = (number ^ (number >> 16)) * 0x85EBCA6Bu;
    number = (number ^ (number >> 13)) * 0xC2B2AE35u;
    return number ^ (number >> 16);
}

__device__ inline bool isAligned(const void* block) { return reinterpret_cast<u64>(block) % 16 == 0; }

// Volatile, so that what is read back comes from memory that all multiprocessors share and not from a first-level cache. From
// byte `first` on, a multiple of 4; bytes behind the last word are left alone.
__device__ inline void fill(void* block, u32 first, u32 bytes, u32 tag) {
    volatile u32* const words = static_cast<u32*>(block);
    for (u32 i = first / 4; i < bytes / 4; ++i) {
        words[i] = tag;
    }
}

__device__ inline bool holds(const void* block, u32 first, u32 bytes, u32 tag) {
    const volatile u32* const words = static_cast<const u32*>(block);
    bool same = true;
    for (u32 i = first / 4; i < bytes / 4; ++i) {
        same &= words[i] == tag;
    }
    return same;
}

#ifdef OUTBOARD_ALLOCATOR

using Allocator = OUTBOARD_ALLOCATOR;

__device__ inline Allocator allocator(const Work& work) { return MakeAllocator<Allocator>::of(&work.heap); }

// Blocks of an allocator that threads hold, all of one size.
struct HeldBlocks {
    static __device__ u64 make(const Work& work) { return reinterpret_cast<u64>(allocator(work).malloc(work.bytes)); }

    static __device__ void end(const Work& work, u64 held) { allocator(work).free(reinterpret_cast<void*>(held)); }

    static __device__ bool isAligned(u64 held) { return requests::isAligned(reinterpret_cast<void*>(held)); }

    static __device__ void write(const Work& work, u64 held, u32 tag) {
        fill(reinterpret_cast<void*>(held), 0, static_cast<u32>(work.bytes), tag);
    }

    static __device__ bool isRight(const Work& work, u64 held, u32 tag) {
        return holds(reinterpret_cast<void*>(held), 0, static_cast<u32>(work.bytes), tag);
    }

    static constexpr u64 NONE = 0;
};

#endif

template <class Held>
__device__ void makeHeld(const Work& work) {
    if (thread() < work.threads) {
        const u64 held = Held::make(work);
        if (held == Held::NONE) {
            count(&work.counts->refused);
        }
        work.held[thread()] = held;
    }
}

template <class Held>
__device__ void endHeld(const Work& work) {
    if (thread() < work.threads && work.held[thread()] != Held::NONE) {
        Held::end(work, work.held[thread()]);
    }
}

template <class Held>
__device__ void writeHeld(const Work& work) {
    if (thread() < work.threads && work.held[thread()] != Held::NONE) {
        if (!Held::isAligned(work.held[thread()])) {
            count(&work.counts->misaligned);
        } else {
            Held::write(work, work.held[thread()], tagOf(thread()));
        }
    }
}

template <class Held>
__device__ void readHeld(const Work& work) {
    if (thread() < work.threads && work.held[thread()] != Held::NONE && Held::isAligned(work.held[thread()])
        && !Held::isRight(work, work.held[thread()], tagOf(thread()))) {
        count(&work.counts->mismatches);
    }
}

}  // namespace requests

// The kernels that each of these programs has. `hold` keeps the device busy until the host has launched what is timed: else the
// host would be timed. `drain` asks for what there can't be, so that buffers give all that they keep to the allocator behind.
#ifdef OUTBOARD_ALLOCATOR
#define OUTBOARD_REQUESTS                                                                      \
    OUTBOARD_HOLD                                                                              \
    extern "C" __global__ void drain(const __grid_constant__ Work work) {                      \
        requests::Allocator allocator = requests::allocator(work);                             \
        allocator.free(allocator.malloc(1ull << 50));                                          \
    }
#else
#define OUTBOARD_REQUESTS OUTBOARD_HOLD
#endif
#define OUTBOARD_HOLD                                                                          \
    extern "C" __global__ void hold(const __grid_constant__ Work work) {                       \
        const long long end = clock64() + static_cast<long long>(work.cycles);                 \
        while (clock64() < end) {                                                              \
        }                                                                                      \
    }

// Kernels of those of them that hold something between two kernels: one makes it, the next ends it; and what is checked between.
#define OUTBOARD_HELD(HELD)                                                                    \
    extern "C" __global__ void make(const __grid_constant__ Work work) { requests::makeHeld<HELD>(work); } \
    extern "C" __global__ void end(const __grid_constant__ Work work) { requests::endHeld<HELD>(work); }   \
    extern "C" __global__ void checkWrite(const __grid_constant__ Work work) { requests::writeHeld<HELD>(work); } \
    extern "C" __global__ void checkRead(const __grid_constant__ Work work) { requests::readHeld<HELD>(work); }
