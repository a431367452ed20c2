// What the scenarios share: a heap in host memory, what is known of each allocator, and what must hold of a heap while
// no thread works on it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define OUTBOARD_PLATFORM "cpu_platform.h"
#include "outboard/atomic_malloc.cuh"
#include "outboard/aw_malloc.cuh"
#include "outboard/bit_malloc.cuh"
#include "outboard/c_malloc.cuh"
#include "outboard/cf_malloc.cuh"
#include "outboard/cfm_malloc.cuh"
#include "outboard/cm_malloc.cuh"
#include "outboard/heap_scan.cuh"
#include "outboard/heap_setup.cuh"
#include "outboard/xmalloc.cuh"

#include "bit_promise.h"

using namespace outboard;

struct Settings {
    std::string command;
    uint64_t seed;
    u32 threads;
    u32 operations;
    u32 stalls;
    bool turns;
};

[[noreturn]] inline void fail(const Settings& settings, const std::string& what) {
    std::printf("%s\nagain with: %s\n", what.c_str(), settings.command.c_str());
    std::fflush(stdout);
    std::_Exit(1);  // other threads still run
}

inline void require(const Settings& settings, bool condition, const char* what) {
    if (!condition) {
        fail(settings, what);
    }
}

struct Statistics {
    u64 values[STATISTICS];

    u64 capacity() const { return values[0]; }
    u64 usedChunks() const { return values[1]; }
    u64 usedBytes() const { return values[2]; }
    u64 freeChunks() const { return values[3]; }
    u64 freeBytes() const { return values[4]; }
    u64 largestFree() const { return values[5]; }
    u64 misuses() const { return values[6]; }
    u64 trackedChunks() const { return values[7]; }
    u64 largestFreeChunk() const { return values[9]; }

    double slack() const {
        double slack;
        std::memcpy(&slack, &values[8], sizeof(slack));
        return slack;
    }
};

struct Split {
    u32 scheme;
    u64 chunkBytes;
    u64 endBytes;
};

// A heap in host memory, poisoned before it is made if it is small, between pages that can't be touched.
class TestHeap {
    static constexpr size_t GUARD = 1 << 16;
    static constexpr u64 MOST_POISONED = 2 << 20;
    unsigned char* mapping;
    size_t mapped;

  public:
    Heap* heap;

    TestHeap(u64 bytes, u32 multiprocessors, u32 maxFragmentation, u32 flags, const Split& split) {
        mapped = bytes + 2 * GUARD;
        mapping = static_cast<unsigned char*>(
                mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (mapping == MAP_FAILED || mprotect(mapping + GUARD, bytes, PROT_READ | PROT_WRITE) != 0) {
            std::printf("no address space for %llu bytes\n", bytes);
            std::exit(2);
        }
        heap = reinterpret_cast<Heap*>(mapping + GUARD);
        const bool poison = bytes <= MOST_POISONED;
        if (poison) {
            std::memset(static_cast<void*>(heap), 0xA5, bytes);
        }
        if (!format(heap, bytes, multiprocessors, maxFragmentation, flags)) {
            std::printf("no heap has %llu bytes\n", bytes);
            std::exit(2);
        }
        if (poison) {
            clearTables(heap, 0, 1);
        }
        preSplit(heap, split.scheme, split.chunkBytes, split.endBytes, 0, 1);
    }

    TestHeap(const TestHeap&) = delete;

    ~TestHeap() {
        munmap(mapping, mapped);
    }

    u64 capacity() const {
        return static_cast<u64>(heap->units) * UNIT_BYTES;
    }

    // From now on a touch of the memory that is handed out ends the program: nothing of the allocator's may stand
    // there.
    void closeArea() const {
        const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        const uintptr_t from = (reinterpret_cast<uintptr_t>(heap->area) + page - 1) / page * page;
        const uintptr_t to = (reinterpret_cast<uintptr_t>(heap->area) + capacity()) / page * page;
        if (from < to && mprotect(reinterpret_cast<void*>(from), to - from, PROT_NONE) != 0) {
            std::printf("the area can't be closed\n");
            std::exit(2);
        }
    }

    Statistics statistics(u32 segments = 7) const {
        std::vector<Segment> parts(segments);
        for (u32 i = 0; i < segments; ++i) {
            scanSegment(heap, parts.data(), i, segments);
        }
        Statistics result;
        summarise(heap, parts.data(), segments, result.values);
        return result;
    }
};

// XMalloc's: its blocks are the driver's, of which there are so many bytes.
class TestQueues {
    alignas(256) unsigned char memory[XMALLOC_BYTES];

  public:
    Heap* const heap = reinterpret_cast<Heap*>(memory);

    explicit TestQueues(u64 driverBytes) {
        std::memset(memory, 0xA5, sizeof(memory));
        for (const u32 thread : {2u, 0u, 1u}) {
            xmcInit(heap, thread, 3);
        }
        driverHeap.limit = driverBytes;
    }

