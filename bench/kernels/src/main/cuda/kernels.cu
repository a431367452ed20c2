// The test bench of in-kernel heaps: the generic tests of Vinkler and Havran 2014, section 6, and their checks.
//
// Compiled once for each allocator, by cuda-backend/ptx.sh:
//   -DOUTBOARD_ALLOCATOR='outboard::CFMMalloc', 'outboard::Coalesced<outboard::CFMMalloc>' and so on, or EmptyMalloc;
//   -DOUTBOARD_ARENA -DOUTBOARD_ALLOCATOR='ArenaMalloc<outboard::CudaMalloc>' and so on;
// and once to be linked with any of them (KernelModule.link), whose functions are then called and not inlined:
//   -rdc=true -DOUTBOARD_LINKED -DOUTBOARD_ALLOCATOR=LinkedMalloc
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

#ifdef OUTBOARD_LINKED
extern "C" __device__ void* outboardMalloc(const void* heap, size_t bytes);
extern "C" __device__ void outboardFree(const void* heap, void* pointer);

struct LinkedMalloc {
    const outboard::Heap* heap;

    __device__ void* malloc(size_t bytes) { return outboardMalloc(heap, bytes); }
    __device__ void free(void* pointer) { outboardFree(heap, pointer); }
};
#endif

// What a thread allocates and frees with in a kernel that frees all in the end.
template <class Made>
struct Cycle {
    Made allocator;

    __device__ explicit Cycle(const Made& made) : allocator(made) {}

    __device__ void* malloc(size_t bytes) { return allocator.malloc(bytes); }
    __device__ void free(void* block) { allocator.free(block); }
    __device__ void end() {}
};

#ifdef OUTBOARD_ARENA
#include "arena_malloc.cuh"
#endif

using Allocator = OUTBOARD_ALLOCATOR;
using u64 = unsigned long long;

// What kernels count; Counters.java reads it in this order.
struct Counters {
    u64 nulls;       // requests that got no memory
    u64 misaligned;  // pointers that aren't multiples of 16
    u64 outside;     // blocks that reach out of the heap
    u64 mismatches;  // words that didn't hold their block's tag: blocks overlap
    u64 served;      // bytes handed out by `exhaust`
    u64 repeats;     // requests of `hopeless`
    u64 late;        // those of them that got memory after all
    u64 live;        // of `churn`: bytes in use and asked for at this moment
    u64 peak;        // the most of them
    u64 operations;  // mallocs and frees
    u64 falseNulls;  // requests that got no memory though there should be some
    u64 otherNulls;  // those that are large, or came when the heap was full
    u64 largest;     // requests of `largest` that got memory
};

// One launch's work; KernelLauncher writes it as the heap's control block and words of 64 bits. Kernels read it from constant
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
    u64 iterations;  // of each thread; for `probability` and `age`, the number of the launch; for `hold`, how long
    u64 places;      // of `churn`: blocks that a thread can hold
    u64 steps;       // what a thread does in one launch
    u64 aim;         // bytes to have in use
    u64 limit;       // bytes in use up to which no small request may fail
};

// Functions that are linked get the address of the heap, as users' kernels pass it: they know no parameter of ours.
__device__ inline Allocator allocator(const Work& work) {
#ifdef OUTBOARD_LINKED
    return Allocator{reinterpret_cast<const outboard::Heap*>(work.memory)};
#else
    return Allocator{&work.heap};
#endif
}

constexpr unsigned NO_SLOT = ~0u;

// Some second of a GPU's clock: no thread begins another hopeless request later than this.
constexpr long long HOPELESS_CYCLES = 2000000000;

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

// From least to most, as many in each octave: of 4 bytes to 64 KiB, a half is below 512. The lower 48 bits choose.
__device__ inline size_t mixedBytes(u64 least, u64 most, u64 bits) {
    unsigned octaves = 0;
    while (least << (octaves + 1) <= most) {
        octaves++;
    }
    const u64 low = least << ((bits & 0xffff) * octaves >> 16);
    return octaves == 0 ? least : low + ((bits >> 16 & 0xffffffff) * (low + 1) >> 32);
}

template <class Made>
__device__ inline void* request(Made&& from, const Work& work, unsigned index) {
    void* block = from.malloc(bytesOf(work, index));
    if (block == nullptr) {
        atomicAdd(&work.counters->nulls, 1ull);
    }
    return block;
}

__device__ inline void* request(const Work& work, unsigned index) { return request(allocator(work), work, index); }

