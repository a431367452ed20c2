// WarpArena over BitMalloc on fibers: for each seed a heap, a few warps with an arena each, and another order of their
// accesses.
//
//   arenas warps scratch FIRST_SEED LAST_SEED
//
// What threads get lies apart, is aligned and within the heap, and keeps what was written; a request gets nothing only if the
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

using Arena = WarpArena<BitMalloc>;

Heap* makeHeap(u64 bytes) {
    static Heap* const heap = reinterpret_cast<Heap*>(reserved(MOST_BYTES));
    makeBitHeap(heap, bytes);
    return heap;
}

struct Scratch {
    unsigned char* bytes;
    size_t size;
    unsigned char mark;
};

class Trial {
    Heap* const heap = makeHeap(128 * KIB + chance.below(MOST_BYTES / 2));
    const u32 lanes = WARPS * lanesOfWarp;
    std::vector<std::optional<Arena>> arenas{lanes};
    std::map<unsigned char*, Scratch> all;
    const size_t chunkBytes = chance.below(3) == 0 ? chance.below(200) : 64 + chance.below(8 * KIB);
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

  public:
    void scratch() {
        for (u32 round = 1 + chance.below(3); round != 0; --round) {
            // Those of a warp that come together share one.
            together(lanes, [&](u32 lane) { arenas[lane].emplace(BitMalloc{heap}, chunkBytes); });
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
                arenas[lane]->freeAll();
                require(arenas[lane]->malloc(1) == nullptr, "served after all was freed");
            });
            together(lanes, [&](u32 lane) {
                if (lane == 0) {
                    const u32 granules = heap->units / 4096 * 4096;
                    void* const whole = granules == 0 ? nullptr : BitMalloc{heap}.malloc(granules * 16ull);
                    require(granules == 0 || whole != nullptr, "something wasn't freed");
                    BitMalloc{heap}.free(whole);
                }
            });
            require(heap->counters->misuses == 0, "freed what was none");
        }
    }
};

void once(const std::string&) {
    Group::forgetAll();
    Trial().scratch();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5 || std::string(arguments[1]) != "warps" || std::string(arguments[2]) != "scratch") {
        std::printf("arenas warps scratch FIRST_SEED LAST_SEED, see arenas.cpp\n");
        return 2;
    }
    lanesOfWarp = WARP_LANES;
    runTrials(arguments, once);
    return 0;
}
