// The test bench of in-kernel heaps: the generic tests of Vinkler and Havran 2014, section 6, and their checks.
//
// Compiled once for each allocator, by cuda-backend/ptx.sh:
//   -DOUTBOARD_ALLOCATOR='outboard::CFMMalloc', 'outboard::Coalesced<outboard::CFMMalloc>' and so on, or EmptyMalloc.
// Kernels whose name begins with "check" are run outside of what is timed.
#include <cstddef>

#include "outboard/allocators.cuh"

// No allocator at all: what a kernel takes without one. The pointer depends on the request, so that the compiler keeps
// what computes it; nothing may be stored there.
struct EmptyMalloc {
    const outboard::Heap* heap;

    __device__ void* malloc(size_t bytes) { return reinterpret_cast<char*>(heap->bytes + bytes); }
    __device__ void free(void*) {}
};

using Allocator = OUTBOARD_ALLOCATOR;
using u64 = unsigned long long;

// What the checks count; KernelWorker reads it in this order.
struct Counters {
    u64 nulls;       // requests that got no memory
    u64 misaligned;  // pointers that aren't multiples of 16
    u64 outside;     // blocks that reach out of the heap
    u64 mismatches;  // words that didn't hold their block's tag: blocks overlap
    u64 served;      // bytes handed out by `exhaust`
};

// One launch's work; CaseRun writes it as the heap's control block and nine words of 64 bits. Kernels read it from constant
// memory.
struct Work {
    outboard::Heap heap;
    u64 memory;     // where the heap begins
    u64 heapBytes;  // 0: bounds unknown, the driver's heap
    void** blocks;  // one for each slot and iteration: [iterations x slots]
    Counters* counters;
    u64 threads;  // launched, without those that fill the last block of threads
    u64 stride;   // every so many threads one has a slot: 1, or 32 for one a warp
    u64 least;    // bytes of a request, uniform from least to most
    u64 most;
    u64 iterations;  // for `probability`, the number of the launch; for `hold`, how long
};

constexpr unsigned NO_SLOT = ~0u;

// Counter-based random bits: the finaliser of SplitMix64 (Steele et al. 2014).
__device__ inline u64 randomBits(u64 stream, u64 counter) {
    u64 bits = (stream << 32 | counter) * 0x9e3779b97f4a7c15ull + 0x9e3779b97f4a7c15ull;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

__device__ inline unsigned threadNumber() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline unsigned slots(const Work& work) {
    return static_cast<unsigned>((work.threads + work.stride - 1) / work.stride);
}

__device__ inline unsigned slotOf(const Work& work) {
    const unsigned thread = threadNumber();
    const unsigned stride = static_cast<unsigned>(work.stride);
    return thread < work.threads && thread % stride == 0 ? thread / stride : NO_SLOT;
}

__device__ inline size_t bytesOf(const Work& work, unsigned index) {
    if (work.least == work.most) {
        return work.least;
    }
    return work.least + (randomBits(0, index) >> 32) * (work.most - work.least + 1) / (1ull << 32);
}

__device__ inline void* request(const Work& work, unsigned index) {
    void* block = Allocator{&work.heap}.malloc(bytesOf(work, index));
    if (block == nullptr) {
        atomicAdd(&work.counters->nulls, 1ull);
    }
    return block;
}

// Volatile, so that what is read back comes from memory that all multiprocessors share and not from a first-level cache.
// `skip` bytes at the start are left alone; a multiple of 8.
__device__ void fill(void* block, size_t bytes, u64 tag, size_t skip = 0) {
    volatile u64* words = static_cast<volatile u64*>(block);
    for (size_t i = skip / 8; i < bytes / 8; i++) {
        words[i] = tag;
    }
    volatile unsigned char* ends = static_cast<volatile unsigned char*>(block);
    for (size_t i = bytes / 8 * 8; i < bytes; i++) {
        ends[i] = static_cast<unsigned char>(tag);
    }
}

__device__ u64 mismatches(const void* block, size_t bytes, u64 tag, size_t skip = 0) {
    u64 found = 0;
    const volatile u64* words = static_cast<const volatile u64*>(block);
    for (size_t i = skip / 8; i < bytes / 8; i++) {
        found += words[i] != tag;
    }
    const volatile unsigned char* ends = static_cast<const volatile unsigned char*>(block);
    for (size_t i = bytes / 8 * 8; i < bytes; i++) {
        found += ends[i] != static_cast<unsigned char>(tag);
    }
    return found;
}

__device__ inline u64 tagOf(u64 index, u64 link = 0) { return randomBits(1 + link, index); }

__device__ inline void add(u64* counter, u64 amount) {
    if (amount != 0) {
        atomicAdd(counter, amount);
    }
}

__device__ inline bool isInside(const Work& work, const void* block, size_t bytes) {
    const u64 offset = reinterpret_cast<u64>(block) - work.memory;
    return work.heapBytes == 0 || (offset < work.heapBytes && bytes <= work.heapBytes - offset);
}

__device__ inline bool isAligned(const void* block) { return reinterpret_cast<u64>(block) % 16 == 0; }

// Whether a block can be written to and read.
__device__ inline bool isUsable(const Work& work, const void* block, size_t bytes) {
    return block != nullptr && isAligned(block) && isInside(work, block, bytes);
}

// The same, and counts a block that can't.
__device__ bool examine(const Work& work, const void* block, size_t bytes) {
    add(&work.counters->misaligned, !isAligned(block));
    add(&work.counters->outside, block != nullptr && !isInside(work, block, bytes));
    return isUsable(work, block, bytes);
}

// ---- Before what is timed ----

// Keeps the device busy for so many cycles, until the host has launched what is timed: else the host would be timed.
extern "C" __global__ void hold(const __grid_constant__ Work work) {
    const long long end = clock64() + static_cast<long long>(work.iterations);
    while (clock64() < end) {
    }
}

// ---- AD and MIX: allocate in one kernel, free in the next ----

extern "C" __global__ void allocate(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot != NO_SLOT) {
        work.blocks[slot] = request(work, slot);
    }
}