// Volatile, so that what is read back comes from memory that all multiprocessors share and not from a first-level cache.
// `skip` bytes at the start are left alone; a multiple of 8. Of the words, and of the bytes behind them, those from `first` on
// in steps of `step`: several threads may share the work.
__device__ void fill(void* block, size_t bytes, u64 tag, size_t skip = 0, unsigned first = 0, unsigned step = 1) {
    volatile u64* words = static_cast<volatile u64*>(block);
    for (size_t i = skip / 8 + first; i < bytes / 8; i += step) {
        words[i] = tag;
    }
    volatile unsigned char* ends = static_cast<volatile unsigned char*>(block);
    for (size_t i = bytes / 8 * 8 + first; i < bytes; i += step) {
        ends[i] = static_cast<unsigned char>(tag);
    }
}

__device__ u64 mismatches(const void* block, size_t bytes, u64 tag, size_t skip = 0, unsigned first = 0,
                          unsigned step = 1) {
    u64 found = 0;
    const volatile u64* words = static_cast<const volatile u64*>(block);
    for (size_t i = skip / 8 + first; i < bytes / 8; i += step) {
        found += words[i] != tag;
    }
    const volatile unsigned char* ends = static_cast<const volatile unsigned char*>(block);
    for (size_t i = bytes / 8 * 8 + first; i < bytes; i += step) {
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

// A heap is aged by a thousand launches of this: with probability 0.75 a thread that holds nothing
// allocates, and one that holds a block frees it. Threads of a warp go different ways, and sizes are mixed.
extern "C" __global__ void age(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    const u64 bits = randomBits(2 + work.iterations, slot);
    if (slot == NO_SLOT || bits >> 62 == 0) {
        return;
    }
    void* block = work.blocks[slot];
    if (block == nullptr) {
        block = allocator(work).malloc(mixedBytes(work.least, work.most, bits));
    } else {
        allocator(work).free(block);
        block = nullptr;
    }
    work.blocks[slot] = block;
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
        allocator(work).free(work.blocks[slot]);
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
    allocator(work).free(block);
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
    Cycle<Allocator> cycle(allocator(work));
    for (unsigned index = slot; index < end; index += count) {
        work.blocks[index] = request(cycle, work, index);
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
        cycle.free(work.blocks[index]);
    }
    cycle.end();
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
        allocator(work).free(block);
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
        void** block = static_cast<void**>(allocator(work).malloc(work.least));
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

// Each thread repeats the request that failed, when all have failed. The last one that failed is part of `exhaust`, so what
// that kernel takes is the time until every thread has its null.
extern "C" __global__ void hopeless(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    void** head = static_cast<void**>(work.blocks[slot]);
    const long long end = clock64() + HOPELESS_CYCLES;
    u64 repeats = 0;
    u64 late = 0;
    do {
        void** block = static_cast<void**>(allocator(work).malloc(work.least));
        repeats++;
        if (block != nullptr) {
            *block = head;
            head = block;
            late++;
        }
    } while (repeats < work.iterations && clock64() < end);
    work.blocks[slot] = head;
    add(&work.counters->repeats, repeats);
    add(&work.counters->late, late);
}

// ---- FILL: each thread allocates again and again and frees nothing; the blocks of a thread are such a list as well ----

extern "C" __global__ void grow(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    void** head = static_cast<void**>(work.blocks[slot]);
    for (u64 round = 0; round < work.iterations; round++) {
        void** block = static_cast<void**>(request(work, slot));
        if (block != nullptr) {
            *block = head;
            head = block;
        }
    }
    work.blocks[slot] = head;
}

extern "C" __global__ void releaseChains(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    if (slot == NO_SLOT) {
        return;
    }
    void** block = static_cast<void**>(work.blocks[slot]);
    while (block != nullptr) {
        void** next = static_cast<void**>(*block);
        allocator(work).free(block);
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

// ---- CHURN: mallocs and frees of all sizes at once in a heap that is nearly full, for as long as the host goes on ----

// Nulls of larger requests say that free memory is scattered, and not that it was missed.
constexpr u64 SMALL_BYTES = 64 << 10;

// No number of another kernel's random bits matters to this one, but its own must not repeat.
constexpr u64 CHURN_STREAM = 1 << 16;
constexpr u64 STAMP = 1u << 31;

// A block's stamp gives its size and is what it is filled with: one in 256 is larger than SMALL_BYTES.
__device__ inline size_t stampedBytes(const Work& work, u64 stamp) {
    const bool large = stamp >> 56 == 0 && work.most > SMALL_BYTES;
    const u64 most = work.most < SMALL_BYTES ? work.most : SMALL_BYTES;
    return large ? mixedBytes(SMALL_BYTES, work.most, stamp) : mixedBytes(work.least, most, stamp);
}

__device__ inline u64 padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

// All threads of a warp together fill the blocks that some of them have, one block after the other, or compare them with
// what they were filled with.
template <bool READ>
__device__ void handleTogether(const Work& work, void* own, u64 ownStamp) {
    const unsigned lane = threadIdx.x % warpSize;
    __syncwarp();
    for (unsigned left = __ballot_sync(~0u, own != nullptr); left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        void* block = reinterpret_cast<void*>(__shfl_sync(~0u, reinterpret_cast<u64>(own), owner));
        const u64 stamp = __shfl_sync(~0u, ownStamp, owner);
        const size_t bytes = stampedBytes(work, stamp);
        if (READ) {
            add(&work.counters->mismatches, mismatches(block, bytes, stamp, 0, lane, warpSize));
        } else {
            fill(block, bytes, stamp, 0, lane, warpSize);
        }
    }
    // The owner may free its block now.
    __syncwarp();
}

// Frees what a place holds, its contents compared before; all threads of the warp come here, some with nothing to free.
__device__ void releasePlace(const Work& work, bool frees, void** place, u64 stamp) {
    void* block = frees ? *place : nullptr;
    const u64 bytes = stampedBytes(work, stamp);
    handleTogether<true>(work, isUsable(work, block, bytes) ? block : nullptr, stamp);
    if (block != nullptr) {
        allocator(work).free(block);
        *place = nullptr;
        atomicAdd(&work.counters->live, 0 - padded(bytes));
    }
}

// Bytes count as in use from before the request until after the free: so while they are within the limit there is memory.
__device__ void* requestPlace(const Work& work, void** place, u64 stamp, u64& peak) {
    const size_t bytes = stampedBytes(work, stamp);
    const u64 live = atomicAdd(&work.counters->live, padded(bytes)) + padded(bytes);
    void* block = allocator(work).malloc(bytes);
    *place = block;
    if (block == nullptr) {
        atomicAdd(&work.counters->live, 0 - padded(bytes));
        const bool should = bytes <= SMALL_BYTES && live <= work.limit;
        add(should ? &work.counters->falseNulls : &work.counters->otherNulls, 1);
        return nullptr;
    }
    peak = live > peak ? live : peak;
    return examine(work, block, bytes) ? block : nullptr;
}

// In each step a thread chooses one of its places. Below the aim it allocates if the place is empty, and frees with
// probability 0.25 if it isn't; above, the other way round. In every other step all threads of a warp act; between these,
// each but one in eight skips some, by its own probability, up to seven eighths: so groups of all kinds meet.
// `iterations` is the number of the first step.
extern "C" __global__ void churn(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    const u64 count = slots(work);
    u64* stamps = reinterpret_cast<u64*>(work.blocks + work.places * count);
    u64 operations = 0;
    u64 peak = 0;
    for (u64 step = 0; step < work.steps; step++) {
        const u64 stream = CHURN_STREAM + work.iterations + step;
        const u64 bits = randomBits(stream, slot);
        const bool acts = slot != NO_SLOT && (step % 2 == 0 || bits >> 61 >= slot % 8);
        const u64 index = acts ? (bits & 0xffffffff) * work.places / (1ull << 32) * count + slot : 0;
        const bool holds = acts && work.blocks[index] != nullptr;
        const bool above = *const_cast<volatile u64*>(&work.counters->live) >= work.aim;
        const bool turns = (bits >> 58 & 7) < 2;
        const bool frees = holds && (above || turns);
        const bool allocates = acts && !holds && (!above || turns);
        releasePlace(work, frees, work.blocks + index, frees ? stamps[index] : 0);
        void* block = nullptr;
        u64 stamp = 0;
        if (allocates) {
            stamp = randomBits(stream, slot | STAMP);
            stamps[index] = stamp;
            block = requestPlace(work, work.blocks + index, stamp, peak);
        }
        handleTogether<false>(work, block, stamp);
        operations += frees || allocates;
    }
    add(&work.counters->operations, operations);
    atomicMax(&work.counters->peak, peak);
}

extern "C" __global__ void drain(const __grid_constant__ Work work) {
    const unsigned slot = slotOf(work);
    const u64 count = slots(work);
    const u64* stamps = reinterpret_cast<const u64*>(work.blocks + work.places * count);
    for (u64 place = 0; place < work.places; place++) {
        const u64 index = slot == NO_SLOT ? 0 : place * count + slot;
        releasePlace(work, slot != NO_SLOT, work.blocks + index, slot == NO_SLOT ? 0 : stamps[index]);
    }
}

// One request, for `iterations` bytes.
extern "C" __global__ void largest(const __grid_constant__ Work work) {
    if (threadNumber() == 0) {
        void* block = allocator(work).malloc(work.iterations);
        add(&work.counters->largest, block != nullptr);
        allocator(work).free(block);
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
