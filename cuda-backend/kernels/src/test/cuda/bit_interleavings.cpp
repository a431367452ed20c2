// BitMalloc on fibers: for each seed a heap, a few threads on it, and another order of their accesses.
//
//   bit_interleavings THREADS SCENARIO FIRST_SEED LAST_SEED
//
// THREADS: alone, each of another warp, or warps: then four fibers are a warp, and those of them that come at the same time
// are served together.
//
//   mix          Blocks of random sizes, in a heap that is full now and then.
//   aligned      The same with random alignments up to 1 MiB.
//   null         A few calls at once, again and again; between them, what must be found is asked for.
//   hopeless     Requests that fail while others free; then what is free is asked for.
//   refused      Threads find at once that there is no room, each for another size; then what each asks for again costs little.
//   rows         Of rows of granules of 64 KiB over several words some are free: no fewer than requests.
//   pattern      Searches in tables with any bits set: what is there is found, and that alone is taken.
//   promoted     One search promotes what another looks for.
//   bound        Requests that nothing can serve, beside threads that allocate and free until these have ended.
//   comb         Every other unit of a large heap is free. No trial of many: one is enough.
//   double-free  Threads free the same block at once. Needs -DOUTBOARD_CHECKED.
//   misuse       Addresses that aren't a block's, while others allocate and free.
//
// Of threads alone, each with weak- before it, too: loads may read what has been overwritten, where nothing that was acquired
// says otherwise.
//
// In all but pattern no two blocks overlap, no block is larger than it should be, no call needs more accesses than the head of
// bit_search.cuh says, what is free in the tables is what is free, scans find it, and when all is freed the largest
// request that a fresh heap serves is served.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <algorithm>

#include "bit_heap.h"
#include "bit_oracle.h"

using namespace outboard;

namespace {

[[noreturn]] void usage() {
    std::printf("bit_interleavings ALLOCATOR SCENARIO FIRST_SEED LAST_SEED, see bit_interleavings.cpp\n");
    std::exit(2);
}

#ifdef OUTBOARD_CHECKED
constexpr bool CHECKED = true;
#else
constexpr bool CHECKED = false;
#endif

constexpr u64 KIB = 1 << 10;
constexpr u64 MIB = 1 << 20;
constexpr u64 MOST_BYTES = 64 * MIB;
// Of a call without searches: a claim with all that it gives back, a block freed up to the highest level.
constexpr u64 CALL_ACCESSES = 200;
// Of a claim that a search makes, with all that it gives back; or of a promotion.
constexpr u64 CLAIM_ACCESSES = 40;
// What is known to be hopeless is asked for again: a dozen, and a few for a granule's rest that is given back.
constexpr u64 HOPELESS_ACCESSES = 50;

// For any heap, begun where no trial is likely to find the same.
unsigned char* memory() {
    static unsigned char* const mapping = reserved(MOST_BYTES + MIB);
    return mapping + (0 - reinterpret_cast<uintptr_t>(mapping)) % MIB;
}

u64 anyHeapBytes() {
    const u32 kind = chance.below(16);
    return kind < 8 ? 64 * KIB + chance.below(192 * KIB)  // no whole granule, or a few; one slot
            : kind < 14 ? 256 * KIB + chance.below(MIB)
            : kind < 15 ? 4 * MIB + chance.below(MIB)  // one word of level 2 and a bit more
                        : 8 * MIB + chance.below(MIB);
}

class Trial {
    Heap* const heap = reinterpret_cast<Heap*>(memory());
    BitMalloc allocator{heap};
    Oracle oracle{heap};
    const bool inWarps;
    u32 threads = inWarps ? 4 + chance.below(9) : 2 + chance.below(5);
    std::vector<std::vector<Block>> kept{threads};
    u32 mostUnits = 0;
    u32 mostKept = 1 + chance.below(1 + chance.below(40));
    bool aligned = false;