extern "C" __global__ void release(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot != NO_SLOT) {
        Allocator{&work.heap}.free(work.blocks[slot]);
    }
}

// ---- ADF: both in one kernel ----

template <bool CHECKED>
__device__ void allocateAndRelease(const Work& work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    void* block = request(work, slot);
    if (CHECKED && examine(work, block, bytesOf(work, slot))) {
        fill(block, bytesOf(work, slot), tagOf(slot));
        __nanosleep(10000);  // time for others to write there too
        add(&work.counters->mismatches, mismatches(block, bytesOf(work, slot), tagOf(slot)));
    }
    Allocator{&work.heap}.free(block);
}

extern "C" __global__ void fused(const __grid_constant__ Work work) { allocateAndRelease<false>(work); }

extern "C" __global__ void checkFused(const __grid_constant__ Work work) { allocateAndRelease<true>(work); }

// ---- ACD: several allocations, then as many frees ----

template <bool CHECKED>
__device__ void allocateCycle(const Work& work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    const unsigned count = slots(work);
    const unsigned end = static_cast<unsigned>(work.iterations) * count;
    for (unsigned index = slot; index < end; index += count) {
        work.blocks[index] = request(work, index);
    }
    if (CHECKED) {
        for (unsigned index = slot; index < end; index += count) {
            void*& block = work.blocks[index];
            if (examine(work, block, bytesOf(work, index))) {
                fill(block, bytesOf(work, index), tagOf(index));
            } else {
                block = nullptr;
            }
        }
        __nanosleep(10000);
        for (unsigned index = slot; index < end; index += count) {
            if (work.blocks[index] != nullptr) {
                const u64 found = mismatches(work.blocks[index], bytesOf(work, index), tagOf(index));
                add(&work.counters->mismatches, found);
            }
        }
    }
    for (unsigned index = slot; index < end; index += count) {
        Allocator{&work.heap}.free(work.blocks[index]);
    }
}

extern "C" __global__ void cycle(const __grid_constant__ Work work) { allocateCycle<false>(work); }

extern "C" __global__ void checkCycle(const __grid_constant__ Work work) { allocateCycle<true>(work); }

// ---- P: with probability 0.75, allocate if the thread holds nothing, else free ----

extern "C" __global__ void probability(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT || randomBits(2 + work.iterations, slot) >> 62 == 0) {
        return;
    }
    void* block = work.blocks[slot];
    if (block == nullptr) {
        block = request(work, slot);
    } else {
        Allocator{&work.heap}.free(block);
        block = nullptr;
    }
    work.blocks[slot] = block;
}

// ---- OOM: allocate until the first failure; the blocks of a thread are a list through themselves ----

extern "C" __global__ void exhaust(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    void** head = nullptr;
    u64 served = 0;
    while (true) {
        void** block = static_cast<void**>(Allocator{&work.heap}.malloc(work.least));
        if (block == nullptr) {
            break;
        }
        *block = head;
        head = block;
        served += work.least;
    }
    work.blocks[slot] = head;
    add(&work.counters->served, served);
}

extern "C" __global__ void releaseChains(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    void** block = static_cast<void**>(work.blocks[slot]);
    while (block != nullptr) {
        void** next = static_cast<void**>(*block);
        Allocator{&work.heap}.free(block);
        block = next;
    }
}

// The links stay as they are; they are followed no further than the heap reaches.
extern "C" __global__ void checkFillChains(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    u64 link = 0;
    void* block = work.blocks[slot];
    while (examine(work, block, work.least)) {
        fill(block, work.least, tagOf(slot, link++), sizeof(void*));
        block = *static_cast<void**>(block);
    }
}

extern "C" __global__ void checkReadChains(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    u64 link = 0;
    void* block = work.blocks[slot];
    while (isUsable(work, block, work.least)) {
        add(&work.counters->mismatches, mismatches(block, work.least, tagOf(slot, link++), sizeof(void*)));
        block = *static_cast<void**>(block);
    }
}

// ---- Checks of AD, MIX and P: every block is filled with a tag of its own, then all are read back ----

extern "C" __global__ void checkFill(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot != NO_SLOT && examine(work, work.blocks[slot], bytesOf(work, slot))) {
        fill(work.blocks[slot], bytesOf(work, slot), tagOf(slot));
    }
}

extern "C" __global__ void checkRead(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot != NO_SLOT && isUsable(work, work.blocks[slot], bytesOf(work, slot))) {
        add(&work.counters->mismatches, mismatches(work.blocks[slot], bytesOf(work, slot), tagOf(slot)));
    }
}

// ---- Table 1: a kernel of a single allocation and deallocation ----

extern "C" __global__ void registers(const outboard::Heap* heap, void** blocks, size_t bytes) {
    Allocator allocator{heap};
    void* block = allocator.malloc(bytes);
    blocks[threadNumber()] = block;
    allocator.free(block);
}
