// What the tests of BitMalloc on fibers know of a heap without looking into its tables: the owner of every unit, and so
// what is free.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "outboard/heap_scan.cuh"

#include "bit_promise.h"

namespace outboard {

struct Block {
    u32 unit;
    u32 units;  // 0: null
    u32 slack;  // bytes beyond the request
};

// What is in use, by first unit.
class Oracle {
    const Heap* const heap;
    std::map<u32, Block> used;

  public:
    u64 misuses = 0;

    explicit Oracle(const Heap* of) : heap(of) {}

    size_t blocks() const {
        return used.size();
    }

    bool isUsed(u32 unit) const {
        return used.count(unit) != 0;
    }

    const Block& first() const {
        return used.begin()->second;
    }

    // Empty, or what is wrong with this block.
    std::string add(const Block& block) {
        if (block.unit >= heap->units || block.units > heap->units - block.unit) {
            return "a block outside the heap";
        }
        const auto next = used.lower_bound(block.unit);
        const bool overNext = next != used.end() && next->first < block.unit + block.units;
        const bool overBefore = next != used.begin() && std::prev(next)->second.unit + std::prev(next)->second.units > block.unit;
        if (overNext || overBefore) {
            return "two blocks overlap: the second one has units " + std::to_string(block.unit) + " to "
                    + std::to_string(block.unit + block.units - 1);
        }
        used[block.unit] = block;
        return "";
    }

    void remove(u32 unit) {
        used.erase(unit);
    }

    // The free units, in rows as long as possible.
    std::vector<Range> freeRows() const {
        std::vector<Range> rows;
        u32 from = 0;
        for (const auto& block : used) {
            if (from < block.first) {
                rows.push_back({from, block.first});
            }
            from = block.first + block.second.units;
        }
        if (from < heap->units) {
            rows.push_back({from, heap->units});
        }
        return rows;
    }

    Promise promise() const {
        Promise promise;
        for (const Range& row : freeRows()) {
            promise.add(row, heap->units / 4096 * 4096);
        }
        return promise;
    }

    // What is wrong with a scan's statistics by so many segments.
    std::string compareStatistics(u32 count) const {
        std::vector<Segment> segments(count);
        for (u32 i = 0; i < count; ++i) {
            scanSegment(heap, segments.data(), i, count);
        }
        u64 found[STATISTICS];
        summarise(heap, segments.data(), count, found);
        u64 units = 0;
        u32 row = 0;
        double slack = 0;
        for (const auto& block : used) {
            units += block.second.units;
            slack += block.second.slack / (16.0 * block.second.units);
        }
        for (const Range& range : freeRows()) {
            row = std::max(row, range.to - range.from);
        }
        double foundSlack;
        std::memcpy(&foundSlack, &found[8], sizeof(foundSlack));
        const bool tracked = heap->slack != nullptr;
        const char* const wrong = found[0] != heap->units * 16ull ? "the blocks don't add up to the heap"
                : found[1] != used.size()                         ? "used blocks"
                : found[2] != units * 16                          ? "used bytes"
                : found[4] != (heap->units - units) * 16          ? "free bytes"
                : found[5] != row * 16ull                         ? "the longest free row"
                : found[6] != misuses                             ? "misuses"
                : found[7] != (tracked ? used.size() : 0)         ? "tracked blocks"
                : tracked && std::abs(foundSlack - slack) > 1e-6  ? "internal fragmentation"
                : found[9] > found[5]                             ? "the largest free block"
                                                                  : nullptr;
        return wrong == nullptr ? "" : "statistics by " + std::to_string(count) + " segments: " + wrong;
    }

    // What is wrong with the tables.
    std::string compareTables() const {
        const FreeBits bits(heap);
        const bool same = bits.rows == freeRows();
        return !bits.wrong.empty() ? bits.wrong : same ? "" : "what is free isn't what is free in the tables";
    }
};

}  // namespace outboard
