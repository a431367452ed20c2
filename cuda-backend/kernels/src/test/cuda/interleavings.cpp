// The in-kernel allocators on fibers: for each seed a small heap, a few threads on it, and another order of their
// accesses. An oracle knows the owner of every unit.
//
//   interleavings ALLOCATOR SCENARIO FIRST_SEED LAST_SEED
//
//   mix          Blocks of random sizes.
//   double-free  Two threads free the same block while others allocate and free. Needs -DOUTBOARD_CHECKED.
//   null         One thread has rows of free memory that all others ask too much for. It must never be refused.
//   joined, emptied, moved   Nor where it is hard to see: orders of accesses that once hid it, or could.
//   stalled      AtomicMalloc, AWMalloc: one thread stops anywhere in a call. All others' calls end.
//   back         Blocks that lie side by side are freed one after the other: a doubly linked list joins each with those before.
//   fill         A large heap that only fills: a call needs no more accesses in the end than in the beginning.
//
// Also weak-mix, weak-null, weak-joined, weak-emptied and weak-moved: loads may read what has been overwritten, where
// nothing that was acquired says otherwise.
//
// In all of them no two blocks overlap, every call ends, no request is refused that would have fitted in memory which
// was free all the time and that nobody else got, and when all is freed the heap can be had as one chunk. What is freed
// twice and handed out between is the exception: the second free may be its next owner's.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "trials.h"

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

[[noreturn]] void usage() {
    std::printf("interleavings ALLOCATOR SCENARIO FIRST_SEED LAST_SEED, see interleavings.cpp\n");
    std::exit(2);
}

struct Block {
    u32 unit;
    u32 units;  // 0: null
};

// Lengths of free chunks that lie one after another.
using Row = std::vector<u32>;

std::vector<Row> randomRows(u32 number) {
    std::vector<Row> rows;
    while (rows.size() < number) {
        // About as long as a word: many small chunks, or few.
        const u32 most = 1 + chance.below(16);
        Row row(1 + chance.below(60 / most));
        for (u32& units : row) {
            units = 1 + chance.below(most);
        }
        rows.push_back(row);
    }
    return rows;
}

template <class A>
constexpr bool IS_DOUBLE = std::is_same<A, DoubleCMalloc>::value || std::is_same<A, DoubleCFMMalloc>::value;

template <class A>
constexpr bool START_BITS =
        std::is_same<A, CMalloc>::value || std::is_same<A, CMMalloc>::value || std::is_same<A, DoubleCMalloc>::value;

template <class A>
constexpr bool MANY_STARTS =
        std::is_same<A, CMMalloc>::value || std::is_same<A, CFMMalloc>::value || std::is_same<A, DoubleCFMMalloc>::value;

constexpr u32 ALIGNMENT = 512;

