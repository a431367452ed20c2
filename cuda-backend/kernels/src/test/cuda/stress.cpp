// The in-kernel allocators on CPU threads: many at once, stalled before every shared access, each block filled with its
// owner's tag. Built twice more with the thread sanitizer and with those for addresses and undefined behaviour.
//
//   stress ALLOCATOR SCENARIO SEED THREADS OPERATIONS STALLS
//
// ALLOCATOR: the paper's name, or with -coalesced. STALLS: of 65536 accesses so many are stalled, or
// "turns": one thread runs at a time (turns.h), and the same seed shows the same again.
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again.
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"

namespace {

struct Block {
    unsigned char* bytes;
    size_t size;
    unsigned char tag;
};

bool isIntact(const Block& block) {
    return std::all_of(block.bytes, block.bytes + block.size, [&](unsigned char b) { return b == block.tag; });
}

// With a tag of its own; no more than its first bytes if it is large.
Block filled(const Settings& settings, void* pointer, size_t size) {
    require(settings, (reinterpret_cast<uintptr_t>(pointer) & 15) == 0, "a pointer isn't aligned to 16 bytes");
    const unsigned char tag = static_cast<unsigned char>(self.next());
    const Block block{static_cast<unsigned char*>(pointer), std::min<size_t>(size, 65536), tag};
    std::memset(block.bytes, block.tag, block.size);
    return block;
}

void run(const Settings& settings, u32 lanes, const std::function<void(u32)>& body) {
    std::vector<Warp> warps(settings.threads / lanes + 1);
    Turns turns(settings.threads, settings.seed);
    std::vector<std::thread> threads;
    for (u32 i = 0; i < settings.threads; ++i) {
        threads.emplace_back([&, i] {
            self.random = settings.seed * 0x9E3779B97F4A7C15ull + i * 0xD1B54A32D192ED03ull;
            self.multiprocessor = i / lanes;
            self.lane = i % lanes;
            self.warp = lanes > 1 ? &warps[i / lanes] : nullptr;
            self.stalls = settings.stalls;
            if (settings.turns) {
                self.turns = &turns;
                self.place = i;
                turns.begin(i);
                body(i);
                turns.end(i);
            } else {
                body(i);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// Blocks of random sizes, kept for a while, in a heap that is full now and then.
template <class A, class SomeHeap>
void mixed(const Settings& settings, const SomeHeap& heap, size_t most, const std::function<size_t()>& size) {
    run(settings, Traits<A>::LANES, [&](u32) {
        A allocator{heap.heap};
        std::vector<Block> blocks;
        for (u32 i = 0; i < settings.operations; ++i) {
            if (blocks.size() > most || (!blocks.empty() && (self.next() & 1) == 0)) {
                std::swap(blocks[self.next() % blocks.size()], blocks.back());
                require(settings, isIntact(blocks.back()), "a block was overwritten");
                allocator.free(blocks.back().bytes);
                blocks.pop_back();
            } else {
                const size_t bytes = size();
                void* const pointer = allocator.malloc(bytes);
                if (pointer != nullptr) {
                    if constexpr (!IS_XMALLOC<A>) {
                        require(settings, allocator.chunkBytes(pointer) >= bytes, "a chunk is too small");
                    }
                    blocks.push_back(filled(settings, pointer, bytes));
                }
            }
        }
        for (const Block& block : blocks) {
            require(settings, isIntact(block), "a block was overwritten");
            allocator.free(block.bytes);
        }
    });
    requireWhole<A>(settings, heap, 0);
}

template <class A>
void mix(const Settings& settings) {
    if constexpr (IS_XMALLOC<A>) {
        const TestQueues queues(1 << 20);
        mixed<A>(settings, queues, 40, randomSize);
        return;
    }
    for (const u32 fragmentation : {256u, 512u}) {
        const u32 flags = flagsOf<A>() | FLAG_TRACK;
        const TestHeap heap(1 << 19, multiprocessorsOf<A>(), fragmentation, flags, {SPLIT_BINARY_HEAP, 512, 0});
        mixed<A>(settings, heap, 40, randomSize);
    }
}

// A heap of a few words: all threads divide and join the same chunks, and most requests are refused now and then.
template <class A>
void narrow(const Settings& settings) {
    Settings own = settings;
    own.stalls *= 8;
    if constexpr (IS_XMALLOC<A>) {
        // A few blocks of a few classes: queues are emptied all the time.
        const TestQueues queues(4 << 10);
        mixed<A>(own, queues, 2, [] { return 1 + self.next() % 500; });
        return;
    }
    const u64 more = USES_BITS<A> ? 2048 : 0;  // of tables
    for (const u64 bytes : {LEAST_HEAP_BYTES, LEAST_HEAP_BYTES + more}) {
        const TestHeap heap(bytes, multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_UNIFORM, 16, 0});
        mixed<A>(own, heap, 2, [] { return 1 + self.next() % 192; });
    }
    // Large blocks among the smallest ones: chunks of several words are joined, and given back if one of them is lost.
    const TestHeap heap(8192 + more, multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_UNIFORM, 16, 0});
    mixed<A>(own, heap, 2, [] { return 1 + self.next() % (self.next() % 4 == 0 ? 3000 : 16); });
}

// Takes away all of a fresh heap but so many bytes at its begin.
template <class A>
void* leave(const Settings& settings, const TestHeap& heap, u64 bytes) {
    typename Traits<A>::Plain allocator{heap.heap};
    void* const front = allocator.malloc(bytes);
    void* const rest = allocator.malloc(heap.capacity() - bytes);
    require(settings, front != nullptr && rest != nullptr, "the heap can't be filled");
    allocator.free(front);
    return rest;
}

// The same in blocks, of which so many are given back: side by side, as no search for equal sizes needs more.
template <class A>
std::vector<void*> leaveBlocks(const TestHeap& heap, u64 blockBytes, u32 blocks) {
    typename Traits<A>::Plain allocator{heap.heap};
    std::vector<void*> all;
    while (void* const pointer = allocator.malloc(blockBytes)) {
        all.push_back(pointer);
    }
    std::sort(all.begin(), all.end());
    for (u32 i = 0; i < blocks; ++i) {
        allocator.free(all[i]);
    }
    all.erase(all.begin(), all.begin() + blocks);
    return all;
}

// In a row, of one thread.
constexpr u32 MOST_REFUSALS = 100000;

// As many blocks as threads and no more: there is room for each of them at any time, so none may be refused. Sizes that
// leave no gaps where chunks are divided; the two largest are one block for each word of level 1, and of level 2.
//
// BitMalloc may refuse one for what is in the hands of others' calls (bit_search.cuh), but not for long. Its largest are a
// part of a granule of level 2, and one.
template <class A>
void exact(const Settings& settings) {
    const std::vector<u32> ofLists = {1, 7, 32, 1024, 32768};
    const std::vector<u32> ofBits = {1, 8, 32, 64, 1024, 4096};
    for (const u32 units : USES_BITS<A> ? ofBits : ofLists) {
        const u64 blockBytes = units * UNIT_BYTES;
        const u64 needed = settings.threads * blockBytes;
        TestHeap heap(needed + needed / 16 + (1 << 16), multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_NONE, 0, 0});
        const std::vector<void*> rest = USES_BITS<A> ? leaveBlocks<A>(heap, blockBytes, settings.threads)
                                                     : std::vector<void*>{leave<A>(settings, heap, needed)};
        run(settings, Traits<A>::LANES, [&](u32) {
            A allocator{heap.heap};
            for (u32 i = 0; i < settings.operations; ++i) {
                void* pointer = allocator.malloc(blockBytes);
                for (u32 left = USES_BITS<A> ? MOST_REFUSALS : 0; pointer == nullptr && left != 0; --left) {
                    std::this_thread::yield();
                    pointer = allocator.malloc(blockBytes);
                }
                require(settings, pointer != nullptr, "null, though the heap has room");
                const Block block = filled(settings, pointer, std::min<u64>(blockBytes, 1024));
                require(settings, isIntact(block), "a block was overwritten");
                allocator.free(pointer);
            }
        });
        for (void* const pointer : rest) {
            typename Traits<A>::Plain{heap.heap}.free(pointer);
        }
        requireWhole<A>(settings, heap, 0);
    }
}

// One block of random size for each thread. The heap is 2 * threads - 1 times the largest, and a block lies in two of
// these places at most: one at least is wholly free at any time, so none may be refused, however it is divided.
template <class A>
void room(const Settings& settings) {
    for (const u32 most : {8u, 200u, 3000u}) {
        const u64 needed = (2 * settings.threads - 1) * static_cast<u64>(most) * UNIT_BYTES;
        const u64 bytes = needed + needed / 16 + (1 << 16);
        const TestHeap heap(bytes, multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_UNIFORM, 64, 0});
        void* const rest = leave<A>(settings, heap, needed);
        run(settings, Traits<A>::LANES, [&](u32) {
            A allocator{heap.heap};
            for (u32 i = 0; i < settings.operations; ++i) {
                void* const pointer = allocator.malloc((1 + self.next() % most) * UNIT_BYTES);
                require(settings, pointer != nullptr, "null, though the heap has room");
                allocator.free(pointer);
            }
        });
        typename Traits<A>::Plain{heap.heap}.free(rest);
        requireWhole<A>(settings, heap, 0);
    }
}

// Until there is no more. Every unit is served, and every thread is told in the end. BitMalloc's blocks of less than 1 KiB
// lie within one, so the two sizes alone leave some.
template <class A>
void exhaust(const Settings& settings) {
    TestHeap heap(1 << 18, multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_BINARY_HEAP, 1024, 8192});
    std::atomic<u64> served{0};
    const auto takeAll = [&](size_t even, size_t odd) {
        run(settings, Traits<A>::LANES, [&](u32 thread) {
            A allocator{heap.heap};
            const size_t size = thread % 2 == 0 ? even : odd;
            u64 mine = 0;
            while (void* const pointer = allocator.malloc(size)) {
                filled(settings, pointer, size);
                mine += size;
            }
            served += mine;
        });
    };
    takeAll(64, 208);
    if (USES_BITS<A> && served < heap.capacity() / 100 * 98) {
        fail(settings, "served " + std::to_string(served) + " bytes of " + std::to_string(heap.capacity()) + " at first");
    }
    // By all once they have ended, or those who are late find nothing left for the first sizes.
    takeAll(16, 16);
    if (served != heap.capacity()) {
        fail(settings, "served " + std::to_string(served) + " bytes of " + std::to_string(heap.capacity()));
    }
    require(settings, heap.statistics().usedBytes() == heap.capacity(), "the chunks don't add up to the heap");
}

// Second frees and pointers that no malloc gave, among threads that do it right.
template <class A>
void misuse(const Settings& settings) {
    TestHeap heap(1 << 18, multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_UNIFORM, 4096, 0});
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
    // All threads free the same pointer at once: one of them is right.
    Meeting all;
    all.members = settings.threads;
    void* shared = nullptr;
    run(settings, 1, [&](u32 thread) {
        self.stalls *= 8;
        for (u32 i = 0; i < settings.operations; ++i) {
            if (thread == 0) {
                shared = single.malloc(64);
            }
            all.barrier();
            single.free(shared);
            all.barrier();
        }
    });
    single.free(kept);
    requireWhole<A>(settings, heap, wrong.size() + static_cast<u64>(settings.operations) * (settings.threads - 1));
}

