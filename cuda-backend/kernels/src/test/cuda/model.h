// Scenarios of one thread: fresh heaps as they should be, and random operations beside a model of what is in use.
#pragma once

#include <map>

#include "test_heap.h"

// The tables lie in the memory, one after another, and before the area; no word more would fit.
inline void requireLayout(const Settings& settings, const Heap* heap) {
    uintptr_t at = reinterpret_cast<uintptr_t>(heap + 1);
    const auto table = [&](const void* place, u64 bytes, uintptr_t alignment) {
        const uintptr_t from = reinterpret_cast<uintptr_t>(place);
        require(settings, from >= at && from % alignment == 0, "a table overlaps another, or isn't aligned");
        at = from + bytes;
    };
    const u64 words = heap->words;
    table(heap->counters, sizeof(Counters), alignof(Counters));
    table(heap->starts, 4ull * heap->startCount * START_STRIDE, 4);
    u64 entries = words;
    for (u32 level = 0; level <= heap->top; ++level) {
        // And one, where a search that leaves the last one lands.
        table(heap->level[level], 8 * (entries + 1), 8);
        entries = (entries + WORD_UNITS - 1) / WORD_UNITS;
    }
    require(settings, entries == 1, "the highest level has more than one word");
    table(heap->ends, 4 * words, 4);
    if ((heap->flags & FLAG_START_BITS) != 0) {
        table(heap->startBits, 4 * words, 4);
    }
    if ((heap->flags & FLAG_TRACK) != 0) {
        table(heap->slack, 4 * words * WORD_UNITS, 4);
    }
    table(heap->area, (heap->units + 1ull) * UNIT_BYTES, 256);
    const uintptr_t end = reinterpret_cast<uintptr_t>(heap) + heap->bytes;
    require(settings, heap->units + 1ull == words * WORD_UNITS && at <= end, "the area leaves the memory");
    Heap more = *heap;
    const u64 tables = place(&more, heap->words + 1) - reinterpret_cast<uintptr_t>(&more);
    const u64 area = (heap->words + 1ull) * WORD_UNITS * UNIT_BYTES;
    require(settings, tables + area + AREA_ALIGNMENT > heap->bytes, "there is room for more");
}

struct OpenChunk {
    u32 unit;
    u32 units;
};

// The chunks that the levels lead to, from one entry of a level down.
inline void openChunks(const Heap* heap, u32 level, u32 entry, std::vector<OpenChunk>& chunks) {
    const u64 state = heap->level[level][entry];
    for (u32 open = low(state); open != 0; open &= open - 1) {
        const u32 index = entry * WORD_UNITS + lowestBit(open);
        if (level != 0) {
            openChunks(heap, level - 1, index, chunks);
            continue;
        }
        const u32 starts = heap->startBits != nullptr ? heap->startBits[entry] : low(state) | high(state);
        const u32 after = starts & (bitsFrom(index) << 1);
        const u32 end = after != 0 ? entry * WORD_UNITS + lowestBit(after) : heap->ends[entry];
        chunks.push_back({index, (high(state) & bitOf(index)) != 0 ? end - index : 0});
    }
}

// The sizes in units that a fresh heap's chunks should have, in their order.
inline std::vector<u32> expectedSizes(const Heap* heap, const Split& split) {
    const u64 end = std::min<u64>((split.endBytes + 15) / 16, heap->units);
    const u64 main = heap->units - end;
    const u64 wanted = std::min<u64>((split.chunkBytes + 15) / 16, main);
    std::vector<u32> sizes;
    const auto add = [&](u64 units) {
        if (units != 0) {
            sizes.push_back(static_cast<u32>(units));
        }
    };
    if (split.scheme == SPLIT_UNIFORM) {
        for (u64 left = main; left != 0; left -= std::min(left, wanted)) {
            add(std::min(left, wanted));
        }
    } else if (split.scheme == SPLIT_BINARY_HEAP && main != 0) {
        u64 region = main / heap->startCount;
        // Four to seven times a power of two.
        u64 round = 1;
        while (region / round >= 8) {
            round *= 2;
        }
        region -= region % round;
        u64 smallest = 1;
        while (smallest < wanted) {
            smallest *= 2;
        }
        u32 levels = 0;
        while ((levels + 1) * (smallest << levels) <= region) {
            ++levels;
        }
        for (u32 i = 0; i < heap->startCount; ++i) {
            for (u32 k = 0; k < levels; ++k) {
                for (u64 chunk = 0; chunk < 1ull << k; ++chunk) {
                    add(smallest << (levels - 1) >> k);
                }
            }
            const u64 own = i + 1 < heap->startCount ? region : main - i * region;
            add(own - levels * (smallest << levels) / 2);
        }
    } else {
        add(main);
    }
    add(end);
    return sizes;
}