// Where a heap starts in memory that is larger than it by ALIGNMENT.
Heap* alignedHeap(std::vector<unsigned char>& memory) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<Heap*>((begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

template <class A>
class Trial {
    // Far more than any seed needs.
    static constexpr uint64_t MOST_ACCESSES = 2000000;

    std::vector<unsigned char> memory;
    Heap* heap;
    A allocator;
    // By unit: when it was last given back, or OWNED, or, while it is given back, more than FREEING.
    static constexpr u64 OWNED = ~0ull;
    static constexpr u64 FREEING = 1ull << 32;
    std::vector<u64> freeSince;
    // By unit: the thread that gave it back, in this run, or NOBODY.
    static constexpr u32 NOBODY = ~0u;
    std::vector<u32> freedBy;
    u64 now = 0;  // calls begun or ended

    // Memory that was free from begin to end of a call that found none. Who calls malloc at that time may get it yet.
    struct Missed {
        u32 unit;
        u32 end;
        std::vector<u64> calls;
    };

    std::vector<Missed> missed;
    std::vector<u64> searching;  // the calls of malloc that haven't ended
    std::vector<Block> kept;
    // What is freed twice. Once it was handed out again, nobody can tell the second free from the next owner's, so the
    // oracle tolerates that blocks overlap from then on; that the heap stays whole is asked for still.
    Block victim = {NO_UNIT, 0};
    bool tolerant = false;
    u32 threads = 2 + chance.below(4);
    u32 calls = 4 + chance.below(24);

    static size_t randomBytes() {
        // One, two and three levels above the list; only the largest has more than one start offset.
        constexpr size_t SIZES[] = {8 << 10, 64 << 10, 512 << 10};
        return SIZES[chance.below(3)];
    }

    void together(const std::vector<std::function<void()>>& bodies) {
        std::fill(freedBy.begin(), freedBy.end(), NOBODY);
        outboard::together(bodies, MOST_ACCESSES);
    }

    void mark(u32 from, u32 to, u64 what) {
        std::fill(freeSince.begin() + from, freeSince.begin() + to, what);
    }

    // A block that nobody else owns.
    Block malloc(u32 units) {
        const u64 begin = ++now;
        searching.push_back(begin);
        const Block block = take(units);
        searching.erase(std::find(searching.begin(), searching.end(), begin));
        if (block.units == 0 && !tolerant) {
            noteMissed(units, begin);
        }
        for (size_t i = missed.size(); i-- != 0;) {
            std::vector<u64>& others = missed[i].calls;
            others.erase(std::remove(others.begin(), others.end(), begin), others.end());
            if (block.unit < missed[i].end && missed[i].unit < block.unit + block.units) {
                missed.erase(missed.begin() + i);
            } else if (others.empty() && !tolerant) {
                fail("null, though units " + std::to_string(missed[i].unit) + " to " + std::to_string(missed[i].end - 1)
                     + " were free all the time");
            }
        }
        return block;
    }

    void noteMissed(u32 units, u64 begin) {
        for (u32 unit = 0, end = 0; unit < heap->units; unit = end + 1) {
            for (end = unit; end < heap->units && freeSince[end] < begin && isFreeForMe(end);) {
                ++end;
            }
            if (end - unit >= units) {
                missed.push_back({unit, end, searching});
            }
        }
    }

    // Without a common order of all accesses, a thread needn't know that another one has freed something.
    bool isFreeForMe(u32 unit) const {
        return !fibers.weak || freedBy[unit] == NOBODY || freedBy[unit] == fibers.number();
    }

    Block take(u32 units) {
        void* const pointer = allocator.malloc(static_cast<size_t>(units) * UNIT_BYTES);
        if (pointer == nullptr) {
            return {0, 0};
        }
        Block block = {heap->unitAt(pointer), units};
        tolerant |= block.unit == victim.unit;
        noteOwned(block, block.unit);
        // The chunk may have more than was asked for. Looked at after the block is noted, as this lets others run.
        const u32 chunkUnits = static_cast<u32>(allocator.chunkBytes(pointer) / UNIT_BYTES);
        if (!tolerant) {
            require(chunkUnits >= units, "a chunk is too small");
            block.units = chunkUnits;
            noteOwned(block, block.unit + units);
        }
        return block;
    }

    // That a block is owned, from a unit of it on.
    void noteOwned(const Block& block, u32 from) {
        const u32 to = block.unit + block.units;
        require(block.unit < heap->units && to <= heap->units, "a block outside the heap");
        const auto last = freeSince.begin() + to;
        if (!tolerant && std::find(freeSince.begin() + from, last, OWNED) != last) {
            fail("two blocks overlap: the second one has units " + std::to_string(block.unit) + " to "
                 + std::to_string(to - 1));
        }
        mark(from, to, OWNED);
    }

    // Noted before, since others may have the memory before free returns, and may have freed it, too.
    void free(const Block& block) {
        const u32 end = block.unit + block.units;
        const u64 freeing = FREEING + ++now;
        mark(block.unit, end, freeing);
        allocator.free(heap->address(block.unit));
        std::replace(freeSince.begin() + block.unit, freeSince.begin() + end, freeing, ++now);
        std::fill(freedBy.begin() + block.unit, freedBy.begin() + end, fibers.number());
    }

    // Divides the fresh heap: the rows, each behind memory that is kept to the end. The chunks of the rows are blocks
    // yet, for the caller to free.
    std::vector<Block> divide(const std::vector<Row>& rows) {
        std::vector<Block> blocks;
        u32 spare = heap->units;
        for (const Row& row : rows) {
            spare -= std::accumulate(row.begin(), row.end(), 0u);
        }
        together({[&] {
            u32 left = static_cast<u32>(rows.size());
            for (const Row& row : rows) {
                // In the same word, in the next, or anywhere.
                constexpr u32 DISTANCES[] = {4, 48, ~0u};
                const u32 distance = 1 + chance.below(std::min(DISTANCES[chance.below(3)], spare / left--));
                spare -= distance;
                kept.push_back(malloc(distance));
                for (const u32 units : row) {
                    blocks.push_back(malloc(units));
                }
            }
            if (spare != 0) {
                kept.push_back(malloc(spare));
            }
        }});
        return blocks;
    }

    void startAt(const std::function<u32()>& unit) {
        for (u32 i = 0; i < heap->startCount; ++i) {
            heap->starts[i * START_STRIDE] = unit();
        }
    }

    // Frees what `divide` made and lets chance take over.
    void open(const std::vector<Block>& blocks) {
        together({[&] {
            for (const Block& block : blocks) {
                free(block);
            }
        }});
        startAt([&] { return chance.below(heap->units + 1); });
        heap->maxFragmentation = chance.below(4) == 0 ? 512 : 256;
    }

    // One thread's calls: blocks of least to most units.
    void use(u32 least, u32 most) {
        std::vector<Block> mine;
        for (u32 i = 0; i < calls; ++i) {
            if (mine.size() > 3 || (!mine.empty() && chance.below(2) == 0)) {
                freeOne(mine);
            } else {
                // Small ones more often: they divide what large ones have joined.
                const Block block = malloc(least + chance.below(1 + chance.below(most - least + 1)));
                if (block.units != 0) {
                    mine.push_back(block);
                }
            }
        }
        while (!mine.empty()) {
            freeOne(mine);
        }
    }

    void freeOne(std::vector<Block>& mine) {
        std::swap(mine[chance.below(static_cast<u32>(mine.size()))], mine.back());
        const Block block = mine.back();
        mine.pop_back();
        free(block);
    }

    u64 misuses() const {
        return heap->counters->misuses;
    }

    // When all threads have freed what they had.
    void requireWhole() {
        together({[&] {
            for (const Block& block : kept) {
                free(block);
            }
        }});
        const u64 capacity = static_cast<u64>(heap->units) * UNIT_BYTES;
        Segment segment;
        u64 statistics[STATISTICS];
        scanSegment(heap, &segment, 0, 1);
        summarise(heap, &segment, 1, statistics);
        require(statistics[0] == capacity, "the chunks don't add up to the heap");
        require(statistics[1] == 0, "chunks are used after all were freed");
        require(statistics[5] == capacity, "free memory doesn't lie in one row");
        require(heap->counters->updatesBegun == heap->counters->updatesDone, "an update of the levels never ends");
        together({[&] {
            void* const whole = allocator.malloc(capacity);
            require(whole != nullptr, "the whole heap can't be allocated as one chunk");
            require(allocator.malloc(1) == nullptr, "memory was handed out twice");
        }});
    }

  public:
    Trial()
        : memory(randomBytes() + ALIGNMENT, 0xA5),
          heap(alignedHeap(memory)),
          allocator{heap} {
        require(format(heap, memory.size() - ALIGNMENT, MANY_STARTS<A> ? threads : 0, 256, START_BITS<A> ? FLAG_START_BITS : 0), "a heap has 4 KiB to 64 GiB");
        clearTables(heap, 0, 1);
        preSplit(heap, SPLIT_NONE, 0, 0, 0, 1);
        freeSince.resize(heap->units);
        freedBy.resize(heap->units, NOBODY);
    }

    void mix() {
        open(divide(randomRows(1 + chance.below(3))));
        // Now and then more than the longest row has.
        const u32 most = 2 + chance.below(chance.below(2) == 0 ? 10 : 60);
        together(std::vector<std::function<void()>>(threads, [&] { use(1, most); }));
        require(misuses() == 0, "a free was refused");
        requireWhole();
    }

    void doubleFree() {
        std::vector<Block> blocks = divide(randomRows(1 + chance.below(2)));
        std::swap(blocks[chance.below(static_cast<u32>(blocks.size()))], blocks.back());
        victim = blocks.back();
        blocks.pop_back();
        open(blocks);
        mark(victim.unit, victim.unit + victim.units, FREEING);
        std::vector<std::function<void()>> bodies(threads, [&] { use(1, 10); });
        bodies.insert(bodies.end(), 2, [&] { allocator.free(heap->address(victim.unit)); });
        together(bodies);
        require(tolerant || misuses() == 1, "the second free isn't counted once");
        requireWhole();
    }

    // What is free when malloc is called, and that nobody else can take, is found. Memory that others free and take may
    // always be where the search isn't (circular_malloc.cuh).
    void null() {
        const u32 units = 1 + chance.below(8);
        std::vector<Row> rows = randomRows(1 + chance.below(3));
        const u32 own = 1 + chance.below(2);
        for (u32 i = 0; i < own; ++i) {
            rows.insert(rows.begin() + chance.below(static_cast<u32>(rows.size()) + 1), Row{units});
        }
        open(divide(rows));
        std::vector<std::function<void()>> bodies(threads, [&] { use(units + 1, units + 20); });
        bodies.push_back([&] {
            std::vector<Block> mine;
            for (u32 i = 0; i < 3 * calls; ++i) {
                if (mine.size() == own || (!mine.empty() && chance.below(2) == 0)) {
                    freeOne(mine);
                } else {
                    mine.push_back(malloc(units));
                    require(mine.back().units != 0, "null, though there is a free row that nobody else can take");
                }
            }
            while (!mine.empty()) {
                freeOne(mine);
            }
        });
        together(bodies);
        require(misuses() == 0, "a free was refused");
        requireWhole();
    }

    // A search that stands on a chunk, used when it got there, that is freed, and joined together with all the free
    // memory after it to a chunk before it.
    void joined() {
        Block between;
        together({[&] {
            const Block first = malloc(1);
            between = malloc(1);
            free(first);
        }});
        startAt([&] { return heap->units; });
        together({[&] {
                      free(between);
                      free(malloc(2));
                  },
                  [&] { mallocThrice({NO_UNIT, 0}, heap->units / 16); }});
        requireWhole();
    }

    // A word of level 1 that becomes empty after a thread has read that it isn't, and before it opens another entry.
    void emptied() {
        if (heap->units < 3000) {
            return;  // one word of level 1, two are needed
        }
        Block opened;
        Block last;
        Block again;
        together({[&] {
            const auto keep = [&](u32 units) { kept.push_back(malloc(units)); };
            keep(40 * WORD_UNITS);
            opened = malloc(2);
            keep(5 * WORD_UNITS);
            again = malloc(1);
            keep(5 * WORD_UNITS);
            last = malloc(3);
            keep(heap->units - last.unit - 3);
            free(last);
        }});
        startAt([] { return 0; });
        together({[&] { free(opened); },
                  [&] {
                      for (u32 i = 0; i < 2; ++i) {
                          // Null at the latest the second time, and closes what is open no more.
                          const Block block = malloc(3);
                          if (block.units != 0) {
                              kept.push_back(block);
                          }
                      }
                  },
                  [&] { mallocThrice(again, 1); }});
        requireWhole();
    }

    // A word whose bit in level 1 a thread clears, since it uses up what was open there last, while others free blocks
    // of it.
    void moved() {
        constexpr u32 UNITS = 9;
        Block one;
        Block two;
        Block last;
        together({[&] {
            const auto keep = [&](u32 units) { kept.push_back(malloc(units)); };
            keep(40 * WORD_UNITS);
            one = malloc(UNITS);
            keep(1);
            two = malloc(UNITS);
            keep(1);
            // What is left of it in the next word is too small for the others.
            last = malloc(WORD_UNITS - 2 * UNITS - 2 + UNITS - 1);
            keep(heap->units - last.unit - last.units);
            free(last);
        }});
        startAt([&] { return last.unit; });
        const auto freeAndUse = [&](const Block& block) {
            free(block);
            // The oracle knows whether it may be refused.
            for (u32 i = 0; i < 2; ++i) {
                const Block again = malloc(UNITS);
                if (again.units != 0) {
                    kept.push_back(again);
                }
            }
        };
        together({[&] {
                      const Block end = malloc(WORD_UNITS - 2 * UNITS - 2);
                      if (end.units != 0) {
                          kept.push_back(end);
                      }
                  },
                  [&] { freeAndUse(one); }, [&] { freeAndUse(two); }});
        requireWhole();
    }

    // What is always there, as nobody else asks for as much or for as little.
    void mallocThrice(Block block, u32 units) {
        for (u32 i = 0; i < 3; ++i) {
            if (block.unit != NO_UNIT) {
                free(block);
            }
            block = malloc(units);
            require(block.units != 0, "null, though there is free memory that nobody else can take");
        }
        free(block);
    }
};

// A heap that only fills, to three quarters, by warps that ask for 64 bytes a thread, on a third of all
// multiprocessors. Their own parts of the heap are full soon, and they search where others have been. No call may cost
// many times what the first ones do: what is used up mustn't wait for one search to find that out.
template <class A>
void fill() {
    constexpr size_t BYTES = 128 << 20;
    constexpr u32 WARPS = 40;
    constexpr u32 UNITS = 128;
    constexpr uint64_t MOST_ACCESSES = 400;
    fibers.sleeps = 0;
    fibers.warps = 8;
    fibers.apart = 3;
    void* const memory =
            mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(memory != MAP_FAILED, "no address space");
    Heap* const heap = static_cast<Heap*>(memory);
    require(format(heap, BYTES, MANY_STARTS<A> ? 16 : 0, 256, START_BITS<A> ? FLAG_START_BITS : 0), "a heap has 4 KiB to 64 GiB");
    preSplit(heap, SPLIT_BINARY_HEAP, 64 << 10, 0, 0, 1);
    uint64_t most = 0;
    const auto use = [&] {
        const Chunk chunk = A{heap}.take(UNITS);
        most = std::max(most, fibers.accesses());
        require(chunk.unit != NO_UNIT, "null, though there is room");
    };
    for (u32 round = heap->units / 4 * 3 / UNITS / WARPS; round != 0; --round) {
        fibers.run(std::vector<std::function<void()>>(WARPS, use), ~0ull);
    }
    munmap(memory, BYTES);
    if (most > MOST_ACCESSES) {
        fail("a call needs " + std::to_string(most) + " accesses");
    }
}

// Free memory is in two chunks in the end, the second of which is what was never used; and in many with a singly linked list.
template <class A>
void back() {
    constexpr size_t BYTES = 64 << 10;
    constexpr u32 BLOCKS = 12;
    std::vector<unsigned char> memory(BYTES + ALIGNMENT);
    Heap* const heap = alignedHeap(memory);
    require(format(heap, BYTES, MANY_STARTS<A> ? 16 : 0, 256, START_BITS<A> ? FLAG_START_BITS : 0), "a heap has 4 KiB to 64 GiB");
    preSplit(heap, SPLIT_NONE, 0, 0, 0, 1);
    const auto use = [&] {
        A allocator{heap};
        void* blocks[BLOCKS];
        for (void*& block : blocks) {
            // Within a word, over a border, and over whole words.
            block = allocator.malloc((1 + chance.below(3) * 50 + chance.below(20)) * UNIT_BYTES);
            require(block != nullptr, "null, though there is room");
        }
        for (void* const block : blocks) {
            allocator.free(block);
        }
    };
    fibers.run({use}, ~0ull);
    Segment segment;
    u64 statistics[STATISTICS];
    scanSegment(heap, &segment, 0, 1);
    summarise(heap, &segment, 1, statistics);
    require(statistics[1] == 0, "a block wasn't freed");
    require((statistics[3] <= 2) == IS_DOUBLE<A>, "chunks side by side are joined by a doubly linked list, and by no other");
}

// Threads with a bump pointer, of which the first stops at some access until the others have ended. In a heap so large
// that nobody can touch it: the pointer's adds are in vain only if much is taken at a time.
template <class A>
void stalled() {
    constexpr u32 THREADS = 4;
    constexpr u32 MOST_UNITS = 1 << 14;
    constexpr uint64_t MOST_ACCESSES = 200000;
    std::vector<unsigned char> memory(sizeof(Heap) + sizeof(Counters) + ALIGNMENT);
    Heap* const heap = alignedHeap(memory);
    require(format(heap, 4 << 20, 0, 256, FLAG_BUMP), "a heap has 4 KiB to 64 GiB");
    heap->counters->bump = 0;
    std::vector<Block> blocks;
    fibers.stopsAt = 1 + chance.below(40);
    const auto use = [&] {
        u32 refused = 0;
        for (u32 i = 0; i < 100 && refused < 3; ++i) {
            const u32 units = 1 + chance.below(MOST_UNITS);
            void* const pointer = A{heap}.malloc(units * UNIT_BYTES);
            if (pointer == nullptr) {
                ++refused;
            } else {
                blocks.push_back({heap->unitAt(pointer), units});
            }
        }
    };
    const bool ended = fibers.run(std::vector<std::function<void()>>(THREADS, use), MOST_ACCESSES);
    require(ended, "a call waits for a stalled thread");
    fibers.stopsAt = 0;
    for (const Block& block : blocks) {
        require(block.unit != NO_UNIT && block.unit + block.units <= heap->units, "a block outside the heap");
    }
    if (std::is_same<A, AtomicMalloc>::value) {
        // One after another, from the heap's begin up to the counter.
        std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.unit < b.unit; });
        u32 unit = 0;
        for (const Block& block : blocks) {
            require(block.unit == unit, "blocks overlap, or leave a gap");
            unit += block.units;
        }
        require(heap->counters->bump == unit, "the counter isn't where the blocks end");
    }
}