// Each block is freed by several threads, while others allocate. Such a free may hit the next owner's block, which
// nobody can tell from a right one, but the heap stays whole, if OUTBOARD_CHECKED is defined.
template <class A>
void careless(const Settings& settings) {
    const TestHeap heap((1 << 13) + (USES_BITS<A> ? 2048 : 0), multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_UNIFORM, 64, 0});
    std::vector<std::atomic<void*>> blocks(4);
    run(settings, Traits<A>::LANES, [&](u32) {
        A allocator{heap.heap};
        for (u32 i = 0; i < settings.operations; ++i) {
            std::atomic<void*>& block = blocks[self.next() % blocks.size()];
            if ((self.next() & 1) == 0) {
                allocator.free(block.load());
            } else {
                allocator.free(block.exchange(allocator.malloc(1 + self.next() % 128)));
            }
        }
    });
    for (const auto& block : blocks) {
        typename Traits<A>::Plain{heap.heap}.free(block.load());
    }
    requireWhole<A>(settings, heap, heap.statistics().misuses());
}

// Addresses beyond 32 bits, in a heap of 64 GiB of which little is touched.
template <class A>
void large(const Settings& settings) {
    const u64 bytes = 64ull << 30;
    TestHeap heap(bytes, multiprocessorsOf<A>(), 256, flagsOf<A>(), {SPLIT_NONE, 0, 0});
    typename Traits<A>::Plain allocator{heap.heap};
    require(settings, heap.capacity() > bytes / 100 * 95, "the tables are too large");
    std::vector<Block> blocks;
    for (int i = 0; i < 15; ++i) {
        const size_t size = (4ull << 30) + 48 - 16 * static_cast<size_t>(i);
        unsigned char* const pointer = static_cast<unsigned char*>(allocator.malloc(size));
        require(settings, pointer != nullptr, "no 4 GiB in 64");
        require(settings, pointer >= heap.heap->area && pointer + size <= heap.heap->area + heap.capacity(),
                "a chunk outside the heap");
        require(settings, allocator.chunkBytes(pointer) == size, "a chunk of another size");
        blocks.push_back(filled(settings, pointer, 4096));
        blocks.push_back(filled(settings, pointer + size - 4096, 4096));
    }
    for (const Block& block : blocks) {
        require(settings, isIntact(block), "a block was overwritten");
    }
    for (size_t i = 0; i < blocks.size(); i += 2) {
        allocator.free(blocks[i].bytes);
    }
    // The sum of a warp's requests doesn't fit in 32 bits.
    Settings warp = settings;
    warp.threads = 4;
    run(warp, warp.threads, [&](u32 thread) {
        Coalesced<typename Traits<A>::Plain> coalesced{heap.heap};
        for (int i = 0; i < 20; ++i) {
            const size_t size = thread < 2 ? 32ull << 30 : 64;
            void* const pointer = coalesced.malloc(size);
            require(settings, pointer == nullptr || coalesced.chunkBytes(pointer) >= size, "a chunk is too small");
            coalesced.free(pointer);
        }
    });
    void* const most = allocator.malloc(largestOf<A>(heap.heap).front());
    require(settings, most != nullptr, "64 GiB can't be had again");
    allocator.free(most);
    // Less of it, since its tables are read.
    const TestHeap scanned(6ull << 30, 0, 256, flagsOf<A>(), {SPLIT_NONE, 0, 0});
    const Statistics statistics = scanned.statistics();
    require(settings, statistics.capacity() == scanned.capacity(), "a scan can't count 6 GiB");
    require(settings, statistics.largestFree() == scanned.capacity(), "a scan can't count a row of 6 GiB");
    const u64 largestChunk = USES_BITS<A> ? 64 << 10 : scanned.capacity();
    require(settings, statistics.largestFreeChunk() == largestChunk, "a scan can't count a chunk of 6 GiB");
}

