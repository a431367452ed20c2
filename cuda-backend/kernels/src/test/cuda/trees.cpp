// BitMalloc on fibers, as warps use it that build a tree: for each seed another tree, and another order of accesses.
//
//   trees warps SCENARIO FIRST_SEED LAST_SEED
//
//   small        In a heap that has a few places where warps divide it, so that they get into each other's way.
//   large        In one in which nodes near the root need rows of granules of 64 KiB.
//   apart        No tree: all warps have a small block, then one of a quarter of the heap is asked for.
//
// Each node has a list, as long as it has references, until it has been divided; each division adds two nodes, which stay, and
// a list for each. Requests of a division come together. So what lives long lies beside what doesn't, and all of the heap was
// in use before the tree is half done. What is needed at any time is a third of the heap: nothing may be refused.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <deque>

#include "bit_heap.h"

using namespace outboard;

namespace {

constexpr u64 MOST_BYTES = 64 << 20;
constexpr u32 MULTIPROCESSORS = 132;
constexpr u32 WARPS = 96;
constexpr u32 WARPS_A_MULTIPROCESSOR = 8;
constexpr u64 REFERENCE_BYTES = 4;
constexpr u64 PAIR_BYTES = 32;
// The heap: twenty times the root's list.
constexpr u64 HEAP_BYTES_A_REFERENCE = 20 * REFERENCE_BYTES;
// A leaf has fewer references.
constexpr u32 LEAF = 14;
// Of a division: references that one access stands for, while others go on.
constexpr u32 REFERENCES_AN_ACCESS = 100;

struct Node {
    void* list;
    u32 references;
};

// So many 65536ths; one at least.
u32 part(u32 of, u32 in65536) {
    const u32 some = static_cast<u32>(static_cast<u64>(of) * in65536 >> 16);
    return some == 0 ? 1 : some;
}

Heap* makeHeap(u64 bytes) {
    static Heap* const heap = reinterpret_cast<Heap*>(reserved(MOST_BYTES));
    makeBitHeap(heap, bytes, 0, MULTIPROCESSORS);
    return heap;
}

class Trial {
    struct Warp {
        Barrier barrier;
        Node node;
        bool isAtWork = false;
        bool hasEnded = false;
        u64 wishes[WARP_LANES];
        void* got[WARP_LANES];
    };

    Heap* const heap;
    std::vector<Warp> warps{WARPS};
    std::deque<Node> tasks;
    u32 pending = 1;  // nodes to be divided

    // By one thread of a warp: a node, and what its division needs.
    void begin(Warp& warp) {
        if (!warp.isAtWork && !tasks.empty()) {
            warp.isAtWork = true;
            warp.node = tasks.front();
            tasks.pop_front();
        }
        warp.hasEnded = pending == 0;
        std::fill_n(warp.wishes, WARP_LANES, 0);
        if (warp.isAtWork) {
            const u32 most = warp.node.references - 1;
            // Some references are in both children.
            const u32 all = warp.node.references + part(warp.node.references, chance.below(13000));
            const u32 left = std::min(most, part(all, 20000 + chance.below(25000)));
            warp.wishes[0] = left * REFERENCE_BYTES;
            warp.wishes[1] = std::min(most, all - left) * REFERENCE_BYTES;
            warp.wishes[2] = PAIR_BYTES;
        }
    }

    // By one thread: hands the children on, keeps one of them.
    void end(Warp& warp) {
        BitMalloc{heap}.free(warp.node.list);
        warp.isAtWork = false;
        --pending;
        for (u32 side = 0; side < 2; ++side) {
            const Node child = {warp.got[side], static_cast<u32>(warp.wishes[side] / REFERENCE_BYTES)};
            if (child.references < LEAF) {
                continue;
            }
            ++pending;
            if (warp.isAtWork) {
                tasks.push_back(child);
            } else {
                warp.isAtWork = true;
                warp.node = child;
            }
        }
    }

    void build(u32 lane) {
        Warp& warp = warps[lane / WARP_LANES];
        const u32 mine = lane % WARP_LANES;
        while (true) {
            if (mine == 0) {
                begin(warp);
            }
            warp.barrier.wait(WARP_LANES, false);
            if (warp.hasEnded) {
                return;
            }
            if (const u64 bytes = warp.wishes[mine]) {
                warp.got[mine] = BitMalloc{heap}.malloc(bytes);
                require(warp.got[mine] != nullptr, "refused in a heap of which a third is in use");
            }
            const u32 work = warp.isAtWork ? warp.node.references / REFERENCES_AN_ACCESS : 0;
            for (u32 i = 0; mine == 0 && i <= work; ++i) {
                fibers.pause();
            }
            warp.barrier.wait(WARP_LANES, false);
            if (mine == 0 && warp.isAtWork) {
                end(warp);
            }
        }
    }

  public:
    // With so many references in the root's list.
    explicit Trial(u32 references) : heap(makeHeap(references * HEAP_BYTES_A_REFERENCE)) {
        void* list = nullptr;
        alone([&] { list = BitMalloc{heap}.malloc(references * REFERENCE_BYTES); });
        tasks.push_back({list, references});
    }

    void run() {
        constexpr u64 MOST_ACCESSES_OF_ALL = 4000000000;
        std::vector<std::function<void()>> bodies;
        for (u32 lane = 0; lane < WARPS * WARP_LANES; ++lane) {
            bodies.push_back([this, lane] { build(lane); });
        }
        together(bodies, MOST_ACCESSES_OF_ALL);
    }
};

// Where slots begin leaves rows of what is whole.
void apart() {
    Heap* const heap = makeHeap(16 << 20);
    together(WARPS * WARP_LANES, [&](u32) { require(BitMalloc{heap}.malloc(16) != nullptr, "refused in a fresh heap"); });
    alone([&] {
        require(BitMalloc{heap}.malloc(heap->bytes / 4) != nullptr, "a quarter refused in a heap of which little is in use");
    });
}

[[noreturn]] void usage() {
    std::printf("trees warps SCENARIO FIRST_SEED LAST_SEED, see trees.cpp\n");
    std::exit(2);
}

void once(const std::string& scenario) {
    Group::forgetAll();
    fibers.warps = WARPS_A_MULTIPROCESSOR;
    if (scenario == "small") {
        Trial(20000).run();
    } else if (scenario == "large") {
        Trial(60000).run();
    } else if (scenario == "apart") {
        apart();
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
