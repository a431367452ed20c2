// WarpArena over BitMalloc on fibers: for each seed a heap, a few warps with an arena each, and another order of their
// accesses.
//
//   arenas warps SCENARIO FIRST_SEED LAST_SEED
//
//   scratch    All use their arenas, and then all free them.
//   alone      The same, where each thread has an arena of its own, and another object than the one that made it frees it.
//   lives      Each warp makes an arena, uses it and frees it again and again, while others do: its memory was theirs.
//   grows      A warp's requests are small, or a good part of a chunk: either way it takes few chunks.
//   weak-lives   The same as lives, where loads may read what has been overwritten, and nothing that was acquired says otherwise.
//
// What was done with memory before happens before it is got again, and so does what an arena wrote before another thread uses
// that. What threads get lies apart, is aligned and within the heap, and keeps what was written; a request gets nothing only if the
// heap has none left; one call frees all, and then the largest request that a fresh heap serves is served.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <cstring>
#include <map>
#include <optional>

#include "bit_heap.h"

#include "outboard/warp_arena.cuh"

using namespace outboard;

namespace {

constexpr u64 KIB = 1 << 10;
constexpr u64 MOST_BYTES = 8 << 20;
constexpr u32 WARPS = 3;

// What was last written to words of the threads' own.
std::map<const u64*, u64> written;

// Asked for by all threads.
u64 chunks;

// An arena begins each chunk by plain stores, the only ones that others' atomic operations meet.
struct ChunkMalloc : BitMalloc {
    void* malloc(size_t bytes) {
        u64* const chunk = static_cast<u64*>(BitMalloc::malloc(bytes));
        ++chunks;
        if (chunk != nullptr) {
            constexpr u32 WORDS = sizeof(detail::ArenaChunk) / sizeof(u64);
            fibers.writesPlainly(chunk, WORDS);
            written.erase(written.lower_bound(chunk), written.lower_bound(chunk + WORDS));
        }
        return chunk;
    }
};

using Joining = WarpArena<ChunkMalloc>;
using Alone = WarpArena<ChunkMalloc, false>;

Heap* makeHeap(u64 bytes) {
    static Heap* const heap = reinterpret_cast<Heap*>(reserved(MOST_BYTES));
    makeBitHeap(heap, bytes);
    return heap;
}

u64 anyHeapBytes() {
    return 128 * KIB + chance.below(MOST_BYTES / 2);
}

struct Scratch {
    unsigned char* bytes;
    size_t size;
    unsigned char mark;
};

template <class Arena>
class Trial {
    Heap* const heap;
    const u32 lanes = WARPS * lanesOfWarp;
    std::vector<std::optional<Arena>> arenas{lanes};
    std::map<unsigned char*, Scratch> all;
    const size_t chunkBytes = chance.below(3) == 0 ? chance.below(200) : 64 + chance.below(8 * KIB);
    u64 marks = 0;
    const u32 most = 1 + chance.below(chance.below(2) == 0 ? 100 : 20 * KIB);

    void note(unsigned char* bytes, size_t size) {
        require(reinterpret_cast<uintptr_t>(bytes) % 16 == 0, "not aligned");
        require(bytes >= heap->area && bytes + size <= heap->area + heap->units * 16ull, "outside of the heap");
        const auto next = all.lower_bound(bytes);
        require(next == all.end() || bytes + size <= next->first, "over what comes after");
        require(next == all.begin() || std::prev(next)->first + std::prev(next)->second.size <= bytes, "over what comes before");
        const unsigned char mark = static_cast<unsigned char>(chance.below(256));
        all[bytes] = {bytes, size, mark};
        std::memset(bytes, mark, size);
    }

    // A heap that refused so much has no room for it.
    void requireNone(size_t size) {
        together(lanes, [&](u32 lane) {
            require(lane != 0 || BitMalloc{heap}.malloc(std::max(size + 32, chunkBytes)) == nullptr, "refused, though there is room");
        });
    }

    void requireWhole() const {
        alone([&] {
            const u32 granules = heap->units / 4096 * 4096;
            void* const whole = granules == 0 ? nullptr : BitMalloc{heap}.malloc(granules * 16ull);
            require(granules == 0 || whole != nullptr, "something wasn't freed");
            BitMalloc{heap}.free(whole);
        });
        require(heap->counters->misuses == 0, "freed what was none");
    }