// Requests too large for what is left, among those that fit: the counter ends where the last block does.
template <class A>
void bump(const Settings& settings) {
    for (u32 round = 0; round < settings.operations; ++round) {
        Settings own = settings;
        own.seed += round;
        own.stalls *= 4;
        const TestHeap heap(1 << 12, 0, 256, FLAG_BUMP, {SPLIT_NONE, 0, 0});
        std::atomic<u64> served{0};
        std::atomic<bool> full{false};
        std::vector<std::vector<Block>> blocks(settings.threads);
        run(own, Traits<A>::LANES, [&](u32 thread) {
            A allocator{heap.heap};
            u32 refused = 0;
            while (refused < 20) {
                const bool seen = full;
                const size_t size = 1 + self.next() % ((self.next() & 1) == 0 ? 64 : 4000);
                void* const pointer = allocator.malloc(size);
                if (pointer == nullptr) {
                    ++refused;
                    full = full || size <= 16;
                } else {
                    require(settings, !seen, "null before the heap was full");
                    blocks[thread].push_back(filled(settings, pointer, size));
                    served += (size + 15) / 16;
                }
            }
            for (bool seen = full; allocator.malloc(16) != nullptr; seen = full) {
                require(settings, !seen, "null before the heap was full");
                ++served;
            }
            full = true;
        });
        for (const auto& mine : blocks) {
            for (const Block& block : mine) {
                require(settings, isIntact(block), "a block was overwritten");
            }
        }
        const bool exact = served == heap.heap->units && heap.heap->counters->bump == served;
        require(settings, exact, "the counter isn't where the blocks end");
        require(settings, heap.statistics().freeChunks() == 0, "a full heap has a free chunk");
    }
}

