// Two heaps side by side, on fibers: the lanes of a warp ask together, each for memory of either heap.
//
//   heaps warps SCENARIO FIRST_SEED LAST_SEED
//
// SCENARIO: BitMalloc, AtomicMalloc, Uncoalesced (AtomicMalloc), Coalesced (CFMMalloc), Buffered (Coalesced, BitMalloc),
// WarpArena (BitMalloc) or ObjectHeap;
// sizes: which numbers of bytes a heap is made of.
//
// What a lane gets lies in the heap that it asked, apart from all else, and when all is freed each heap is whole.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <algorithm>
#include <map>
#include <optional>

#include "bit_heap.h"
#include "object_trials.h"

#include "outboard/atomic_malloc.cuh"
#include "outboard/buffered.cuh"
#include "outboard/cfm_malloc.cuh"
#include "outboard/warp_arena.cuh"

using namespace outboard;

namespace {

constexpr u32 HEAPS = 2;
constexpr u32 THREADS = 2 * WARP_LANES;
constexpr u64 KIB = 1 << 10;
constexpr u64 GIB = 1 << 30;
constexpr u64 HEAP_BYTES = 512 * KIB;

unsigned char* memoryOf(u32 heap) {
    static unsigned char* const mapping = reserved(HEAPS * HEAP_BYTES);
    return mapping + heap * HEAP_BYTES;
}

// What threads hold.
class Oracle {
    std::map<unsigned char*, size_t> blocks;

  public:
    void add(u32 heap, void* pointer, size_t size) {
        unsigned char* const block = static_cast<unsigned char*>(pointer);
        const unsigned char* const memory = memoryOf(heap);
        require(memory <= block && block + size <= memory + HEAP_BYTES, "memory of another heap");
        const auto next = blocks.lower_bound(block);
        require(next == blocks.end() || block + size <= next->first, "two blocks overlap");
        require(next == blocks.begin() || std::prev(next)->first + std::prev(next)->second <= block, "two blocks overlap");
        blocks[block] = size;
    }