inline void requireSplit(const Settings& settings, const TestHeap& made, const Split& split) {
    const Heap* const heap = made.heap;
    const auto here = [&](const char* what) {
        fail(settings, std::string(what) + ": heap of " + std::to_string(heap->bytes) + " bytes, scheme "
                + std::to_string(split.scheme) + ", chunks of " + std::to_string(split.chunkBytes) + ", at the end "
                + std::to_string(split.endBytes) + ", " + std::to_string(heap->startCount) + " starts");
    };
    std::vector<OpenChunk> chunks;
    openChunks(heap, heap->top, 0, chunks);
    const std::vector<u32> sizes = expectedSizes(heap, split);
    if (chunks.size() != sizes.size()) {
        here("not as many chunks as there should be");
    }
    u64 at = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
        if (chunks[i].unit != at || chunks[i].units != sizes[i]) {
            here("a chunk isn't where it should be, or not as large");
        }
        at += sizes[i];
    }
    if (at != heap->units) {
        here("the chunks don't cover the area");
    }
    for (u32 i = 0; i < heap->startCount; ++i) {
        if (heap->starts[i * START_STRIDE] >= heap->units) {
            here("a start offset outside of the area");
        }
    }
}

// The same for BitMalloc's tables; and all is free, as large as it can be.
inline void requireBits(const Settings& settings, const TestHeap& made) {
    const Heap* const heap = made.heap;
    const BitTables& bits = heap->bits;
    uintptr_t at = reinterpret_cast<uintptr_t>(heap + 1);
    const auto table = [&](const void* place, u64 bytes, uintptr_t alignment) {
        const uintptr_t from = reinterpret_cast<uintptr_t>(place);
        require(settings, from >= at && from % alignment == 0, "a table overlaps another, or isn't aligned");
        at = from + bytes;
    };
    table(heap->counters, sizeof(Counters), alignof(Counters));
    table(bits.hopeless, 4 * sizeof(u64), alignof(u64));
    table(bits.frees, detail::FREE_COUNTERS * sizeof(Frees), alignof(Frees));
    table(bits.slots, bits.slotCount * sizeof(Slot), alignof(Slot));
    const u64 words[] = {bits.words[1] * 64ull, bits.words[1], bits.words[2]};
    for (u32 level = 0; level < 3; ++level) {
        // A word more, for slots that have none.
        table(bits.free[level], 8 * (words[level] + 1), 8);
        table(bits.hints[level], 8 * (words[level] / 64 + 1), 8);
        if (level < 2) {
            table(bits.own[level], 8 * (words[level] / 64 + 1), 8);
        }
    }
    table(bits.claims, 8ull * bits.words[2], 8);
    table(bits.ends, 8 * (bits.words[0] + 1ull), 8);
    table(bits.wholes, bits.words[0] + 1ull, 1);
    if ((heap->flags & FLAG_START_BITS) != 0) {
        table(bits.starts, 8ull * bits.words[0], 8);
    }
    if ((heap->flags & FLAG_TRACK) != 0) {
        table(heap->slack, 4ull * heap->units, 4);
    }
    table(heap->area, static_cast<u64>(heap->units) * UNIT_BYTES, 256);
    const uintptr_t end = reinterpret_cast<uintptr_t>(heap) + heap->bytes;
    require(settings, heap->units == bits.words[0] * 64ull && at <= end, "the area leaves the memory");
    const bool all = bits.words[2] * 4096ull >= bits.words[0] / 64 * 64 && bits.words[1] * 64ull >= bits.words[0];
    require(settings, all, "a level ends early");
    Heap more = *heap;
    const u64 tables = placeBits(&more, bits.words[0] + 1) - reinterpret_cast<uintptr_t>(&more);
    require(settings, tables + heap->units * 16ull + 1024 + AREA_ALIGNMENT > heap->bytes, "there is room for more");
    if (heap->bytes < 1 << 27) {
        const FreeBits free(heap);
        require(settings, free.wrong.empty() && free.rows == std::vector<Range>{{0, heap->units}}, "not all is free");
    }
}