    // The head of bit_search.cuh. Threads of a warp take part in each other's searches.
    u64 mostAccesses() const {
        const BitTables& bits = heap->bits;
        u64 search = 8 * detail::FREE_COUNTERS + CLAIM_ACCESSES * (bits.words[0] + bits.words[1]);
        for (u32 level = 0; level < 3; ++level) {
            const u64 hints = (bits.words[level] + 63) / 64;
            search += 4 * (bits.words[level] + hints) + 9 * CLAIM_ACCESSES * hints;
        }
        return CALL_ACCESSES + (lanesOfWarp == 1 ? 3 : 2 + 3 * lanesOfWarp) * search;
    }

    void requireFew(u64 before, u64 most) const {
        const u64 accesses = fibers.accesses() - before;
        if (accesses > most) {
            fail("a call needs " + std::to_string(accesses) + " accesses, and not " + std::to_string(most));
        }
    }

    void requireRight(const std::string& wrong) const {
        if (!wrong.empty()) {
            fail(wrong);
        }
    }

    u32 anyUnits() const {
        constexpr u32 EDGES[] = {63, 64, 65, 127, 128, 4032, 4095, 4096, 4097, 8192};
        const u32 units = chance.below(8) == 0 ? EDGES[chance.below(10)] : mostUnits + 1;
        return units <= mostUnits ? units : 1 + chance.below(1 + chance.below(mostUnits));
    }

    Block malloc(u32 units, u32 alignmentLog2 = UNIT_LOG2) {
        const u32 slack = chance.below(UNIT_BYTES);
        const size_t bytes = static_cast<size_t>(units) * UNIT_BYTES - slack;
        const u64 before = fibers.accesses();
        void* const pointer =
                alignmentLog2 == UNIT_LOG2 ? allocator.malloc(bytes) : allocator.alignedMalloc(1ull << alignmentLog2, bytes);
        requireFew(before, mostAccesses());
        if (pointer == nullptr) {
            return {NO_UNIT, 0, 0};
        }
        require((reinterpret_cast<uintptr_t>(pointer) & ((1ull << alignmentLog2) - 1)) == 0, "not aligned");
        const Block block = {heap->unitAt(pointer), units, slack};
        requireRight(oracle.add(block));
        require(allocator.chunkBytes(pointer) == units * 16ull, "a block of another size");
        return block;
    }

    // Noted before, since others may have the memory before free returns.
    void free(const Block& block) {
        oracle.remove(block.unit);
        const u64 before = fibers.accesses();
        allocator.free(heap->address(block.unit));
        requireFew(before, CALL_ACCESSES + 16 * heap->bits.words[2]);
    }

    void freeAny(std::vector<Block>& mine) {
        std::swap(mine[chance.below(static_cast<u32>(mine.size()))], mine.back());
        const Block block = mine.back();
        mine.pop_back();
        free(block);
    }

    void freeAll(std::vector<Block>& mine) {
        while (!mine.empty()) {
            freeAny(mine);
        }
    }

    void use(std::vector<Block>& mine, u32 calls) {
        for (u32 i = 0; i < calls; ++i) {
            if (mine.size() > mostKept || (!mine.empty() && chance.below(2) == 0)) {
                freeAny(mine);
                continue;
            }
            const Block block = malloc(anyUnits(), aligned ? UNIT_LOG2 + chance.below(1 + chance.below(17)) : UNIT_LOG2);
            if (block.units != 0) {
                mine.push_back(block);
            }
        }
    }

    // Takes all of the heap.
    std::vector<Block> fill() {
        std::vector<Block> blocks;
        alone([&] {
            for (u32 most = mostUnits; most != 0;) {
                const u32 units = 1 + chance.below(most);
                const Block block = malloc(units);
                if (block.units != 0) {
                    blocks.push_back(block);
                } else {
                    most = units - 1;
                }
            }
        });
        for (size_t i = blocks.size(); i > 1; --i) {
            std::swap(blocks[i - 1], blocks[chance.below(static_cast<u32>(i))]);
        }
        return blocks;
    }

    // While no call is under way.
    void requireConsistent() const {
        requireRight(oracle.compareTables());
        require(heap->bits.hopeless[detail::LOOKED_FOR] == 0, "an exact look hasn't ended");
        for (const u32 segments : {1u, 2u, 7u, 1 + chance.below(300)}) {
            requireRight(oracle.compareStatistics(segments));
        }
    }