    void remove(void* pointer) {
        blocks.erase(static_cast<unsigned char*>(pointer));
    }
};

size_t anySize() {
    return 1 + chance.below(1 + chance.below(3000));
}

// Calls by all threads, each time with any of the heaps: `make` returns what was got, or null.
template <class Make, class End>
void useAny(const Make& make, const End& end) {
    Oracle oracle;
    together(THREADS, [&](u32) {
        std::vector<std::pair<u32, void*>> kept;
        const auto endLast = [&] {
            const auto [heap, block] = kept.back();
            kept.pop_back();
            oracle.remove(block);
            end(heap, block);
        };
        for (u32 i = 0; i < 12; ++i) {
            const u32 heap = chance.below(HEAPS);
            const size_t size = anySize();
            void* const block = make(heap, size);
            if (block != nullptr) {
                oracle.add(heap, block, size);
                kept.push_back({heap, block});
                std::swap(kept.back(), kept[chance.below(static_cast<u32>(kept.size()))]);
            }
            while (!kept.empty() && chance.below(3) == 0) {
                endLast();
            }
        }
        while (!kept.empty()) {
            endLast();
        }
    });
}

Heap* makeHeap(u32 number, u32 flags) {
    Heap* const heap = reinterpret_cast<Heap*>(memoryOf(number));
    makeHeapOf(heap, HEAP_BYTES, flags, 1 + chance.below(3));
    return heap;
}

// The largest request that a fresh heap serves.
template <class Allocator>
void requireWhole(const Heap* heap, u64 bytes) {
    alone([&] {
        Allocator allocator{heap};
        void* const whole = allocator.malloc(bytes);
        require(whole != nullptr, "something wasn't freed");
        allocator.free(whole);
    });
    require(heap->counters->misuses == 0, "freed what was none");
}

template <class Allocator>
void useAllocator(u32 flags) {
    const Heap* const heaps[HEAPS] = {makeHeap(0, flags), makeHeap(1, flags)};
    useAny(
            [&](u32 heap, size_t size) { return Allocator{heaps[heap]}.malloc(size); },
            [&](u32 heap, void* block) { Allocator{heaps[heap]}.free(block); });
    if (Allocator::CAN_FREE) {
        for (const Heap* const heap : heaps) {
            const u64 granules = (flags & FLAG_FREE_BITS) != 0 ? heap->units / 4096 * 4096 : heap->units;
            requireWhole<Allocator>(heap, granules * UNIT_BYTES);
        }
    }
}

void useBuffered() {
    using Queues = Buffers<2, 4>;
    static Queues buffers[HEAPS];
    using Buffering = Buffered<BitMalloc, 2, 4>;
    const Heap* const heaps[HEAPS] = {makeHeap(0, FLAG_FREE_BITS), makeHeap(1, FLAG_FREE_BITS)};
    std::memset(static_cast<void*>(buffers), 0, sizeof(buffers));
    const auto allocator = [&](u32 heap) {
        return Coalesced<Buffering>{{Buffering(BitMalloc{heaps[heap]}, &buffers[heap])}};
    };
    useAny(
            [&](u32 heap, size_t size) { return allocator(heap).malloc(size); },
            [&](u32 heap, void* block) { allocator(heap).free(block); });
    for (u32 heap = 0; heap < HEAPS; ++heap) {
        alone([&] { allocator(heap).allocator.drain(0, 1); });
        requireWhole<BitMalloc>(heaps[heap], heaps[heap]->units / 4096 * 4096 * UNIT_BYTES);
    }
}

// Each thread advances the counter itself; where requests are joined, one does so for the lanes that come together.
void useUncoalesced() {
    const Heap* const heap = makeHeap(0, FLAG_BUMP);
    u32 served = 0;
    together(THREADS, [&](u32) {
        require(Uncoalesced<AtomicMalloc>{{heap}}.malloc(16) != nullptr, "null, though there is room");
        served += fibers.accesses() != 0;
    });
    require(served == THREADS, "a thread was served by another");
}

void useArenas() {
    using Arena = WarpArena<BitMalloc>;
    const Heap* const heaps[HEAPS] = {makeHeap(0, FLAG_FREE_BITS), makeHeap(1, FLAG_FREE_BITS)};
    Oracle oracle;
    std::vector<std::optional<Arena>> arenas(THREADS);
    together(THREADS, [&](u32 thread) {
        const u32 heap = chance.below(HEAPS);
        arenas[thread].emplace(BitMalloc{heaps[heap]}, 64 + chance.below(4 * KIB));
        for (u32 i = 0; i < 6; ++i) {
            const size_t size = anySize();
            void* const scratch = arenas[thread]->malloc(size);
            if (scratch != nullptr) {
                oracle.add(heap, scratch, size);
            }
        }
    });
    together(THREADS, [&](u32 thread) { arenas[thread]->freeAll(); });
    for (const Heap* const heap : heaps) {
        requireWhole<BitMalloc>(heap, heap->units / 4096 * 4096 * UNIT_BYTES);
    }
}

using Words = std::array<u64, 375>;
struct Cell { OUTBOARD_FIELDS((Words, words)) };

// Each heap's list has its block, though the lanes of a warp list both.
void requireListed(Objects* const (&heaps)[HEAPS]) {
    for (Objects* const objects : heaps) {
        alone([&] { require(static_cast<bool>(ObjectHeap<Cell>(objects).make<Cell>()), "no room in an empty heap"); });
    }
    together(THREADS, [&](u32 thread) { listObjects(heaps[thread % HEAPS], 0, thread / HEAPS, THREADS / HEAPS); });
    for (Objects* const objects : heaps) {
        alone([&] { endListing(objects, 0, 1); });
        require(objects->type[0].listed[LISTED] == 1, "a list has blocks of another heap");
    }
}

void useObjects() {
    using Cells = ObjectHeap<Cell>;
    Objects* heaps[HEAPS];
    for (u32 i = 0; i < HEAPS; ++i) {
        heaps[i] = makeObjects(memoryOf(i), HEAP_BYTES, 1 + chance.below(3), planOf<Cell>());
    }
    std::map<void*, u32> ids;
    useAny(
            [&](u32 heap, size_t) -> void* {
                const auto cell = Cells(heaps[heap]).make<Cell>();
                if (!cell) {
                    return nullptr;
                }
                void* const memory = &cell.words();
                ids[memory] = cell.id();
                return memory;
            },
            [&](u32 heap, void* memory) {
                const Cells cells(heaps[heap]);
                cells.destroy(cells.at<Cell>(ids[memory]));
            });
    for (const Objects* const objects : heaps) {
        u64 counts[2 * MOST_OBJECT_TYPES + 2] = {};
        alone([&] { countObjects(objects, counts, 0, 1); });
        require(counts[0] == 0 && counts[1] == 0 && counts[2 * MOST_OBJECT_TYPES] == objects->blocks, "something wasn't destroyed");
        require(counts[2 * MOST_OBJECT_TYPES + 1] == 0, "destroyed what was none");
    }
    requireListed(heaps);
}

void trySizes() {
    Heap* const heap = reinterpret_cast<Heap*>(memoryOf(0));
    const unsigned char* const written = memoryOf(0);
    const auto poison = [] { std::memset(memoryOf(0), 0xA5, sizeof(Heap) + sizeof(Objects)); };
    const auto requirePoison = [&] {
        require(std::all_of(written, written + sizeof(Heap) + sizeof(Objects), [](unsigned char each) { return each == 0xA5; }),
                "refused, but written");
    };
    for (const u32 flags : {0u, FLAG_START_BITS, FLAG_BUMP, FLAG_FREE_BITS, FLAG_FREE_BITS | FLAG_START_BITS | FLAG_TRACK}) {
        const auto make = [&](u64 bytes) { return format(heap, bytes, 132, 256, flags); };
        poison();
        for (const u64 bytes : {u64{0}, u64{2047}, LEAST_HEAP_BYTES - 1, MOST_HEAP_BYTES + 1, MOST_HEAP_BYTES + (1 << 20), 80 * GIB, ~u64{0}}) {
            require(!make(bytes), "made of too few or too many bytes");
        }
        requirePoison();
        for (const u64 bytes : {LEAST_HEAP_BYTES, 64 * KIB, GIB, MOST_HEAP_BYTES}) {
            require(make(bytes), "refused, though it may have so many bytes");
            const u64 units = heap->units;
            require(units != 0 && heap->area + units * UNIT_BYTES <= written + bytes, "the units leave the heap");
            require(units * UNIT_BYTES >= bytes / 2 || bytes == LEAST_HEAP_BYTES, "the units wrap around");
        }
    }
    Objects* const objects = reinterpret_cast<Objects*>(heap);
    const auto make = [&](u64 bytes) { return formatObjects(objects, bytes, 132, planOf<Cell>()); };
    poison();
    require(!make(0) && !make(sizeof(Objects) - 1), "made of too few bytes");
    requirePoison();
    require(!make(sizeof(Objects)) && !make(~u64{0}) && objects->layout != LAYOUT_OBJECTS, "made of too few or too many bytes");
}

void once(const std::string& scenario) {
    Group::forgetAll();
    if (scenario == "BitMalloc") {
        useAllocator<BitMalloc>(FLAG_FREE_BITS);
    } else if (scenario == "AtomicMalloc") {
        useAllocator<AtomicMalloc>(FLAG_BUMP);
    } else if (scenario == "Uncoalesced") {
        useAllocator<Uncoalesced<AtomicMalloc>>(FLAG_BUMP);
        useUncoalesced();
    } else if (scenario == "Coalesced") {
        useAllocator<Coalesced<CFMMalloc>>(0);
    } else if (scenario == "Buffered") {
        useBuffered();
    } else if (scenario == "WarpArena") {
        useArenas();
    } else if (scenario == "ObjectHeap") {
        useObjects();
    } else if (scenario == "sizes") {
        trySizes();
    } else {
        std::printf("heaps warps SCENARIO FIRST_SEED LAST_SEED, see heaps.cpp\n");
        std::exit(2);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        std::printf("heaps warps SCENARIO FIRST_SEED LAST_SEED, see heaps.cpp\n");
        return 2;
    }
    lanesOfWarp = WARP_LANES;
    runTrials(arguments, once);
    return 0;
}
