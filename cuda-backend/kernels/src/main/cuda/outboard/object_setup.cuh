// Making an ObjectHeap, and what kernels do between those of its users: the list of a type's blocks before a do-all, and
// statistics.
#pragma once

#include "heap_setup.cuh"
#include "object_heap.cuh"

namespace outboard {

// The types of a heap, as the host says it: object_layout.cuh.
struct ObjectPlan {
    u64 number;
    u32 typeCount;
    u32 blockBytes;
    u32 slots[MOST_OBJECT_TYPES];  // of a block of each type
    MakeOrder order = NEAR_FIRST;
};

// As many as objects' numbers can tell apart, but for that of none.
constexpr u32 MOST_BLOCKS = (1u << 26) - 1;

namespace detail {

OUTBOARD_DEVICE Bitmap<3> placeBitmap(Dealer& dealer, u32 blocks) {
    Bitmap<3> map{};
    u32 bits = blocks;
    for (u32 i = 0; i < 3; ++i) {
        bits = (bits + RADIX - 1) >> RADIX_LOG2;
        map.level[i] = dealer.table<u64>(i == 0 ? bits : bits * APART);
    }
    return map;
}

// Places the tables for so many blocks; where the blocks end is returned. A make looks at a warp's place and at a word of each
// bitmap before it knows of anything, so these are there also without a block.
OUTBOARD_DEVICE u64 placeObjects(Objects* objects, u32 blocks) {
    const u32 words = (blocks + RADIX - 1) >> RADIX_LOG2;
    const u32 least = blocks != 0 ? blocks : 1;
    Dealer dealer{reinterpret_cast<unsigned char*>(objects + 1)};
    objects->blocks = blocks;
    objects->tops = (words + RADIX * RADIX - 1) >> (2 * RADIX_LOG2);
    const u32 all = objects->multiprocessors * PLACES_PER_MULTIPROCESSOR;
    objects->places = all < least ? all : least;
    objects->placeStep = (static_cast<u64>(blocks) << 32) / objects->places;
    objects->misuses = dealer.table<u64>(1);
    objects->slots = dealer.table<u64>(blocks);
    objects->visits = dealer.table<u64>(blocks);
    objects->types = dealer.table<unsigned char>(blocks);
    objects->recent = dealer.table<RecentBlock>(static_cast<u64>(objects->places) * objects->typeCount);
    for (u32 i = 0; i < objects->typeCount; ++i) {
        ObjectType& type = objects->type[i];
        type.active = placeBitmap(dealer, least);
        type.scant = placeBitmap(dealer, least);
        type.allocated = dealer.table<u64>(words);
        type.list = dealer.table<u32>(blocks);
        type.listed = dealer.table<u64>(LISTING_WORDS);
    }
    // The last one: all before it begins with zeros.
    objects->free = placeBitmap(dealer, least);
    const u64 end = reinterpret_cast<u64>(dealer.next);
    objects->data = reinterpret_cast<unsigned char*>((end + BLOCK_ALIGNMENT - 1) & ~static_cast<u64>(BLOCK_ALIGNMENT - 1));
    return reinterpret_cast<u64>(objects->data) + static_cast<u64>(blocks) * objects->blockBytes;
}

}  // namespace detail

// Writes the control block at the begin of the memory. One thread calls it. If there is no room for a block, the heap has tables
// and no blocks, and nobody gets an object. Returns false if there is no room for the tables: then it is no heap.
[[nodiscard]] OUTBOARD_DEVICE bool formatObjects(Objects* objects, u64 bytes, u32 multiprocessors, const ObjectPlan& plan) {
    if (bytes < sizeof(Objects)) {
        return false;
    }
    *objects = Objects{};
    objects->typeCount = plan.typeCount;
    objects->number = plan.number;
    objects->blockBytes = plan.blockBytes;
    objects->multiprocessors = multiprocessors;
    objects->order = plan.order;
    for (u32 i = 0; i < plan.typeCount; ++i) {
        objects->type[i].slots = detail::lowBits(plan.slots[i]);
        objects->type[i].count = plan.slots[i];
        objects->type[i].few = plan.slots[i] < 16 || plan.order == PAPER ? 1 : plan.slots[i] / 8;
    }
    const u64 end = reinterpret_cast<u64>(objects) + bytes;
    if (detail::placeObjects(objects, 0) > end) {
        return false;
    }
    const u64 most = bytes / plan.blockBytes;
    u32 blocks = 0;
    for (u32 more = MOST_BLOCKS / 2 + 1; more != 0; more /= 2) {
        blocks += blocks + more <= most && detail::placeObjects(objects, blocks + more) <= end ? more : 0;
    }
    detail::placeObjects(objects, blocks);
    objects->layout = LAYOUT_OBJECTS;
    return true;
}

// Makes all blocks free. By all threads of a launch after that. Without a block, too: a word of each level is looked at.
OUTBOARD_DEVICE void clearObjects(const Objects* objects, u64 thread, u64 threads) {
    u64* const first = objects->misuses;
    const u64 length = static_cast<u64>(objects->free.level[0] - first);
    for (u64 i = thread; i < length; i += threads) {
        first[i] = 0;
    }
    u32 bits = objects->blocks;
    for (u32 level = 0; level < 3; ++level) {
        const u32 words = (bits + detail::RADIX - 1) >> detail::RADIX_LOG2;
        for (u64 i = thread; i < words || i == 0; i += threads) {
            objects->free.level[level][level == 0 ? i : i * detail::APART] =
                    detail::lowBits(bits - (static_cast<u32>(i) << detail::RADIX_LOG2));
        }
        bits = words;
    }
}

// Lists a type's blocks, and notes which objects a do-all is to visit: compaction by prefix sums (Springer 2019, section 2.3). By
// all threads of a launch, then endListing; each has eight blocks at a time, whose words it reads without waiting for one after the
// other, and one addition serves those that come together. No other kernel may use the heap meanwhile.
OUTBOARD_DEVICE void listObjects(const Objects* objects, u32 type, u64 thread, u64 threads) {
    constexpr u32 SHARE = 8;
    constexpr u32 SHARES = detail::RADIX / SHARE;
    const ObjectType& mine = objects->type[type];
    const u64 shares = (static_cast<u64>(objects->blocks) + SHARE - 1) / SHARE;
    for (u64 from = thread; from < shares; from += threads) {
        const u32 blocks = static_cast<u32>(mine.allocated[from / SHARES] >> (from % SHARES * SHARE)) & ((1u << SHARE) - 1);
        // Of each type others, since lanes may come to the next one before the rest.
        const Group group(mine.listed);
        const u32 count = countOf(static_cast<u64>(blocks));
        const u32 before = group.sumOfLowerRanks(count);
        const u32 total = group.fromLast(before + count);
        u32 at = 0;
        if (group.rank() == 0 && total != 0) {
            at = static_cast<u32>(Atomic<u64>(mine.listed[GATHERED]).fetch_add(total, RELAXED));
        }
        at = group.fromFirst(at) + before;
        const u32 first = static_cast<u32>(from) * SHARE;
        for (u32 i = 0; i < SHARE; ++i) {
            if ((blocks >> i & 1) != 0) {
                mine.list[at++] = first + i;
                objects->visits[first + i] = mine.slots & ~objects->slots[first + i];
            }
        }
    }
}

// By one thread of each of so many parts of the launch, when all threads of its part have listed: whoever comes last makes known
// how many blocks there are, and leaves zeroes for the next time.
OUTBOARD_DEVICE void endListing(const Objects* objects, u32 type, u32 parts) {
    u64* const listed = objects->type[type].listed;
    if (Atomic<u64>(listed[PARTS_DONE]).fetch_add(1, ACQ_REL) == parts - 1) {
        listed[LISTED] = listed[GATHERED];
        listed[GATHERED] = 0;
        listed[PARTS_DONE] = 0;
    }
}

// Adds up, for each type, its blocks and its objects; at the end the free blocks and the misuses. Into zeros, by all threads of a
// launch.
OUTBOARD_DEVICE void countObjects(const Objects* objects, u64* counts, u64 thread, u64 threads) {
    const u32 words = (objects->blocks + detail::RADIX - 1) >> detail::RADIX_LOG2;
    for (u64 word = thread; word < words; word += threads) {
        for (u32 type = 0; type < objects->typeCount; ++type) {
            const ObjectType& mine = objects->type[type];
            u64 alive = 0;
            for (u64 left = mine.allocated[word]; left != 0; left &= left - 1) {
                alive += countOf(mine.slots & ~objects->slots[(word << detail::RADIX_LOG2) + lowestBit(left)]);
            }
            Atomic<u64>(counts[2 * type]).fetch_add(countOf(mine.allocated[word]), RELAXED);
            Atomic<u64>(counts[2 * type + 1]).fetch_add(alive, RELAXED);
        }
        Atomic<u64>(counts[2 * MOST_OBJECT_TYPES]).fetch_add(countOf(objects->free.level[0][word]), RELAXED);
    }
    if (thread == 0) {
        Atomic<u64>(counts[2 * MOST_OBJECT_TYPES + 1]).fetch_add(*objects->misuses, RELAXED);
    }
}

}  // namespace outboard