    u64 freesCounted() const {
        u64 sum = 0;
        for (u32 i = 0; i < detail::FREE_COUNTERS; ++i) {
            sum += heap->bits.frees[i].frees + heap->bits.frees[i].rests;
        }
        return sum;
    }

    // What must be served while no other call is under way. The largest first, mostly: no other is refused if it is
    // taken for hopeless, and who frees it again says that nothing is hopeless.
    void requireServed() {
        alone([&] {
            for (u32 i = 0; i < 6; ++i) {
                const Promise promise = oracle.promise();
                const u32 kind = i == 0 ? chance.below(2) : chance.below(6);
                const u32 units = kind < 2 ? promise.largest() : kind < 5 ? promise.most[kind - 2] : anyUnits();
                if (units == 0) {
                    continue;
                }
                const Block block = malloc(units);
                if (block.units != 0) {
                    free(block);
                } else if (promise.holds(units)) {
                    fail("null for " + std::to_string(units) + " units, though there are some and all is quiet");
                }
            }
        });
    }

    // The same for a warp that asks together. What one of them gets is nothing for the others; so what is left then.
    void requireServedTogether() {
        std::vector<Block> blocks(WARP_LANES);
        std::vector<u32> wanted(WARP_LANES);
        u32 met = 0;
        std::vector<std::function<void()>> bodies;
        for (u32 lane = 0; lane < WARP_LANES; ++lane) {
            wanted[lane] = anyUnits();
            bodies.push_back([&, lane] {
                blocks[lane] = malloc(wanted[lane]);
                met += Group(heap).size() == WARP_LANES ? 1 : 0;
            });
        }
        together(bodies);
        const Promise promise = oracle.promise();
        alone([&] {
            for (u32 lane = 0; lane < WARP_LANES; ++lane) {
                if (blocks[lane].units != 0) {
                    free(blocks[lane]);
                } else if (met == WARP_LANES && promise.holds(wanted[lane])) {
                    fail("null for " + std::to_string(wanted[lane]) + " units in a warp, though there are some");
                }
            }
        });
    }

    // All is free, and the largest requests that a fresh heap serves are served.
    void requireWhole() {
        require(oracle.blocks() == 0, "a block was forgotten");
        requireConsistent();
        alone([&] {
            const u32 granules = heap->units / 4096 * 4096;
            std::vector<Block> blocks;
            for (const u32 units : {granules, heap->units - granules}) {
                if (units != 0) {
                    blocks.push_back(malloc(units));
                    require(blocks.back().units != 0, "what a fresh heap serves isn't served after all is freed");
                }
            }
            require(malloc(1).units == 0, "memory was handed out twice");
            freeAll(blocks);
        });
        requireConsistent();
    }

    // That it is counted, and changes nothing.
    void requireMisuse(void* pointer) {
        ++oracle.misuses;
        alone([&] { allocator.free(pointer); });
        requireConsistent();
    }

  public:
    Trial(u64 bytes, bool warps) : inWarps(warps) {
        Group::forgetAll();
        lanesOfWarp = inWarps ? WARP_LANES : 1;
        const u32 flags = (CHECKED ? FLAG_START_BITS : 0) | (chance.below(2) == 0 ? FLAG_TRACK : 0);
        makeBitHeap(heap, bytes, flags);
        if (chance.below(4) == 0) {
            // Numbers that begin again where they are noted.
            heap->bits.frees[0].frees = (1ull << 43) - chance.below(8);
        }
        // Within a word, some words, some granules, or nearly all.
        const u32 limits[] = {8, 63, 300, 5000, heap->units};
        const u32 kind = chance.below(16);
        mostUnits = std::min(limits[kind < 2 ? 0 : kind < 7 ? 1 : kind < 11 ? 2 : kind < 14 ? 3 : 4], heap->units);
    }