    TestQueues(const TestQueues&) = delete;
};

template <class A>
struct Traits {
    static constexpr u32 LANES = 1;
    using Plain = A;
};

template <class A>
struct Traits<Coalesced<A>> {
    static constexpr u32 LANES = 4;
    using Plain = A;
};

#ifdef OUTBOARD_CHECKED
constexpr bool CHECKED = true;
#else
constexpr bool CHECKED = false;
#endif

template <class A>
constexpr bool USES_BITS = std::is_same<typename Traits<A>::Plain, BitMalloc>::value;

template <class A>
constexpr bool IS_XMALLOC = std::is_same<typename Traits<A>::Plain, XMalloc>::value;

template <class A>
u32 flagsOf() {
    using Plain = typename Traits<A>::Plain;
    if (IS_XMALLOC<A>) {
        return ~0u;  // no heap with chunks
    }
    if (!A::CAN_FREE) {
        return FLAG_BUMP;
    }
    if (USES_BITS<A>) {
        return FLAG_FREE_BITS | (CHECKED ? FLAG_START_BITS : 0);
    }
    return std::is_same<Plain, CMalloc>::value || std::is_same<Plain, CMMalloc>::value ? FLAG_START_BITS : 0;
}

template <class A>
u32 multiprocessorsOf() {
    using Plain = typename Traits<A>::Plain;
    const bool some = std::is_same<Plain, CMMalloc>::value || std::is_same<Plain, CFMMalloc>::value || USES_BITS<A>;
    return some ? 3 : 0;
}

inline size_t randomSize() {
    const u32 kind = self.next() & 15;
    const u32 limit = kind < 8 ? 64 : kind < 14 ? 1024 : kind < 15 ? 8192 : 65536;
    return 1 + self.next() % limit;
}

// Bytes of the largest requests that a fresh heap serves all at once: but for BitMalloc the capacity.
template <class A>
std::vector<u64> largestOf(const Heap* heap) {
    const u64 capacity = static_cast<u64>(heap->units) * UNIT_BYTES;
    const u64 granules = USES_BITS<A> ? capacity >> 16 << 16 : capacity;
    std::vector<u64> sizes{granules, capacity - granules};
    sizes.erase(std::remove(sizes.begin(), sizes.end(), 0), sizes.end());
    return sizes;
}

// While no thread works on the heap, every word with open chunks is known to all levels above it.
inline void requireLevels(const Settings& settings, const Heap* heap) {
    if ((heap->flags & FLAG_FREE_BITS) != 0) {
        const FreeBits free(heap);
        if (!free.wrong.empty()) {
            fail(settings, free.wrong);
        }
        return;
    }
    u64 entries = heap->words;
    for (u32 level = 0; level < heap->top; ++level) {
        for (u64 i = 0; i < entries; ++i) {
            const bool known = (low(heap->level[level + 1][i >> WORD_LOG2]) & bitOf(static_cast<u32>(i))) != 0;
            require(settings, known || low(heap->level[level][i]) == 0, "an open chunk is out of sight");
        }
        entries = (entries >> WORD_LOG2) + 1;
    }
    require(settings, heap->counters->updatesBegun == heap->counters->updatesDone, "an update never ends");
}

// All free again: one chunk of the whole capacity can be had, so that all were joined.
template <class A>
void requireWhole(const Settings& settings, const TestHeap& heap, u64 misuses) {
    const Statistics statistics = heap.statistics();
    const u64 capacity = heap.capacity();
    require(settings, statistics.capacity() == capacity, "the chunks don't add up to the heap");
    require(settings, statistics.usedChunks() == 0, "chunks are used after all were freed");
    require(settings, statistics.largestFree() == capacity, "free memory doesn't lie in one row");
    require(settings, statistics.misuses() == misuses, "misuses aren't counted as they were");
    requireLevels(settings, heap.heap);
    typename Traits<A>::Plain allocator{heap.heap};
    std::vector<void*> parts;
    for (const u64 bytes : largestOf<A>(heap.heap)) {
        parts.push_back(allocator.malloc(bytes));
        require(settings, parts.back() != nullptr, "the whole heap can't be allocated as one chunk");
    }
    require(settings, allocator.malloc(1) == nullptr, "memory was handed out twice");
    for (void* const part : parts) {
        allocator.free(part);
    }
    require(settings, heap.statistics().freeBytes() == capacity, "the whole heap wasn't freed");
}

// All freed: what there is lies in the queues, and goes back to the driver.
template <class A>
void requireWhole(const Settings& settings, const TestQueues& queues, u64) {
    A allocator{queues.heap};
    for (const u32 thread : {1u, 0u}) {
        allocator.drain(thread, 2);
    }
    require(settings, driverHeap.blocks == 0 && driverHeap.used == 0, "blocks aren't given back");
}
