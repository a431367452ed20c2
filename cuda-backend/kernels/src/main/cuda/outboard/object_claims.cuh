// How objects of an ObjectHeap get their places in blocks, and give them back.
//
// What stands where, all of it outside of the blocks:
//
// slots       for each block a word: a bit for each object that it doesn't have. The only thing that says what there is; all
//             else is found by it or says where to look.
// free        a bit for each block that has no type.
// active      of each type: a bit for each of its blocks of which an eighth is free, or more.
// scant       of each type: a bit for each of its blocks with less room, but some.
// allocated   of each type: a bit for each of its blocks.
// types       of each block: its type.
// visits      for each block: a bit for each object that the do-all under way is to visit.
// recent      for each warp's place on a multiprocessor, and each type: the block that it made the last one in, and what was
//             free there. A guess.
//
// make        tries the recent block (the first time: its neighbour's), then an active one near, then takes a free one near,
//             which gets its type and is made known as active and allocated; then the same near the recent block; then any
//             active one, any free one, and at last any scant one. By another order (MakeOrder) no free one is taken while an
//             active one is in sight.
// destroy     sets the object's bit in slots. Who makes the word whole takes it away by one compare-and-swap, after which nobody
//             finds anything in it, and gives it back. Who makes it active, or no longer so, turns its bit over, whoever it is
//             (bitmap.cuh); the same with scant.
//
// Deviation from the paper, where each block with room is active: where objects come and go, most blocks have a slot or two
// free, and warps fight for each. What stays free by this is an eighth at most, and is used when there is nothing else. With
// PAPER's order it is as in the paper.
//
// Where the paper rests on luck, and what is done here instead:
// - A block may be given back and get another type between a look at `active` and the claim of a slot in it. The algorithm as
//   printed doesn't look again. This one compares types after the claim, and repeats; what was claimed of a stranger's block
//   goes back by the same way as a destroyed object's slot, so that such a block is given back, too. A block with a claimed
//   slot doesn't change its type, so what the claimer sees then is so.
// - Who makes a block whole takes it away by a compare-and-swap of its word alone, and may have slept since it saw it whole: it
//   may be another type's by now, with objects. So the type is compared after that, too.
// - The paper's bits of active blocks must be right in the end, so threads wait for each other to set and clear them. Here
//   they are turned over, in any order, and nobody waits.
// - Out of memory the paper's make repeats for ever. Here it ends: when nothing is in sight, or after as many tries as there
//   are blocks, each of which another thread was faster at.
// - An object that is made while a do-all runs isn't visited by it, as in the paper, also where another one was destroyed before
//   (there a new object in its place is visited if its slot was full when the do-all began): destroy takes it off `visits`.
//
// Bounds: make reads each word of the bitmaps once a try; destroy needs some ten accesses. Both end whatever other threads do.
// A make may get nothing though there is room, if a thread is about to turn over what stands above it: the bit of a block, or of
// a word of 64 blocks, or of 64 such words. That is a few operations; it is long only if the thread is stopped there. And it may
// miss a block that becomes free, active or scant between its looks at the three.
//
// Memory order, by the PTX memory model:
// - `slots` is only changed by atomic read-modify-writes. Who destroys executes a fence before the OR; who makes does an
//   acquire AND, and observes that OR directly or through others': what was done with an object happens before the next one
//   in its place is made.
// - A block's type is written before a fence and the OR that first sets its slots. Who claims one of these observes that
//   OR, and so the type.
// - Who takes a whole block away does an acquire compare-and-swap, which observes each OR of slots since, clears its bit in
//   `allocated`, executes a fence, and sets its bit in `free`; who takes it from there does an acquire AND. So that bit is set by
//   the next type after it was cleared.
// - The bits of `active` are turned over relaxed: they say where to look.
#pragma once

#include "bitmap.cuh"
#include "object_layout.cuh"