    void mix(bool withAlignment) {
        aligned = withAlignment;
        for (u32 phases = 1 + chance.below(3); phases != 0; --phases) {
            const u32 calls = 4 + chance.below(40);
            together(threads, [&](u32 i) { use(kept[i], calls); });
            requireConsistent();
            if (chance.below(2) == 0) {
                requireServed();
            }
            std::rotate(kept.begin(), kept.begin() + chance.below(threads), kept.end());
        }
        together(threads, [&](u32 i) { freeAll(kept[i]); });
        requireWhole();
    }

    void null() {
        std::vector<Block> blocks;
        if (chance.below(2) == 0) {
            blocks = fill();
        }
        for (u32 rounds = 2 + chance.below(6); rounds != 0; --rounds) {
            together(threads, [&](u32 i) {
                use(kept[i], 1 + chance.below(4));
                if (!blocks.empty() && chance.below(2) == 0) {
                    freeAny(blocks);
                }
            });
            requireServed();
            if (inWarps) {
                requireServedTogether();
            }
            requireRight(oracle.compareTables());
        }
        kept.push_back(blocks);
        alone([&] {
            for (std::vector<Block>& mine : kept) {
                freeAll(mine);
            }
        });
        requireWhole();
    }

    // Few blocks and few calls, so that much of what may happen between them does happen within some thousand trials. All
    // is taken at first; those that are freed meanwhile are of the size that is asked for, or make as much together.
    void hopeless() {
        const u32 granule = heap->units > 4 * MIB / UNIT_BYTES ? 4096 : chance.below(2) == 0 ? 64 : 1;
        const u32 most = granule == 4096 ? 1 + chance.below(70) : granule == 64 ? 1 + chance.below(3) : 1 + chance.below(70);
        const u32 size = granule * most;
        std::vector<Block> victims;
        alone([&] {
            const auto take = [&](u32 units, std::vector<Block>& blocks) {
                const Block block = malloc(units);
                if (block.units != 0) {
                    blocks.push_back(block);
                }
                return block.units != 0;
            };
            for (u32 i = 1 + chance.below(4); i != 0; --i) {
                take(size, victims);
                if (chance.below(2) == 0) {
                    take(granule * (1 + chance.below(most)), chance.below(4) == 0 ? victims : kept[0]);
                }
            }
            for (u32 largest = 0; (largest = oracle.promise().largest()) != 0;) {
                if (!take(largest, kept[0])) {
                    break;
                }
            }
        });
        // Some of what is freed is taken again, and some of what is asked for is more than there is.
        const u32 askers = 1 + chance.below(threads - 1);
        const u32 units = chance.below(4) == 0 ? size + granule : size;
        const u32 calls = 1 + chance.below(3);
        std::vector<std::vector<Block>> got{threads};
        together(threads, [&](u32 i) {
            for (u32 call = 0; call < calls; ++call) {
                if (i < askers || chance.below(4) == 0) {
                    const Block block = malloc(i < askers ? units : 1 + chance.below(size));
                    if (block.units != 0) {
                        got[i].push_back(block);
                    }
                } else if (!victims.empty()) {
                    freeAny(victims);
                }
                if (!got[i].empty() && chance.below(4) == 0) {
                    freeAny(got[i]);
                }
            }
        });
        requireServed();
        got.push_back(victims);
        got.insert(got.end(), kept.begin(), kept.end());
        alone([&] {
            for (std::vector<Block>& mine : got) {
                freeAll(mine);
            }
        });
        requireWhole();
    }

    // Of a heap of at least 4 MiB, granule by granule.
    void rows() {
        std::vector<Block> granules;
        const u32 size = 2 + chance.below(90);
        alone([&] {
            for (u32 i = heap->units / 4096; i != 0; --i) {
                granules.push_back(malloc(4096));
                require(granules.back().units != 0, "a granule is missing");
            }
            std::sort(granules.begin(), granules.end(), [](const Block& a, const Block& b) { return a.unit < b.unit; });
            // Every other row of that size, or a bit more than that, is free.
            const u32 first = chance.below(64);
            const u32 apart = size + 1 + chance.below(8);
            for (u32 i = first; i + size <= granules.size(); i += apart) {
                for (u32 free = 0; free < size; ++free) {
                    this->free(granules[i + free]);
                }
            }
        });
        u32 there = 0;
        for (const Range& row : oracle.freeRows()) {
            there += (row.to - row.from) / 4096 / size;
        }
        threads = std::min(threads, there);
        together(threads, [&](u32 i) {
            const Block block = malloc(size * 4096 - (chance.below(4) == 0 ? chance.below(4096) : 0));
            if (block.units != 0 && chance.below(4) == 0) {
                free(block);
            } else if (block.units != 0) {
                kept[i].push_back(block);
            }
        });
        requireServed();
        alone([&] {
            while (oracle.blocks() != 0) {
                free(Block(oracle.first()));
            }
        });
        requireWhole();
    }

