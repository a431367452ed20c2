// The in-kernel allocators on CPU threads: many at once, stalled before every shared access, each block filled with its
// owner's tag. Built twice more with the thread sanitizer and with those for addresses and undefined behaviour.
//
//   stress ALLOCATOR SCENARIO SEED THREADS OPERATIONS STALLS
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#define OUTBOARD_PLATFORM "cpu_platform.h"
#include "outboard/atomic_malloc.cuh"
#include "outboard/aw_malloc.cuh"
#include "outboard/c_malloc.cuh"
#include "outboard/cf_malloc.cuh"
#include "outboard/cfm_malloc.cuh"
#include "outboard/cm_malloc.cuh"
#include "outboard/heap_scan.cuh"
#include "outboard/heap_setup.cuh"

using namespace outboard;

namespace {

struct Settings {
    std::string command;
    uint64_t seed;
    u32 threads;
    u32 operations;
    u32 stalls;
};

[[noreturn]] void fail(const Settings& settings, const std::string& what) {
    std::printf("%s\nagain with: %s\n", what.c_str(), settings.command.c_str());
    std::exit(1);
}

void require(const Settings& settings, bool condition, const std::string& what) {
    if (!condition) {
        fail(settings, what);
    }
}

struct Statistics {
    u64 values[STATISTICS];

    u64 capacity() const { return values[0]; }
    u64 usedChunks() const { return values[1]; }
    u64 usedBytes() const { return values[2]; }
    u64 freeBytes() const { return values[4]; }
    u64 largestFree() const { return values[5]; }
    u64 misuses() const { return values[6]; }
};

// A heap in host memory, poisoned before it is made, between pages that can't be touched.
class TestHeap {
    static constexpr size_t GUARD = 1 << 16;
    unsigned char* mapping;
    size_t mapped;

  public:
    Heap* heap;

