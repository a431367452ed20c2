// What a request must find in BitMalloc's free memory, and what must hold of its tables while no call is under way.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "outboard/bit_malloc.cuh"

namespace outboard {

struct Range {
    u32 from;
    u32 to;

    bool operator==(const Range& other) const {
        return from == other.from && to == other.to;
    }
};

// What the largest request is that the design promises to serve of so much free memory, on each level: below 64 units
// within one word, or of a whole one; up to 4096 words in a row within 64 KiB, and, if the request isn't of whole words,
// with the free units before the first of them; above that granules of 64 KiB in a row. All that is less is served too.
struct Promise {
    u32 most[3] = {0, 0, 0};

    bool holds(u32 units) const {
        return largest() >= units && (units > 4096 ? (units + 4095) / 4096 * 4096 <= most[2] : true);
    }

    u32 largest() const {
        return std::max({most[0], most[1], most[2]});
    }

    void add(const Range& row, u32 granulesEnd) {
        const u32 word = (row.from + 63) / 64;
        const u32 wordsEnd = row.to / 64;
        if (word > wordsEnd) {
            raise(0, row.to - row.from);
            return;
        }
        raise(0, word < wordsEnd ? 63 : std::max(word * 64 - row.from, row.to - wordsEnd * 64));
        for (u32 from = word; from < wordsEnd;) {
            const u32 to = std::min(wordsEnd, (from | 63) + 1);
            const u32 tail = from == word && word % 64 != 0 ? word * 64 - row.from : 0;
            raise(1, std::min(4096u, (to - from) * 64 + tail));
            from = to;
        }
        // Over the border of two words: whole granules only, and not into a last one that is no whole granule of level 2.
        const u32 last = std::min(wordsEnd, granulesEnd / 4096 * 64);
        raise(1, word < last ? std::min(4096u, (last - word) * 64) : 0);
        const u32 granule = (row.from + 4095) / 4096 * 4096;
        const u32 end = std::min(granulesEnd, row.to) / 4096 * 4096;
        raise(2, granule < end ? end - granule : 0);
    }

  private:
    void raise(u32 level, u32 units) {
        most[level] = std::max(most[level], units);
    }
};

// What is free by the tables, in rows as long as possible.
struct FreeBits {
    std::vector<Range> rows;
    std::string wrong;  // empty if nothing is

    explicit FreeBits(const Heap* heap) {
        const BitTables& bits = heap->bits;
        const auto add = [&](u32 from, u32 to) {
            if (!rows.empty() && rows.back().to == from) {
                rows.back().to = to;
            } else {
                rows.push_back({from, to});
            }
        };
        for (u32 granule = 0; granule < bits.words[1]; ++granule) {
            const u64 words = bits.free[1][granule];
            const bool whole = granule / 64 < bits.words[2] && (bits.free[2][granule / 64] >> granule % 64 & 1) != 0;
            if (whole) {
                add(granule * 4096, granule * 4096 + 4096);
            }
            for (u32 word = granule * 64; word < granule * 64 + 64; ++word) {
                const u64 units = bits.free[0][word];
                const bool inWords = (words >> word % 64 & 1) != 0;
                if (whole + inWords + (units != 0) > 1) {
                    wrong = "memory is free on two levels";
                }
                if (inWords) {
                    add(word * 64, word * 64 + 64);
                }
                for (u64 left = units; left != 0; left &= left - 1) {
                    const u32 unit = word * 64 + lowestBit(left);
                    add(unit, unit + 1);
                }
                if (units != 0 && word < bits.words[0] && bits.wholes[word] != 0) {
                    wrong = "a word with free units has a number for its ends";
                }
            }
        }
        for (u32 level = 0; level < 3; ++level) {
            for (u32 word = 0; word < bits.words[level]; ++word) {
                if (bits.free[level][word] != 0 && (bits.hints[level][word / 64] >> word % 64 & 1) == 0) {
                    wrong = "a search wouldn't look at a word that has free memory";
                }
            }
        }
    }
};

}  // namespace outboard