    void bound() {
        std::vector<Block> blocks = fill();
        alone([&] {
            const size_t half = blocks.size() / 2;
            while (blocks.size() > half + 1) {
                freeAny(blocks);
            }
        });
        const u32 units = oracle.promise().largest() + 1;
        u32 asking = 1 + chance.below(threads - 1);
        const u32 askers = asking;
        together(threads, [&](u32 i) {
            if (i < askers) {
                for (u32 call = 0; call < 3; ++call) {
                    require(units > heap->units || malloc(units).units == 0, "more is served than there is");
                }
                --asking;
            } else {
                while (asking != 0) {
                    use(kept[i], 4);
                }
            }
        });
        requireServed();
        kept.push_back(blocks);
        together(threads, [&](u32 i) { freeAll(kept[i]); });
        alone([&] { freeAll(kept.back()); });
        requireWhole();
    }

    void refused() {
        std::vector<Block> blocks = fill();
        alone([&] {
            for (u32 i = chance.below(4); i != 0 && !blocks.empty(); --i) {
                freeAny(blocks);
            }
        });
        const u32 served = oracle.promise().largest();
        const u32 most = 1 + chance.below(200);
        std::vector<u32> sizes(threads);
        for (u32& size : sizes) {
            size = std::min(served + 1 + chance.below(most), heap->units);
        }
        const auto ask = [&](u32 units) { require(malloc(units).units == 0, "more is served than there is"); };
        if (served == heap->units) {
            return;
        }
        together(threads, [&](u32 i) {
            for (u32 call = 0; call < 4; ++call) {
                ask(sizes[i]);
            }
        });
        alone([&] {
            for (const u32 units : sizes) {
                // Each slot may claim a part of it once, where it guesses, and counts that when it gives it back. After that
                // one suspects that there is none, and one looks exactly.
                const u64 first = freesCounted();
                u64 costly = 0;
                for (u32 call = 0; call < 4 * (heap->bits.slotCount + 1); ++call) {
                    const u64 before = fibers.accesses();
                    ask(units);
                    costly += fibers.accesses() - before > 3 * HOPELESS_ACCESSES ? 1 : 0;
                }
                const u64 guesses = freesCounted() - first;
                require(guesses <= heap->bits.slotCount, "a slot guesses again where it found only a part");
                require(costly <= 2 * (guesses + 1), "what can't be served is looked for again, though nothing became free");
            }
            freeAll(blocks);
        });
        requireWhole();
    }

    // One of some shapes, not all ones: who made it so would have promoted it.
    u64 anyWord(u32 kind) {
        const u64 any = static_cast<u64>(chance.below(~0u)) << 32 | chance.below(~0u);
        const u64 other = static_cast<u64>(chance.below(~0u)) << 32 | chance.below(~0u);
        const u64 low = detail::lowBits(chance.below(64));
        const u64 high = detail::highBits(1 + chance.below(63));
        const u64 word = kind == 0 ? 0 : kind == 1 ? low : kind == 2 ? high : kind == 3 ? low | high : kind == 4 ? any & other : any | other;
        return word == detail::ALL ? word >> 1 : word;
    }