    // Its first and its last word.
    void use(u64* words, size_t size) {
        for (u64* const place : {words, words + (size - 1) / sizeof(u64)}) {
            const auto last = written.find(place);
            const u64 seen = Atomic<u64>(*place).load(RELAXED);
            require(last == written.end() || last->second == seen, "what was done with the memory before didn't happen before");
            const u64 mark = ++marks;
            Atomic<u64>(*place).store(mark, RELAXED);
            written[place] = mark;
        }
    }

  public:
    explicit Trial(u64 heapBytes) : heap(makeHeap(heapBytes)) {}

    void grows() {
        constexpr u32 CALLS = 60;
        // With the doublings up to 64 KiB, of which each may be lost but for one request.
        constexpr u64 FEW = 12;
        const size_t size = 1 + chance.below(2000);
        chunks = 0;
        Barrier warp;
        together(lanesOfWarp, [&](u32) {
            Arena mine(ChunkMalloc{{heap}}, 64);
            for (u32 call = 0; call < CALLS; ++call) {
                require(mine.malloc(size) != nullptr, "refused in a heap of which most is free");
            }
            warp.wait(lanesOfWarp, true);
            mine.freeAll();
        });
        // Of each lane at worst, as those that don't come together have arenas of their own.
        require(chunks <= lanesOfWarp * FEW, "so many chunks");
        requireWhole();
    }

    void lives() {
        written.clear();
        std::vector<Barrier> warps(WARPS);
        const u32 rounds = 1 + chance.below(5);
        together(lanes, [&](u32 lane) {
            for (u32 round = 0; round < rounds; ++round) {
                Arena mine(ChunkMalloc{{heap}}, chunkBytes);
                for (u32 calls = chance.below(8); calls != 0; --calls) {
                    const size_t size = 1 + chance.below(chance.below(most) + 1);
                    if (void* const bytes = mine.malloc(size)) {
                        use(static_cast<u64*>(bytes), size);
                    }
                }
                warps[lane / lanesOfWarp].wait(lanesOfWarp, true);
                mine.freeAll();
            }
        });
        require(!fibers.memory.raced, "a thread uses what another one wrote, which doesn't happen before");
        requireWhole();
    }

    void scratch() {
        for (u32 round = 1 + chance.below(3); round != 0; --round) {
            // Those of a warp that come together share one.
            together(lanes, [&](u32 lane) { arenas[lane].emplace(ChunkMalloc{{heap}}, chunkBytes); });
            size_t refused = 0;
            const u32 calls = 1 + chance.below(30);
            together(lanes, [&](u32 lane) {
                Arena& mine = *arenas[lane];
                for (u32 call = 0; call < calls; ++call) {
                    const size_t size = chance.below(50) == 0 ? 0 : 1 + chance.below(chance.below(most) + 1);
                    auto* const bytes = static_cast<unsigned char*>(mine.malloc(size));
                    require(size != 0 || bytes == nullptr, "0 bytes");
                    if (bytes != nullptr) {
                        note(bytes, size);
                    } else if (size != 0) {
                        refused = std::max(refused, size);
                    }
                }
            });
            for (const auto& each : all) {
                const Scratch& scratch = each.second;
                for (size_t i = 0; i < scratch.size; ++i) {
                    require(scratch.bytes[i] == scratch.mark, "somebody else wrote there");
                }
            }
            if (refused != 0) {
                requireNone(refused);
            }
            all.clear();
            together(lanes, [&](u32 lane) {
                if constexpr (std::is_same<Arena, Alone>::value) {
                    arenas[lane] = Arena::resume(ChunkMalloc{{heap}}, arenas[lane]->handle());
                }
                arenas[lane]->freeAll();
                require(arenas[lane]->malloc(1) == nullptr, "served after all was freed");
            });
            requireWhole();
        }
    }
};

[[noreturn]] void usage() {
    std::printf("arenas warps SCENARIO FIRST_SEED LAST_SEED, see arenas.cpp\n");
    std::exit(2);
}

void once(const std::string& scenario) {
    Group::forgetAll();
    fibers.weak = scenario == "weak-lives";
    if (scenario == "scratch") {
        Trial<Joining>(anyHeapBytes()).scratch();
    } else if (scenario == "alone") {
        Trial<Alone>(anyHeapBytes()).scratch();
    } else if (scenario == "lives" || fibers.weak) {
        Trial<Joining>(anyHeapBytes()).lives();
    } else if (scenario == "grows") {
        Trial<Joining>(MOST_BYTES).grows();
    } else {
        usage();
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5 || std::string(arguments[1]) != "warps") {
        usage();
    }
    lanesOfWarp = WARP_LANES;
    runTrials(arguments, once);
    return 0;
}