// Fresh heaps of many sizes, divided in many ways.
template <class A>
void split(const Settings& settings) {
    const u64 KIB = 1 << 10, MIB = 1 << 20, GIB = 1 << 30;
    for (const u64 bytes : {64 * KIB, 100003ull, MIB, 5 * MIB + 48, 64 * MIB, 3 * GIB, 10 * GIB + 512, 64 * GIB}) {
        for (const u64 chunk : {16ull, 17ull, 1000ull, 4 * KIB, 64 * KIB, MIB, 48 * MIB, GIB, 100 * GIB}) {
            if (bytes / chunk > 1 << 12) {
                continue;
            }
            for (const u32 scheme : {SPLIT_NONE, SPLIT_BINARY_HEAP, SPLIT_UNIFORM}) {
                for (const u64 end : {0ull, 1ull, 64 * KIB, bytes / 3, 2 * bytes}) {
                    const u32 track = end == 1 ? FLAG_TRACK : 0;
                    const u32 multiprocessors = multiprocessorsOf<A>() * (end == 0 ? 44 : 1);
                    const Split way = {scheme, chunk, end};
                    const TestHeap heap(bytes, multiprocessors, 256, flagsOf<A>() | track, way);
                    if (USES_BITS<A>) {
                        requireBits(settings, heap);
                        continue;
                    }
                    requireLayout(settings, heap.heap);
                    requireSplit(settings, heap, way);
                }
            }
        }
    }
}

// What is in use, by first unit.
class Model {
    struct Used {
        u32 end;
        size_t requested;
    };

    const Settings& settings;
    const Heap* const heap;
    std::map<u32, Used> used;

  public:
    u64 misuses = 0;

    Model(const Settings& theSettings, const Heap* theHeap) : settings(theSettings), heap(theHeap) {}

    size_t size() const {
        return used.size();
    }

    void add(u32 unit, u32 end, size_t requested) {
        require(settings, end <= heap->units, "a chunk leaves the area");
        const auto next = used.lower_bound(unit);
        require(settings, next == used.end() || next->first >= end, "a chunk overlaps the next");
        require(settings, next == used.begin() || std::prev(next)->second.end <= unit, "a chunk overlaps another");
        used[unit] = {end, requested};
    }

    bool isUsed(u32 unit) const {
        return used.count(unit) != 0;
    }

    u32 any() const {
        const auto found = used.lower_bound(self.next() % heap->units);
        return found == used.end() ? used.begin()->first : found->first;
    }

    u32 endOf(u32 unit) const {
        return used.at(unit).end;
    }

    void remove(u32 unit) {
        used.erase(unit);
    }

    // The most units that must be found.
    template <class A>
    u32 most() const {
        if (!USES_BITS<A>) {
            return longestRow();
        }
        Promise promise;
        u32 from = 0;
        for (const auto& chunk : used) {
            if (from < chunk.first) {
                promise.add({from, chunk.first}, heap->units);
            }
            from = chunk.second.end;
        }
        if (from < heap->units) {
            promise.add({from, heap->units}, heap->units);
        }
        return promise.largest();
    }

    // Of the free units in a row.
    u32 longestRow() const {
        u32 longest = 0;
        u32 from = 0;
        for (const auto& chunk : used) {
            longest = std::max(longest, chunk.first - from);
            from = chunk.second.end;
        }
        return std::max(longest, heap->units - from);
    }