    void fillTables() {
        const BitTables& bits = heap->bits;
        const u32 kinds = 1 + chance.below(6);
        const u32 wholes = chance.below(4) == 0 ? chance.below(3) : 0;
        const auto kind = [&] { return chance.below(3) == 0 ? 0 : chance.below(kinds); };
        for (u32 granule = 0; granule < bits.words[1]; ++granule) {
            const bool whole = granule < bits.words[0] / 64;  // of level 2
            u64& isFree = bits.free[2][granule / 64];
            if (whole && wholes <= chance.below(4)) {
                isFree &= ~detail::bit64(granule);
            }
            if (whole && (isFree & detail::bit64(granule)) != 0) {
                continue;
            }
            const u64 inside = whole ? detail::ALL : detail::lowBits(bits.words[0] % 64);
            bits.free[1][granule] = anyWord(kind()) & inside;
            for (u64 left = ~bits.free[1][granule] & inside; left != 0; left &= left - 1) {
                bits.free[0][granule * 64 + lowestBit(left)] = anyWord(kind());
            }
        }
        for (u32 level = 0; level < 3; ++level) {
            for (u32 word = 0; word < bits.words[level]; ++word) {
                const u64 bit = bits.free[level][word] != 0 || chance.below(16) == 0 ? detail::bit64(word) : 0;
                u64& hint = bits.hints[level][word / 64];
                hint = (hint & ~detail::bit64(word)) | bit;
            }
        }
    }

    void pattern() {
        fillTables();
        const FreeBits free(heap);
        require(free.wrong.empty(), free.wrong.c_str());
        Promise promise;
        for (const Range& row : free.rows) {
            promise.add(row, heap->units / 4096 * 4096);
        }
        unsigned char* const tables = reinterpret_cast<unsigned char*>(heap->counters);
        const std::vector<unsigned char> before(tables, heap->area);
        for (u32 i = 0; i < 12; ++i) {
            const u32 kind = chance.below(6);
            const u32 units = kind < 3 ? promise.most[kind] : std::min(anyUnits(), promise.largest() + 1);
            if (units == 0) {
                continue;
            }
            const bool exact = chance.below(2) == 0;
            const u32 turn = chance.below(3) == 0 ? 0 : chance.below(64);
            const u32 count = units > 4096 ? 1 : 1 + chance.below(2);
            std::vector<Range> found;
            together(std::vector<std::function<void()>>(lanesOfWarp, [&] {
                const Group group(heap);
                detail::Search search(heap, group.lanes(), units);
                search.lookTogether(units);
                search.count = count;
                search.exact = exact;
                search.frees = 0;
                if (turn == 0 || detail::levelFor(units) == detail::TOP_LEVEL) {
                    detail::searchAll(search);
                } else {
                    searchFrom(search, turn);
                }
                if (search.found.unit != NO_UNIT && group.rank() == 0) {
                    found.push_back({search.found.unit, search.found.end});
                    const auto holds = [&](const Range& row) {
                        return row.from <= search.found.unit && search.found.end <= row.to;
                    };
                    require(std::any_of(free.rows.begin(), free.rows.end(), holds), "what was found isn't free");
                    require(search.found.unit + units <= search.found.end, "less is found than was looked for");
                }
            }));
            // More than one group may look for the same.
            require(found.empty() != promise.holds(units), found.empty() ? "what is there isn't found" : "more is found than there is");
            requireTaken(free.rows, found);
            std::copy(before.begin(), before.end(), tables);
        }
    }

    // That what was found lies apart, and all else is free as before.
    void requireTaken(std::vector<Range> rows, const std::vector<Range>& taken) const {
        for (const Range& range : taken) {
            const auto row = std::find_if(rows.begin(), rows.end(), [&](const Range& each) {
                return each.from <= range.from && range.to <= each.to;
            });
            require(row != rows.end(), "the same is found twice");
            const Range rest = {range.to, row->to};
            row->to = range.from;
            rows.insert(row + 1, rest);
        }
        rows.erase(std::remove_if(rows.begin(), rows.end(), [](const Range& row) { return row.from == row.to; }), rows.end());
        const FreeBits now(heap);
        requireRight(now.wrong);
        require(now.rows == rows, "more or less is taken than was found");
    }