namespace outboard {

constexpr u32 MOST_OBJECT_TYPES = 16;
constexpr u32 NO_OBJECT = ~0u;
constexpr u32 LAYOUT_OBJECTS = 0x0B7EC7;

// When a make takes a free block.
enum MakeOrder : u32 {
    NEAR_FIRST,    // if no active block is near
    ACTIVE_FIRST,  // if there is no active block, or others were faster at as many as there are blocks
    PAPER          // the same; and each block with room is active (Springer 2019, algorithm 1)
};

// Of a warp's place and a type. A sector of the L2 cache has two. In words of 32 bits, as they are read.
struct alignas(16) RecentBlock {
    u32 block;
    u32 isKnown;  // 1 after the first make
    u32 lowerSlots;
    u32 upperSlots;
};

// Of a type: how many blocks its list has; and while it is made, how many have been found, and parts of the launch that are done.
enum { LISTED, GATHERED, PARTS_DONE, LISTING_WORDS };

// One type's.
struct ObjectType {
    u64 slots;  // of an empty block
    u32 count;  // of them
    u32 few;    // so many free ones are enough for a block to be active; fewer, and it is scant
    detail::Bitmap<3> active;
    detail::Bitmap<3> scant;
    u64* allocated;
    u32* list;     // blocks of the last do-all
    u64* listed;   // LISTED and so on
};

// The control block: where everything is. It never changes while the heap lives. Kernels take it by value, as a
// `const __grid_constant__ Objects` parameter, or as a pointer to it in the heap.
struct alignas(32) Objects {
    u32 layout;
    u32 typeCount;
    u64 number;  // of the types' fields (object_layout.cuh)
    u32 blocks;
    u32 blockBytes;
    u32 tops;  // words at the top of each bitmap
    u32 multiprocessors;
    u32 places;  // of warps
    MakeOrder order;
    unsigned char* data;
    u64* slots;
    u64* visits;
    unsigned char* types;
    RecentBlock* recent;
    u64 placeStep;  // blocks from one to the next, in 2^-32
    u64* misuses;
    detail::Bitmap<3> free;
    ObjectType type[MOST_OBJECT_TYPES];
};

static_assert(sizeof(Objects) == 1536, "the host copies the control block");
static_assert(offsetof(Objects, blocks) == 16 && offsetof(Objects, data) == 40 && offsetof(Objects, types) == 64,
              "the host reads these");

namespace detail {

// Warps of a multiprocessor with a place of their own: as many as there can be.
constexpr u32 PLACES_PER_MULTIPROCESSOR = 64;

// What others have changed meanwhile is tried again so often. A block that each time became another type's before it was taken
// away stays with the last one then, though it may have no object. No other type gets it, but it isn't lost: it is whole, so
// active; its type's next object may be made there, and the end of the last one there gives it back (objects.cpp: stranded).
constexpr u32 CHANGES = 3;

// Of blocks with room that others were faster at: after so many a free one is taken (NEAR_FIRST), and the next one is looked for
// anywhere.
constexpr u32 FRUITLESS = 3;

// So often a warp looks for what its neighbour makes first: some times as long as that takes.
constexpr u32 LOOKS = 16;

// So many words near with active blocks are enough for the warps there; with fewer they would get into each other's way, and
// take free blocks.
constexpr u32 CROWD = 16;

// Tries, beside one for each block.
constexpr u32 TRIES_MORE = 8;

// Slots of one block that the caller has claimed, how many, and those that were free besides.
struct Claim {
    u32 block;
    u32 count;
    u64 slots;
    u64 rest;
};

OUTBOARD_DEVICE Claim noClaim() {
    return {NO_OBJECT, 0, 0, 0};
}

// Whether all set bits stand side by side.
OUTBOARD_DEVICE bool isRow(u64 word) {
    const u64 lowest = word & (0 - word);
    return ((word + lowest) & word) == 0;
}

// The set bit with so many before it.
OUTBOARD_DEVICE u32 nthBit(u64 word, u32 n) {
    if (isRow(word)) {
        return lowestBit(word) + n;
    }
    u32 at = 0;
    for (u32 half = RADIX / 2; half != 0; half /= 2) {
        const u32 below = countOf(word >> at & lowBits(half));
        const bool isAbove = n >= below;
        n -= isAbove ? below : 0;
        at += isAbove ? half : 0;
    }
    return at;
}

// The lowest set bits, so many if there are as many.
OUTBOARD_DEVICE u64 lowest(u64 word, u32 count) {
    return countOf(word) <= count ? word : word & lowBits(nthBit(word, count));
}

OUTBOARD_DEVICE GlobalAtomic<u64> slotsOf(const Objects* objects, u32 block) {
    return GlobalAtomic<u64>(objects->slots[block]);
}

OUTBOARD_DEVICE u32 typeOf(const Objects* objects, u32 block) {
    return GlobalAtomic<unsigned char>(objects->types[block]).load();
}

OUTBOARD_DEVICE bool isActive(const ObjectType& type, u32 slots) {
    return slots >= type.few;
}

OUTBOARD_DEVICE bool isScant(const ObjectType& type, u32 slots) {
    return slots - 1 < type.few - 1;
}

// What a block's bits stood beside before they were turned over; more than one bit where they weren't.
struct Shown {
    u64 active;
    u64 scant;
};

// Turns a block's bits over, to be called by who has changed the number of its slots; then tell(), as soon as the answers are
// needed. Who has changed it there and back may do so for both, or neither.
OUTBOARD_DEVICE Shown turn(const ObjectType& type, u32 block, u32 before, u32 after) {
    Shown shown = {ALL, ALL};
    if (isActive(type, before) != isActive(type, after)) {
        shown.active = type.active.turn(0, block);
    }
    if (isScant(type, before) != isScant(type, after)) {
        shown.scant = type.scant.turn(0, block);
    }
    return shown;
}

OUTBOARD_DEVICE void tell(const ObjectType& type, u32 block, const Shown& shown) {
    type.active.tell(shown.active, 0, block);
    type.scant.tell(shown.scant, 0, block);
}

OUTBOARD_DEVICE void show(const ObjectType& type, u32 block, u32 before, u32 after) {
    tell(type, block, turn(type, block, before, after));
}

// Gives back slots of a block, which the caller owns, after a fence.
OUTBOARD_DEVICE void release(const Objects* objects, u32 type, u32 block, u64 slots) {
    for (u32 changes = CHANGES; true; --changes) {
        const ObjectType& mine = objects->type[type];
        const u64 before = slotsOf(objects, block).fetchOr(slots);
        if ((before & slots) != 0) {
            GlobalAtomic<u64>(*objects->misuses).increment();  // destroyed twice, as far as this can be told
        }
        show(mine, block, countOf(before), countOf(before | slots));
        if (changes == 0 || (before | slots) != mine.slots
            || slotsOf(objects, block).compareAndSwap(mine.slots, 0) != mine.slots) {
            return;
        }
        // Since it was seen to be whole, another may have given it back, and it may be of a type now of which just these slots
        // are free: then they are the caller's, so the type stays, and they go back.
        const u32 actual = typeOf(objects, block);
        show(objects->type[actual], block, mine.count, 0);
        if (actual == type) {
            GlobalAtomic<u64>(mine.allocated[block >> RADIX_LOG2]).clearBits(bit64(block));
            releaseFence();
            objects->free.set(block);
            return;
        }
        slots = mine.slots;
        type = actual;
        releaseFence();
    }
}

// The same of slots of a block that turned out not to be of the caller's type, after what was shown as if it were.
OUTBOARD_SELDOM inline void releaseStranger(const Objects* objects, u32 type, u32 actual, u32 block, u64 slots, u64 left) {
    show(objects->type[type], block, countOf(left), countOf(left | slots));
    show(objects->type[actual], block, countOf(left | slots), countOf(left));
    releaseFence();
    release(objects, actual, block, slots);
}

OUTBOARD_DEVICE u32 warpOfPlaces() {
    return warpOfMultiprocessor() & (PLACES_PER_MULTIPROCESSOR - 1);
}

// The place of a warp of the caller's multiprocessor among all that look for blocks.
OUTBOARD_DEVICE u32 placeNumber(const Objects* objects, u32 warp) {
    const u32 number = warp * objects->multiprocessors + multiprocessor();
    return number < objects->places ? number : number % objects->places;
}

OUTBOARD_DEVICE RecentBlock* recentBlock(const Objects* objects, u32 type, u32 number) {
    return objects->recent + number * objects->typeCount + type;
}

// Claims up to so many slots of a block in which `seen` were free, if it is of that type.
OUTBOARD_DEVICE Claim claimSlots(const Objects* objects, u32 type, u32 block, u32 count, u64 seen) {
    for (u32 i = 0; i < CHANGES && seen != 0; ++i) {
        const u64 wanted = lowest(seen, count);
        const u64 before = slotsOf(objects, block).fetchAndAcquire(~wanted);
        const u64 got = before & wanted;
        seen = before & ~wanted;
        if (got == 0) {
            continue;
        }
        // Before it is known whether it is of this type: it mostly is.
        const u32 left = countOf(seen);
        const u32 there = countOf(before);
        const Shown shown = turn(objects->type[type], block, there, left);
        const u32 actual = typeOf(objects, block);
        tell(objects->type[type], block, shown);
        if (actual == type) {
            return {block, there - left, got, seen};
        }
        releaseStranger(objects, type, actual, block, got, seen);
        break;
    }
    return noClaim();
}

// Slots of a free block, if nobody else takes it: it gets the type.
OUTBOARD_DEVICE Claim claimFree(const Objects* objects, u32 type, u32 block, u32 count) {
    if (!objects->free.take(block)) {
        return noClaim();
    }
    const ObjectType& mine = objects->type[type];
    const u32 claimed = count < mine.count ? count : mine.count;
    const u64 slots = lowBits(claimed);
    const u64 rest = mine.slots & ~slots;
    GlobalAtomic<unsigned char>(objects->types[block]).store(static_cast<unsigned char>(type));
    GlobalAtomic<u64>(mine.allocated[block >> RADIX_LOG2]).setBits(bit64(block));
    if (rest != 0) {
        // Before it is so: the fence waits for the answer, too.
        const Shown shown = turn(mine, block, 0, mine.count - claimed);
        releaseFence();
        slotsOf(objects, block).setBits(rest);
        tell(mine, block, shown);
    }
    return {block, claimed, slots, rest};
}

// Slots of the neighbour's block, for a warp that has made none of this type yet. Half a block is enough for a warp, and half-full
// blocks take twice the memory, and a visit to their objects twice as long. So of two warps, which mostly begin together, the
// second one waits for what the first one leaves; not for long, since the first one may never make an object.
OUTBOARD_SELDOM inline Claim claimBeside(const Objects* objects, u32 type, u32 count) {
    const u32 warp = warpOfPlaces();
    if (warp % 2 == 0) {
        return noClaim();
    }
    const RecentBlock* neighbour = recentBlock(objects, type, placeNumber(objects, warp ^ 1));
    OUTBOARD_ROLLED
    for (u32 looks = LOOKS; looks != 0; --looks) {
        const FourWords four = loadFour(&neighbour->block);
        if (four.b != 0) {
            return claimSlots(objects, type, four.a, count, static_cast<u64>(four.d) << 32 | four.c);
        }
    }
    return noClaim();
}

// Slots of any block: near a place, or if there are none, anywhere. By one thread.
OUTBOARD_SELDOM inline Claim claimAnywhere(const Objects* objects, u32 type, u32 count, u32 place) {
    const ObjectType& mine = objects->type[type];
    const bool isNearFirst = objects->order == NEAR_FIRST;
    bool isNear = isNearFirst;
    for (u32 tries = 0; tries < objects->blocks + TRIES_MORE; ++tries) {
        const bool isTurn = isNearFirst ? tries % (FRUITLESS + 1) == FRUITLESS : tries >= objects->blocks;
        u32 room = NO_BIT;
        u32 fresh = NO_BIT;
        if (isNear) {
            const auto active = mine.active.look(place);
            const auto free = objects->free.look(place);
            const bool isFew = active.own == 0 && countOf(active.above) < CROWD;
            fresh = isTurn || isFew ? objects->free.near(free, place) : NO_BIT;
            room = fresh == NO_BIT ? mine.active.near(active, place) : NO_BIT;
            fresh = fresh == NO_BIT && room == NO_BIT ? objects->free.near(free, place) : fresh;
        } else {
            fresh = isTurn ? objects->free.find(place, objects->tops) : NO_BIT;
            room = fresh == NO_BIT ? mine.active.find(place, objects->tops) : NO_BIT;
            fresh = fresh == NO_BIT && room == NO_BIT && !isTurn ? objects->free.find(place, objects->tops) : fresh;
            room = room == NO_BIT && fresh == NO_BIT ? mine.scant.find(place, objects->tops) : room;
        }
        Claim claim = noClaim();
        if (fresh != NO_BIT) {
            claim = claimFree(objects, type, fresh, count);
        } else if (room != NO_BIT) {
            claim = claimSlots(objects, type, room, count, slotsOf(objects, room).load());
        } else if (isNear) {
            isNear = false;
            continue;
        } else {
            break;
        }
        if (claim.slots != 0) {
            return claim;
        }
        const u32 next = (fresh != NO_BIT ? fresh : room) + 1;
        place = tries >= FRUITLESS ? scaled(scatter(), objects->blocks) : next < objects->blocks ? next : 0;
    }
    return noClaim();
}

// An object: its block and its place there; NO_OBJECT if there is no room. One claim serves the threads of a warp that come
// together.
OUTBOARD_DEVICE u32 makeObject(const Objects* objects, u32 type) {
    const Group group(objects->misuses);
    const u32 rank = group.rank();
    RecentBlock* recent = nullptr;
    u32 place = 0;
    Claim claim = noClaim();
    if (rank == 0) {
        const u32 number = placeNumber(objects, warpOfPlaces());
        recent = recentBlock(objects, type, number);
        place = static_cast<u32>(number * objects->placeStep >> 32);
        const u32 first = place & ~(RADIX - 1);
        const FourWords four = loadFour(&recent->block);
        const u64 active = objects->type[type].active.word(0, place >> RADIX_LOG2).load();
        const u64 free = objects->free.word(0, place >> RADIX_LOG2).load();
        if (four.b == 0) {
            claim = claimBeside(objects, type, group.size());
        }
        u32 block = four.a;
        u64 seen = static_cast<u64>(four.d) << 32 | four.c;
        // The recent block may be full, or gone.
        OUTBOARD_ROLLED
        for (u32 i = 0; i < 2 && claim.slots == 0; ++i) {
            if (seen == 0 && active != 0) {
                block = first + nextBit(active, place);
                seen = slotsOf(objects, block).load();
            }
            claim = claimSlots(objects, type, block, group.size(), seen);
            seen = 0;
        }
        if (claim.slots == 0 && free != 0 && objects->order == NEAR_FIRST) {
            claim = claimFree(objects, type, first + nextBit(free, place), group.size());
        }
        // Where there was room the last time: what is near the warp's place may be full for long.
        place = four.b != 0 ? four.a : place;
    }
    u32 object = NO_OBJECT;
    for (u32 made = 0; made < group.size();) {
        if (rank == 0 && claim.slots == 0) {
            claim = claimAnywhere(objects, type, group.size() - made, place);
        }
        const u32 block = group.fromFirst(claim.block);
        const u64 slots = fromFirst(group, claim.slots);
        if (slots == 0) {
            break;
        }
        const u32 count = group.fromFirst(claim.count);
        if (rank >= made && rank - made < count) {
            object = block << SLOT_LOG2 | nthBit(slots, rank - made);
        }
        made += count;
        claim.slots = 0;
    }
    if (rank == 0) {
        // Others that share the place may do so at once, and what is read be of both: any block of the heap is a guess, none isn't.
        storeFour(&recent->block,
                  {claim.block != NO_OBJECT ? claim.block : place, 1, static_cast<u32>(claim.rest), static_cast<u32>(claim.rest >> 32)});
    }
    // One thread has claimed: by this, what others did with it before happens before what each does now.
    group.sync();
    return object;
}

OUTBOARD_DEVICE void destroyObject(const Objects* objects, u32 type, u32 object) {
    const Group group(objects->misuses);
    const u32 block = object >> SLOT_LOG2;
    const u64 slot = bit64(object);
    // One operation for all objects of a block. By the barrier, what each thread did with its own happens before it.
    group.sync();
    for (u32 left = group.lanes(); left != 0;) {
        const bool same = group.fromLane(block, lowestBit(left)) == block;
        const u32 lanes = group.lanesWhere(same);
        const u32 lower = group.unionOf(same ? static_cast<u32>(slot) : 0);
        const u64 slots = static_cast<u64>(group.unionOf(same ? static_cast<u32>(slot >> 32) : 0)) << 32 | lower;
        if (group.lane() == lowestBit(left)) {
            GlobalAtomic<u64>(objects->visits[block]).clearBits(slots);
            releaseFence();
            release(objects, type, block, slots);
        }
        left &= ~lanes;
    }
    // Whoever returns knows that it is done, by another thread or not.
    group.sync();
}

}  // namespace detail

}  // namespace outboard