    void compare(const TestHeap& real) const {
        u64 units = 0;
        double slack = 0;
        for (const auto& chunk : used) {
            const u64 size = chunk.second.end - chunk.first;
            units += size;
            const double bytes = static_cast<double>(size * UNIT_BYTES);
            slack += (bytes - static_cast<double>(chunk.second.requested)) / bytes;
        }
        const u64 row = static_cast<u64>(longestRow()) * UNIT_BYTES;
        const Statistics whole = real.statistics(1);
        for (const u32 segments : {1u, 7u, 1000u}) {
            const Statistics found = real.statistics(segments);
            require(settings, found.capacity() == real.capacity(), "capacity isn't as in the model");
            require(settings, found.usedChunks() == used.size(), "used chunks aren't as in the model");
            require(settings, found.usedBytes() == units * UNIT_BYTES, "used bytes aren't as in the model");
            require(settings, found.freeBytes() + found.usedBytes() == found.capacity(), "free and used aren't all");
            require(settings, found.largestFree() == row, "the largest free row isn't as in the model");
            require(settings, found.misuses() == misuses, "misuses aren't as in the model");
            require(settings, found.freeChunks() == whole.freeChunks(), "free chunks depend on the scan's segments");
            require(settings, found.largestFreeChunk() == whole.largestFreeChunk(), "the largest depends on them");
            require(settings, found.largestFreeChunk() <= row, "a chunk is larger than the largest row");
            if (real.heap->slack != nullptr) {
                require(settings, found.trackedChunks() == used.size(), "tracked chunks aren't as in the model");
                require(settings, std::abs(found.slack() - slack) < 1e-6, "internal fragmentation is another");
            }
        }
        requireLevels(settings, real.heap);
    }
};

// Random operations. A request is refused only if there is no row of free units for it, and nothing that the allocator
// knows stands in the memory that it hands out.
template <class A>
void model(const Settings& settings) {
    for (const u32 fragmentation : {256u, 300u, 512u, 2048u}) {
        const u64 bytes = (1 << 16) + self.next() % (1 << 20);
        const Split way = {self.next() % 3, 16 + self.next() % 4096, self.next() % 2 * (bytes / 4)};
        const u32 track = self.next() % 2 * FLAG_TRACK;
        const TestHeap heap(bytes, multiprocessorsOf<A>(), fragmentation, flagsOf<A>() | track, way);
        heap.closeArea();
        A allocator{heap.heap};
        Model model(settings, heap.heap);
        for (u32 i = 0; i < settings.operations; ++i) {
            // Grows and shrinks by turns.
            const bool grow = (self.next() & 7) < (i / 256 % 2 == 0 ? 6 : 3);
            const u32 unit = model.size() == 0 ? 0 : model.any();
            if (grow || model.size() == 0) {
                const u32 kind = self.next() & 15;
                const u32 row = kind < 2 ? model.most<A>() : 0;
                const size_t size = kind == 0 ? row * 16ull + 1 : kind == 1 ? row * 16ull : randomSize();
                void* const pointer = allocator.malloc(size);
                if (pointer == nullptr) {
                    require(settings, size == 0 || model.most<A>() * 16ull < size, "null, though there is room");
                    continue;
                }
                const u32 first = heap.heap->unitAt(pointer);
                const u32 units = static_cast<u32>((size + 15) / 16);
                const u32 given = static_cast<u32>(allocator.chunkBytes(pointer) / 16);
                require(settings, first != NO_UNIT && given >= units, "a chunk too small");
                require(settings, given == units || given * 256ull < static_cast<u64>(units) * fragmentation,
                        "more of a chunk is wasted than may be");
                model.add(first, first + given, size);
            } else if ((self.next() & 7) == 0) {
                // What is no chunk, or none any more, most of the time.
                const u32 wrong = (self.next() & 1) == 0 ? unit + 1 : self.next() % (2 * heap.heap->units);
                // Without OUTBOARD_CHECKED, BitMalloc knows only what is outside of the heap.
                if (!model.isUsed(wrong) && (!USES_BITS<A> || CHECKED || wrong >= heap.heap->units)) {
                    allocator.free(heap.heap->address(wrong));
                    ++model.misuses;
                }
            } else {
                allocator.free(heap.heap->address(unit));
                model.remove(unit);
            }
            if (i % 100 == 0) {
                model.compare(heap);
            }
        }
        while (model.size() != 0) {
            const u32 unit = model.any();
            allocator.free(heap.heap->address(unit));
            model.remove(unit);
        }
        requireWhole<A>(settings, heap, model.misuses);
    }
}