    // As who has lost a claim goes on: from that bit of each hint, round to it again.
    static void searchFrom(detail::Search& search, u32 turn) {
        for (u32 level = detail::levelFor(search.units); level <= detail::TOP_LEVEL; ++level) {
            search.enter(level, Group(search.lanes).fromFirst(scatter()));
            search.turn = turn;
            for (u32 word = 0; (word = detail::findWord(search)) != NO_UNIT;) {
                if (search.rank == 0) {
                    detail::claimFound(search, word);
                }
                if (detail::share(search)) {
                    return;
                }
            }
        }
    }

    // Of a heap with every other block free, of so many units each.
    void comb(u32 units) {
        lanesOfWarp = 1;
        const BitTables& bits = heap->bits;
        std::vector<Block> blocks;
        while (true) {
            const Block block = malloc(units);
            if (block.units == 0) {
                break;
            }
            blocks.push_back(block);
        }
        std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.unit < b.unit; });
        for (size_t i = 0; i < blocks.size(); i += 2) {
            free(blocks[i]);
        }
        requireConsistent();
        u64 words = 8 * detail::FREE_COUNTERS;
        for (u32 level = 0; level < 3; ++level) {
            words += bits.words[level] + bits.words[level] / 64 + 1;
        }
        const u32 wanted = 2 * units;
        // Of several slots (warpOfMultiprocessor): each may get a part of what it expects once, and so search.
        for (u32 i = 0; i < 1000; ++i) {
            const u64 before = fibers.accesses();
            require(malloc(wanted + i % 3).units == 0, "more is served than there is");
            // Two searches that look at each word, and one that promotes.
            requireFew(before, i < 20 ? 3 * words + CALL_ACCESSES : HOPELESS_ACCESSES);
        }
        free(blocks[1 + 2 * chance.below(static_cast<u32>(blocks.size() / 2) - 1)]);
        require(oracle.promise().holds(wanted) ? malloc(wanted).units != 0 : true, "nothing makes it less hopeless");
        while (oracle.blocks() != 0) {
            free(Block(oracle.first()));
        }
        requireWhole();
    }

    // A full word that stayed, as it is some slot's own, is promoted by one search while another looks for it, above before
    // it is there, and below after it was.
    void promoted() {
        std::vector<Block> blocks;
        alone([&] {
            for (Block block = malloc(1); block.units != 0; block = malloc(1)) {
                blocks.push_back(block);
            }
        });
        const auto byUnit = [](const Block& a, const Block& b) { return a.unit < b.unit; };
        std::sort(blocks.begin(), blocks.end(), byUnit);
        const u32 word = chance.below(static_cast<u32>(blocks.size()) / 64);
        const auto first = blocks.begin() + word * 64;
        std::vector<Block> ofWord(first, first + 64);
        blocks.erase(first, first + 64);
        u32& own = heap->bits.slots[0].word[0];
        heap->bits.own[0][own / 64] &= ~(1ull << (own % 64));
        heap->bits.own[0][word / 64] |= 1ull << (word % 64);
        own = word;
        const u32 units = chance.below(2) == 0 ? 65 : 4096;
        std::vector<Block> found(3);
        together({[&] { freeAll(ofWord); },
                  [&] { found[0] = malloc(units); },
                  [&] { found[1] = malloc(1); },
                  [&] { found[2] = malloc(units); }});
        requireServed();
        for (const Block& block : found) {
            if (block.units != 0) {
                blocks.push_back(block);
            }
        }
        alone([&] { freeAll(blocks); });
        requireWhole();
    }

    void doubleFree() {
        std::vector<Block> blocks = fill();
        const Block victim = blocks.back();
        blocks.pop_back();
        alone([&] {
            const u32 pieces = chance.below(static_cast<u32>(blocks.size()) + 1);
            for (u32 i = 0; i < pieces; ++i) {
                freeAny(blocks);
            }
        });
        // Others free what they have and allocate nothing, so nobody can get the victim between.
        const u32 culprits = 2 + chance.below(threads - 1);
        oracle.remove(victim.unit);
        oracle.misuses = culprits - 1;
        together(threads, [&](u32 i) {
            for (u32 rest = chance.below(4); rest != 0 && !blocks.empty(); --rest) {
                freeAny(blocks);
            }
            if (i < culprits) {
                allocator.free(heap->address(victim.unit));
            }
        });
        requireConsistent();
        requireMisuse(heap->address(victim.unit));
        requireServed();
        requireMisuse(heap->address(victim.unit));
        std::vector<Block> freed = blocks;
        together(threads, [&](u32) { freeAll(blocks); });
        // Their granules are promoted by now, or are not.
        for (u32 i = 0; i < 3 && !freed.empty(); ++i) {
            requireMisuse(heap->address(freed[chance.below(static_cast<u32>(freed.size()))].unit));
        }
        requireWhole();
        requireMisuse(heap->address(victim.unit));
        requireWhole();
    }

    void* anyWrong(const std::vector<Block>& mine) const {
        const u32 kind = chance.below(CHECKED && !mine.empty() ? 5 : 4);
        if (kind == 4) {
            const Block block = mine[chance.below(static_cast<u32>(mine.size()))];
            return heap->address(block.unit + (block.units > 1 ? 1 + chance.below(block.units - 1) : heap->units));
        }
        return kind == 0 ? heap->area + UNIT_BYTES * chance.below(heap->units) + 1 + chance.below(15)
                : kind == 1 ? heap->area + static_cast<u64>(heap->units + chance.below(100)) * UNIT_BYTES
                : kind == 2 ? heap->area - UNIT_BYTES * (1 + chance.below(100))
                            : static_cast<void*>(heap);
    }

    void misuse() {
        const u32 calls = 4 + chance.below(20);
        together(threads, [&](u32 i) {
            for (u32 call = 0; call < calls; ++call) {
                if (chance.below(4) == 0) {
                    ++oracle.misuses;
                    allocator.free(anyWrong(kept[i]));
                } else {
                    use(kept[i], 1);
                }
            }
            allocator.free(nullptr);
        });
        requireConsistent();
        for (const std::vector<Block>& mine : kept) {
            requireMisuse(anyWrong(mine));
        }
        together(threads, [&](u32 i) { freeAll(kept[i]); });
        requireWhole();
    }
};