// Wraps, never leaves the heap, and hands out nothing twice before it has handed out the rest.
template <class A>
void wrap(const Settings& settings) {
    TestHeap heap(1 << 16, 0, 256, FLAG_BUMP, {SPLIT_NONE, 0, 0});
    const u32 most = static_cast<u32>(heap.capacity() / (2 * settings.threads + 2));
    Meeting all;
    all.members = settings.threads;
    run(settings, Traits<A>::LANES, [&](u32) {
        A allocator{heap.heap};
        for (u32 i = 0; i < settings.operations; ++i) {
            const size_t size = 1 + self.next() % most;
            unsigned char* const pointer = static_cast<unsigned char*>(allocator.malloc(size));
            require(settings, pointer != nullptr, "null");
            require(settings, pointer >= heap.heap->area && pointer + size <= heap.heap->area + heap.capacity(),
                    "a block leaves the heap");
            const Block block = filled(settings, pointer, size);
            all.barrier();
            require(settings, isIntact(block), "a block was overwritten");
            all.barrier();
        }
        require(settings, allocator.malloc(1 << 17) == nullptr, "more than the heap has");
    });
}

// Threads of a warp that ask together share one add, though each has a size of its own.
template <class A>
void together(const Settings& settings) {
    const TestHeap heap(64 << 20, 0, 256, FLAG_BUMP, {SPLIT_NONE, 0, 0});
    std::atomic<u64> accesses{0};
    run(settings, 4, [&](u32) {
        A allocator{heap.heap};
        for (u32 i = 0; i < settings.operations; ++i) {
            require(settings, allocator.malloc(1 + self.next() % 64) != nullptr, "null");
        }
        accesses += self.accesses;
    });
    self.accesses = 0;
    A{heap.heap}.malloc(1);
    const u64 alone = self.accesses * settings.operations * settings.threads;
    // Some are always alone.
    require(settings, accesses * 4 < alone * 3, "requests of one warp aren't joined");
}