    TestHeap(u64 bytes, u32 multiprocessors, u32 maxFragmentation, u32 flags, u32 scheme, u64 chunkBytes, u64 endBytes,
             bool poison = true) {
        mapped = bytes + 2 * GUARD;
        mapping = static_cast<unsigned char*>(
                mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (mapping == MAP_FAILED || mprotect(mapping + GUARD, bytes, PROT_READ | PROT_WRITE) != 0) {
            std::printf("no address space for %llu bytes\n", bytes);
            std::exit(2);
        }
        heap = reinterpret_cast<Heap*>(mapping + GUARD);
        if (poison) {
            std::memset(static_cast<void*>(heap), 0xA5, bytes);
        }
        format(heap, bytes, multiprocessors, maxFragmentation, flags);
        if (poison) {
            clearTables(heap, 0, 1);
        }
        preSplit(heap, scheme, chunkBytes, endBytes, 0, 1);
    }

    ~TestHeap() {
        munmap(mapping, mapped);
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

struct Block {
    unsigned char* bytes;
    size_t size;
    unsigned char tag;
};

bool isIntact(const Block& block) {
    return std::all_of(block.bytes, block.bytes + block.size, [&](unsigned char b) { return b == block.tag; });
}

void run(const Settings& settings, u32 lanes, const std::function<void(u32)>& body) {
    std::vector<Warp> warps(settings.threads / lanes + 1);
    std::vector<std::thread> threads;
    for (u32 i = 0; i < settings.threads; ++i) {
        threads.emplace_back([&, i] {
            self.random = settings.seed * 0x9E3779B97F4A7C15ull + i * 0xD1B54A32D192ED03ull;
            self.multiprocessor = i / lanes;
            self.warp = lanes > 1 ? &warps[i / lanes] : nullptr;
            self.stalls = settings.stalls;
            body(i);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

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

template <class A>
u32 flagsOf() {
    using Plain = typename Traits<A>::Plain;
    if (!A::CAN_FREE) {
        return FLAG_BUMP;
    }
    return std::is_same<Plain, CMalloc>::value || std::is_same<Plain, CMMalloc>::value ? FLAG_START_BITS : 0;
}

template <class A>
u32 multiprocessorsOf() {
    using Plain = typename Traits<A>::Plain;
    return std::is_same<Plain, CMMalloc>::value || std::is_same<Plain, CFMMalloc>::value ? 3 : 0;
}

size_t randomSize() {
    const u32 kind = self.next() & 15;
    const u32 limit = kind < 8 ? 64 : kind < 14 ? 1024 : kind < 15 ? 8192 : 65536;
    return 1 + self.next() % limit;
}

Block filled(const Settings& settings, void* pointer, size_t size) {
    require(settings, (reinterpret_cast<uintptr_t>(pointer) & 15) == 0, "a pointer isn't aligned to 16 bytes");
    const Block block{static_cast<unsigned char*>(pointer), size, static_cast<unsigned char>(self.next())};
    std::memset(block.bytes, block.tag, size);
    return block;
}

// All free again: one chunk of the whole capacity can be had, so that all were joined.
template <class A>
void requireWhole(const Settings& settings, const TestHeap& heap, u64 misuses) {
    const Statistics statistics = heap.statistics();
    const u64 capacity = static_cast<u64>(heap.heap->units) * UNIT_BYTES;
    require(settings, statistics.capacity() == capacity, "the chunks don't add up to the heap");
    require(settings, statistics.usedChunks() == 0, "chunks are used after all were freed");
    require(settings, statistics.largestFree() == capacity, "free memory doesn't lie in one row");
    require(settings, statistics.misuses() == misuses, "misuses counted: " + std::to_string(statistics.misuses()));
    typename Traits<A>::Plain allocator{heap.heap};
    void* const whole = allocator.malloc(capacity);
    require(settings, whole != nullptr, "the whole heap can't be allocated as one chunk");
    require(settings, allocator.malloc(1) == nullptr, "memory was handed out twice");
    allocator.free(whole);
    require(settings, heap.statistics().freeBytes() == capacity, "the whole heap wasn't freed");
}

// Sizes of all kinds, kept for a while, in a heap that is full now and then.
template <class A>
void mix(const Settings& settings) {
    const u32 lanes = Traits<A>::LANES;
    for (const u32 fragmentation : {256u, 512u}) {
        TestHeap heap(1 << 19, multiprocessorsOf<A>(), fragmentation, flagsOf<A>() | FLAG_TRACK, SPLIT_BINARY_HEAP, 512, 0);
        run(settings, lanes, [&](u32) {
            A allocator{heap.heap};
            std::vector<Block> blocks;
            for (u32 i = 0; i < settings.operations; ++i) {
                if (blocks.size() > 40 || (!blocks.empty() && (self.next() & 1) == 0)) {
                    std::swap(blocks[self.next() % blocks.size()], blocks.back());
                    require(settings, isIntact(blocks.back()), "a block was overwritten");
                    allocator.free(blocks.back().bytes);
                    blocks.pop_back();
                } else {
                    const size_t size = randomSize();
                    void* const pointer = allocator.malloc(size);
                    if (pointer != nullptr) {
                        blocks.push_back(filled(settings, pointer, size));
                    }
                }
            }
            for (const Block& block : blocks) {
                require(settings, isIntact(block), "a block was overwritten");
                require(settings, allocator.chunkBytes(block.bytes) >= block.size, "a chunk is too small");
                allocator.free(block.bytes);
            }
        });
        requireWhole<A>(settings, heap, 0);
    }
}

// As many blocks as threads and no more: there is room for each of them at any time, so none may be refused.
template <class A>
void exact(const Settings& settings) {
    for (const u32 units : {1u, 7u, 32u, 100u}) {
        const u64 blockBytes = units * UNIT_BYTES;
        TestHeap sized(1 << 16, multiprocessorsOf<A>(), 256, flagsOf<A>(), SPLIT_NONE, 0, 0);
        // What is more than the threads need is taken away first, at the end.
        typename Traits<A>::Plain setup{sized.heap};
        const u64 capacity = static_cast<u64>(sized.heap->units) * UNIT_BYTES;
        const u64 needed = settings.threads * blockBytes;
        require(settings, needed < capacity, "threads=" + std::to_string(settings.threads) + " are too many");
        void* const front = setup.malloc(needed);
        void* const rest = setup.malloc(capacity - needed);
        require(settings, front != nullptr && rest != nullptr, "the heap can't be filled");
        setup.free(front);
        run(settings, Traits<A>::LANES, [&](u32) {
            A allocator{sized.heap};
            for (u32 i = 0; i < settings.operations; ++i) {
                void* const pointer = allocator.malloc(blockBytes);
                require(settings, pointer != nullptr, "null, though the heap has room");
                const Block block = filled(settings, pointer, blockBytes);
                require(settings, isIntact(block), "a block was overwritten");
                allocator.free(pointer);
            }
        });
        setup.free(rest);
        requireWhole<A>(settings, sized, 0);
    }
}

// Until there is no more. Every unit is served, and every thread is told in the end.
template <class A>
void exhaust(const Settings& settings) {
    TestHeap heap(1 << 18, multiprocessorsOf<A>(), 256, flagsOf<A>(), SPLIT_BINARY_HEAP, 1024, 8192);
    std::atomic<u64> served{0};
    run(settings, Traits<A>::LANES, [&](u32 thread) {
        A allocator{heap.heap};
        const size_t size = thread % 2 == 0 ? 16 : 48;
        u64 mine = 0;
        for (const size_t part : {size, static_cast<size_t>(16)}) {
            while (void* const pointer = allocator.malloc(part)) {
                filled(settings, pointer, part);
                mine += part;
            }
        }
        served += mine;
    });
    const u64 capacity = static_cast<u64>(heap.heap->units) * UNIT_BYTES;
    require(settings, served == capacity, "served " + std::to_string(served) + " of " + std::to_string(capacity));
    if (A::CAN_FREE) {
        require(settings, heap.statistics().usedBytes() == capacity, "the chunks don't add up to the heap");
    }
}

// Second frees and pointers that no malloc gave, among threads that do it right.
template <class A>
void misuse(const Settings& settings) {
    TestHeap heap(1 << 18, multiprocessorsOf<A>(), 256, flagsOf<A>(), SPLIT_UNIFORM, 4096, 0);
    typename Traits<A>::Plain single{heap.heap};
    unsigned char* const kept = static_cast<unsigned char*>(single.malloc(64));
    void* const freed = single.malloc(5000);
    single.free(freed);
    single.free(nullptr);
    require(settings, heap.statistics().misuses() == 0, "a right free was counted as wrong");
    unsigned char outside[16];
    const std::vector<void*> wrong = {
            freed, kept + 16, kept + 8, outside, static_cast<void*>(heap.heap), heap.heap->address(heap.heap->units)};
    for (void* const pointer : wrong) {
        const Statistics before = heap.statistics();
        single.free(pointer);
        const Statistics after = heap.statistics();
        require(settings, after.misuses() == before.misuses() + 1, "a wrong free wasn't counted");
        require(settings, after.freeBytes() == before.freeBytes(), "a wrong free changed the heap");
    }
    require(settings, single.malloc(0) == nullptr, "a chunk for 0 bytes");
    require(settings, single.malloc(~static_cast<size_t>(0)) == nullptr, "a chunk for all that size_t can say");
    require(settings, single.malloc(1ull << 36) == nullptr, "a chunk for 64 GiB");
    // Several threads free the same pointer at once: one of them is right.
    for (u32 i = 0; i < settings.operations; ++i) {
        void* const shared = single.malloc(64);
        const u64 before = heap.statistics().misuses();
        run(settings, 1, [&](u32) { single.free(shared); });
        require(settings, heap.statistics().misuses() == before + settings.threads - 1, "frees at once miscounted");
    }
    single.free(kept);
    requireWhole<A>(settings, heap, heap.statistics().misuses());
}

// Addresses beyond 32 bits, in a heap of 64 GiB of which little is touched.
template <class A>
void large(const Settings& settings) {
    const u64 bytes = 64ull << 30;
    TestHeap heap(bytes, multiprocessorsOf<A>(), 256, flagsOf<A>(), SPLIT_NONE, 0, 0, false);
    typename Traits<A>::Plain allocator{heap.heap};
    require(settings, static_cast<u64>(heap.heap->units) * UNIT_BYTES > bytes / 100 * 95, "the tables are too large");
    std::vector<Block> blocks;
    for (int i = 0; i < 15; ++i) {
        const size_t size = (4ull << 30) + 16 * static_cast<size_t>(i);
        unsigned char* const pointer = static_cast<unsigned char*>(allocator.malloc(size));
        require(settings, pointer != nullptr, "no 4 GiB in 64");
        require(settings, pointer >= heap.heap->area && pointer + size <= reinterpret_cast<unsigned char*>(heap.heap) + bytes,
                "a chunk outside the heap");
        blocks.push_back(filled(settings, pointer, 4096));
        blocks.push_back(filled(settings, pointer + size - 4096, 4096));
    }
    for (const Block& block : blocks) {
        require(settings, isIntact(block), "a block was overwritten");
    }
    for (size_t i = 0; i < blocks.size(); i += 2) {
        allocator.free(blocks[i].bytes);
    }
    void* const most = allocator.malloc(static_cast<u64>(heap.heap->units) * UNIT_BYTES);
    require(settings, most != nullptr, "64 GiB can't be had again");
    allocator.free(most);
}

// Requests too large for what is left, among those that fit: the counter ends where the last block does.
template <class A>
void bump(const Settings& settings) {
    TestHeap heap(1 << 18, 0, 256, FLAG_BUMP, SPLIT_NONE, 0, 0);
    std::atomic<u64> served{0};
    std::vector<std::vector<Block>> blocks(settings.threads);
    run(settings, Traits<A>::LANES, [&](u32 thread) {
        A allocator{heap.heap};
        for (u32 i = 0; i < settings.operations; ++i) {
            const size_t size = (self.next() & 1) == 0 ? 16 * (1 + self.next() % 4) : 100000 + self.next() % 100000;
            void* const pointer = allocator.malloc(size);
            if (pointer != nullptr) {
                blocks[thread].push_back(filled(settings, pointer, size));
                served += (size + 15) / 16;
            }
        }
        while (allocator.malloc(16) != nullptr) {
            ++served;
        }
    });
    for (const auto& mine : blocks) {
        for (const Block& block : mine) {
            require(settings, isIntact(block), "a block was overwritten");
        }
    }
    require(settings, served == heap.heap->units && heap.heap->counters->bump == heap.heap->units, "the counter isn't exact");
}

// Wraps, and never leaves the heap.
template <class A>
void wrap(const Settings& settings) {
    TestHeap heap(1 << 16, 0, 256, FLAG_BUMP, SPLIT_NONE, 0, 0);
    run(settings, Traits<A>::LANES, [&](u32) {
        A allocator{heap.heap};
        for (u32 i = 0; i < settings.operations; ++i) {
            const size_t size = 1 + self.next() % 20000;
            unsigned char* const pointer = static_cast<unsigned char*>(allocator.malloc(size));
            require(settings, pointer != nullptr && (reinterpret_cast<uintptr_t>(pointer) & 15) == 0, "no pointer");
            require(settings, pointer >= heap.heap->area
                            && pointer + size <= heap.heap->area + static_cast<u64>(heap.heap->units) * UNIT_BYTES,
                    "a block leaves the heap");
        }
        require(settings, allocator.malloc(1 << 17) == nullptr, "more than the heap has");
    });
}

template <class A>
int scenario(const std::string& name, const Settings& settings) {
    if constexpr (A::CAN_FREE) {
        if (name == "mix") {
            mix<A>(settings);
        } else if (name == "exact") {
            exact<A>(settings);
        } else if (name == "exhaust") {
            exhaust<A>(settings);
        } else if (name == "misuse") {
            misuse<A>(settings);
        } else if (name == "large") {
            large<A>(settings);
        } else {
            std::printf("scenario=%s must be mix, exact, exhaust, misuse or large\n", name.c_str());
            return 2;
        }
    } else if (name == "bump") {
        bump<A>(settings);
    } else if (name == "wrap") {
        wrap<A>(settings);
    } else {
        std::printf("scenario=%s must be bump or wrap\n", name.c_str());
        return 2;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7) {
        std::printf("stress ALLOCATOR SCENARIO SEED THREADS OPERATIONS STALLS\n");
        return 2;
    }
    Settings settings;
    for (int i = 0; i < argc; ++i) {
        settings.command += (i == 0 ? "" : " ") + std::string(i == 0 ? "stress" : argv[i]);
    }
    const std::string allocator = argv[1];
    settings.seed = std::strtoull(argv[3], nullptr, 10);
    settings.threads = static_cast<u32>(std::strtoul(argv[4], nullptr, 10));
    settings.operations = static_cast<u32>(std::strtoul(argv[5], nullptr, 10));
    settings.stalls = static_cast<u32>(std::strtoul(argv[6], nullptr, 10));
#define OUTBOARD_RUN(name)                                                  \
    if (allocator == #name) {                                               \
        return scenario<name>(argv[2], settings);                           \
    }                                                                       \
    if (allocator == #name "-coalesced") {                                  \
        return scenario<Coalesced<name>>(argv[2], settings);                \
    }
    OUTBOARD_RUN(AtomicMalloc)
    OUTBOARD_RUN(AWMalloc)
    OUTBOARD_RUN(CMalloc)
    OUTBOARD_RUN(CFMalloc)
    OUTBOARD_RUN(CMMalloc)
    OUTBOARD_RUN(CFMMalloc)
#undef OUTBOARD_RUN
    std::printf("allocator=%s must be one of the paper's names, or with -coalesced\n", allocator.c_str());
    return 2;
}