template <bool WARPS>
void run(const std::string& name) {
    fibers.weak = name.rfind("weak-", 0) == 0;
    const std::string scenario = fibers.weak ? name.substr(5) : name;
    if (fibers.weak && WARPS) {
        usage();
    }
    if (scenario == "comb") {
        constexpr u32 SIZES[] = {1, 32, 64, 2048, 4096};
        const u64 bytes = seed == 1 ? MOST_BYTES : 128 * KIB + chance.below(8 * MIB);
        Trial(bytes, WARPS).comb(seed == 1 ? 1 : SIZES[chance.below(5)]);
        return;
    }
    if (scenario == "hopeless") {
        Trial(chance.below(8) == 0 ? 5 * MIB + chance.below(4 * MIB) : 64 * KIB + chance.below(64 * KIB), WARPS).hopeless();
        return;
    }
    if (scenario == "promoted") {
        Trial(64 * KIB + chance.below(16 * KIB), WARPS).promoted();
        return;
    }
    if (scenario == "rows") {
        Trial(5 * MIB + chance.below(1 + chance.below(50 * MIB)), WARPS).rows();
        return;
    }
    Trial trial(anyHeapBytes(), WARPS);
    if (scenario == "mix" || scenario == "aligned") {
        trial.mix(scenario == "aligned");
    } else if (scenario == "null") {
        trial.null();
    } else if (scenario == "bound") {
        trial.bound();
    } else if (scenario == "refused") {
        trial.refused();
    } else if (scenario == "pattern") {
        trial.pattern();
    } else if (scenario == "double-free" && CHECKED) {
        trial.doubleFree();
    } else if (scenario == "misuse") {
        trial.misuse();
    } else {
        usage();
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string threads = count == 5 ? arguments[1] : "";
    void (*const once)(const std::string&) = threads == "alone" ? run<false> : threads == "warps" ? run<true> : nullptr;
    if (once == nullptr) {
        usage();
    }
    runTrials(arguments, once);
    return 0;
}