// In a process of its own.
template <class A>
void requireStop(const Settings& settings, Heap* heap, bool stops) {
    for (const bool frees : {false, true}) {
        if (frees && !A::CAN_FREE) {
            continue;
        }
        const pid_t child = fork();
        if (child == 0) {
            A allocator{heap};
            void* const block = frees ? heap->address(0) : allocator.malloc(16);
            allocator.free(block);
            _exit(block != nullptr ? 0 : 1);
        }
        int status = 0;
        require(settings, child > 0 && waitpid(child, &status, 0) == child, "no process to try it in");
        const bool stopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        require(settings, stopped == stops, "another allocator's heap is taken for its own");
    }
}

// An allocator that is given another's heap stops before it does anything with it.
template <class A>
void foreign(const Settings& settings) {
    for (const u32 flags : {FLAG_BUMP, FLAG_START_BITS, 0u, FLAG_FREE_BITS, FLAG_FREE_BITS | FLAG_START_BITS}) {
        const TestHeap heap(1 << 20, 1, 256, flags, {SPLIT_NONE, 0, 0});
        requireStop<A>(settings, heap.heap, flags != flagsOf<A>());
    }
    if constexpr (!IS_XMALLOC<A>) {
        const TestQueues queues(0);
        requireStop<A>(settings, queues.heap, true);
    }
}

template <class A>
int scenario(const std::string& name, const Settings& settings) {
    std::vector<std::pair<std::string, void (*)(const Settings&)>> scenarios;
    if constexpr (IS_XMALLOC<A>) {
        scenarios = {{"mix", mix<A>}, {"narrow", narrow<A>}, {"foreign", foreign<A>}};
    } else if constexpr (A::CAN_FREE) {
        scenarios = {
                {"mix", mix<A>},         {"narrow", narrow<A>}, {"exact", exact<A>},       {"room", room<A>},
                {"exhaust", exhaust<A>}, {"misuse", misuse<A>}, {"careless", careless<A>}, {"large", large<A>},
                {"model", model<A>},     {"split", split<A>},   {"foreign", foreign<A>}};
    } else {
        scenarios = {{"bump", bump<A>}, {"wrap", wrap<A>}, {"together", together<A>}, {"foreign", foreign<A>}};
    }
    for (const auto& known : scenarios) {
        if (known.first == name) {
            known.second(settings);
            return 0;
        }
    }
    std::printf("scenario=%s must be one of this allocator's\n", name.c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7) {
        std::printf("stress ALLOCATOR SCENARIO SEED THREADS OPERATIONS STALLS\n");
        return 2;
    }
    Settings settings;
    for (int i = 0; i < argc; ++i) {
        settings.command += (i == 0 ? "" : " ") + std::string(argv[i]);
    }
    const std::string allocator = argv[1];
    settings.seed = std::strtoull(argv[3], nullptr, 10);
    settings.threads = static_cast<u32>(std::strtoul(argv[4], nullptr, 10));
    settings.operations = static_cast<u32>(std::strtoul(argv[5], nullptr, 10));
    settings.turns = std::strcmp(argv[6], "turns") == 0;
    settings.stalls = static_cast<u32>(std::strtoul(argv[6], nullptr, 10));
    self.random = settings.seed;
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
    OUTBOARD_RUN(BitMalloc)
    OUTBOARD_RUN(XMalloc)
#undef OUTBOARD_RUN
    std::printf("allocator=%s must be one of the paper's names, or with -coalesced\n", allocator.c_str());
    return 2;
}