template <class A>
void runBump(const std::string& scenario) {
    if (scenario != "stalled") {
        usage();
    }
    stalled<A>();
}

template <class A>
void run(const std::string& name) {
    if (name == "fill") {
        fill<A>();
        return;
    }
    if (name == "back") {
        back<A>();
        return;
    }
    fibers.weak = name.rfind("weak-", 0) == 0;
    const std::string scenario = fibers.weak ? name.substr(5) : name;
    Trial<A> trial;
    if (scenario == "mix") {
        trial.mix();
    } else if (scenario == "double-free") {
        trial.doubleFree();
    } else if (scenario == "null") {
        trial.null();
    } else if (scenario == "joined") {
        trial.joined();
    } else if (scenario == "emptied") {
        trial.emptied();
    } else if (scenario == "moved") {
        trial.moved();
    } else {
        usage();
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string allocator = count == 5 ? arguments[1] : "";
    void (*const once)(const std::string&) = allocator == "CMalloc" ? run<CMalloc>
            : allocator == "CFMalloc"                               ? run<CFMalloc>
            : allocator == "CMMalloc"                               ? run<CMMalloc>
            : allocator == "CFMMalloc"                              ? run<CFMMalloc>
#ifndef OUTBOARD_CHECKED
            : allocator == "DoubleCMalloc"   ? run<DoubleCMalloc>
            : allocator == "DoubleCFMMalloc" ? run<DoubleCFMMalloc>
#endif
            : allocator == "AtomicMalloc"                           ? runBump<AtomicMalloc>
            : allocator == "AWMalloc"                               ? runBump<AWMalloc>
                                                                    : nullptr;
    if (once == nullptr) {
        usage();
    }
    runTrials(arguments, once);
    return 0;
}
