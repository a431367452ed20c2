// ObjectHeap on fibers: for each seed a heap, a few threads on it, and another order of their accesses.
//
//   objects THREADS SCENARIO FIRST_SEED LAST_SEED
//   objects layout NUMBER BLOCK_BYTES SLOTS...     whether that is what the types' layout is
//
// THREADS: alone, each of another warp, or warps: then four fibers are a warp, and those of them that come at the same time
// are served together.
//
//   mix      Objects of all types are made and destroyed, in a heap that is full now and then.
//   turns    The same with few objects, so that blocks are given back and get another type again and again.
//   do-all   Objects are visited while they are made and destroyed.
//   misuse   Objects are destroyed twice.
//   roomy    There are more free blocks than threads: none gets nothing.
//   lanes    The same as mix and turns, but each lane of a warp has types of its own, and the same type in two branches.
//   aba      A thread stops before it takes a whole block away, which becomes another type's meanwhile, with as many slots free.
//   contested  There is room in active blocks that are far away alone, and enough for all.
//   stranded   Others change the type of a block that a thread takes away, each time before it does.
//   crowded    All of more than 4096 blocks are full but for a few, on both sides of words' borders, which several threads use.
//   order    There is room in active blocks that are far away, and free blocks are near: the order decides which are taken.
//   tops     A heap of a third of a million blocks is filled and emptied, and then crowded. No trial of many: one is enough.
//
// Seeds have the three orders in turns, by which a make takes free blocks (MakeOrder).
//
// Each with weak- before it, too: loads may read what has been overwritten, where nothing that was acquired says otherwise.
//
// In all of them no two objects have the same place, each keeps what was written, no block has objects of two types, no call
// needs more accesses than it may, all that is free can be had when nobody else is there, and when all is destroyed each block
// is free.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "object_trials.h"

using namespace outboard;

namespace {

template <u32 BYTES>
using Bytes = std::array<unsigned char, BYTES>;

struct Cell { OUTBOARD_FIELDS((u64, mark)) };
struct Fish { OUTBOARD_FIELDS((u64, mark)(float, x)(float, y)(unsigned char, tail)) };
struct Shark { OUTBOARD_FIELDS((double, weight)(u64, mark)(u32, a)(u32, b)(u32, c)(u64, d)(u64, e)(u64, f)) };
// As many in a block as cells; and two and one, so that blocks are whole and full in turns.
struct Egg { OUTBOARD_FIELDS((u64, mark)) };
struct Pod { OUTBOARD_FIELDS((u64, mark)(Bytes<200>, rest)) };
struct Whale { OUTBOARD_FIELDS((u64, mark)(Bytes<300>, rest)) };
using Sea = ObjectHeap<Cell, Fish, Shark, Egg, Pod, Whale>;

constexpr u32 TYPES = 6;
constexpr u64 KIB = 1 << 10;
constexpr u64 MIB = 1 << 20;
constexpr u64 MOST_BYTES = 192 * MIB;
constexpr u64 ONE_BLOCK = 6 * KIB;
constexpr u32 SLOTS[TYPES] = {Sea::SLOTS<Cell>, Sea::SLOTS<Fish>, Sea::SLOTS<Shark>,
                             Sea::SLOTS<Egg>, Sea::SLOTS<Pod>, Sea::SLOTS<Whale>};

static_assert(SLOTS[0] == 64 && SLOTS[1] < 64 && SLOTS[2] < SLOTS[1], "blocks are as large as 64 of the smallest objects");
static_assert(SLOTS[3] == SLOTS[0] && SLOTS[4] == 2 && SLOTS[5] == 1, "as said");
static_assert(Sea::OFFSET<Fish, 3> >= Sea::OFFSET<Fish, 2> + 4 * SLOTS[1], "arrays lie apart");

Objects* makeHeap(u64 bytes) {
    static unsigned char* const mapping = reserved(MOST_BYTES);
    const MakeOrder order = static_cast<MakeOrder>(seed % 3);
    Objects* const objects = makeObjects(mapping, bytes, 1 + chance.below(3), planOf<Cell, Fish, Shark, Egg, Pod, Whale>(order));
    require(objects->blocks != 0, "no room for a block");
    for (u32 type = 0; type < TYPES; ++type) {
        require(objects->type[type].few == (order == PAPER || SLOTS[type] < 16 ? 1 : SLOTS[type] / 8), "room that makes a block active");
    }
    return objects;
}

struct Thing {
    u32 type;
    u32 id;
    u64 mark;
};

class Trial {
    Objects* const objects;
    const Sea sea{objects};
    const bool inWarps;
    const bool isMixed;  // lanes of a warp have types of their own
    const u32 threads = inWarps ? 4 + chance.below(9) : 2 + chance.below(5);
    std::map<u32, Thing> alive;            // by id
    std::map<u32, std::pair<u32, u32>> blocks;  // with objects: their type and number
    std::map<const u64*, u64> written;          // the last mark in each place
    std::set<u32> leaving;                      // ids of those that are being destroyed
    std::vector<std::vector<Thing>> kept{threads};
    u64 marks = 0;
    u64 misuses = 0;
    const u32 typesUsed;
    const u32 firstType = chance.below(TYPES);

    u64& markOf(const Thing& thing) const {
        return thing.type == 0 ? sea.at<Cell>(thing.id).mark()
                : thing.type == 1 ? sea.at<Fish>(thing.id).mark()
                : thing.type == 2 ? sea.at<Shark>(thing.id).mark()
                : thing.type == 3 ? sea.at<Egg>(thing.id).mark()
                : thing.type == 4 ? sea.at<Pod>(thing.id).mark()
                                  : sea.at<Whale>(thing.id).mark();
    }

    void requireFew(u64 before, const char* call) const {
        // Each try: found from above, its slots, claim, type, bits turned over; a block of another's given back.
        const u64 most = lanesOfWarp * (400 + 40ull * objects->blocks);
        const u64 accesses = fibers.accesses() - before;
        if (accesses > most) {
            fail(std::string(call) + " needs " + std::to_string(accesses) + " accesses, and not " + std::to_string(most));
        }
    }

    void note(const Thing& thing) {
        const u32 block = thing.id / 64;
        require(block < objects->blocks && thing.id % 64 < SLOTS[thing.type], "an object has no place");
        require(alive.emplace(thing.id, thing).second, "two objects have the same place");
        auto& of = blocks.emplace(block, std::make_pair(thing.type, 0u)).first->second;
        require(of.first == thing.type, "a block has objects of two types");
        ++of.second;
    }

    // NO_OBJECT if there is none.
    Thing make(u32 type) {
        const u64 before = fibers.accesses();
        branchTo(type);
        Thing thing = {type, detail::makeObject(objects, type), 0};
        requireFew(before, "make");
        if (thing.id != NO_OBJECT) {
            thing.mark = ++marks;
            note(thing);
            u64& place = markOf(thing);
            const auto last = written.find(&place);
            require(last == written.end() || Atomic<u64>(place).load(RELAXED) == last->second,
                    "what was done with the object before didn't happen before");
            Atomic<u64>(place).store(thing.mark, RELAXED);
            written[&place] = thing.mark;
        }
        return thing;
    }

    void destroy(const Thing& thing) {
        leaving.insert(thing.id);
        require(Atomic<u64>(markOf(thing)).load(RELAXED) == thing.mark, "an object doesn't keep what was written");
        alive.erase(thing.id);
        if (--blocks[thing.id / 64].second == 0) {
            blocks.erase(thing.id / 64);
        }
        const u64 before = fibers.accesses();
        branchTo(thing.type);
        detail::destroyObject(objects, thing.type, thing.id);
        requireFew(before, "destroy");
        // Also where another thread did it for this one.
        require(fibers.weak || (objects->visits[thing.id / 64] >> thing.id % 64 & 1) == 0, "an object is to be visited after its end");
        leaving.erase(thing.id);
    }

    Thing takeAny(std::vector<Thing>& mine) const {
        const u32 i = chance.below(static_cast<u32>(mine.size()));
        const Thing thing = mine[i];
        mine[i] = mine.back();
        mine.pop_back();
        return thing;
    }

    // Threads of a warp that come together to the same line of a kernel are there for the same type: for another one it is
    // another copy of that line.
    void branchTo(u32 type) const {
        fibers.branchTo(isMixed ? 2 * type + chance.below(2) : type);
    }

    u32 anyType() const {
        return (firstType + (inWarps && !isMixed ? fibers.number() / lanesOfWarp : chance.below(typesUsed))) % TYPES;
    }

    void makeOne(std::vector<Thing>& mine) {
        const Thing thing = make(anyType());
        if (thing.id != NO_OBJECT) {
            mine.push_back(thing);
        }
    }

    void use(std::vector<Thing>& mine, u32 calls, u32 most) {
        for (u32 call = 0; call < calls; ++call) {
            if (!mine.empty() && (mine.size() >= most || chance.below(2) == 0)) {
                destroy(takeAny(mine));
            } else {
                makeOne(mine);
            }
        }
    }

    // Until there is no more.
    std::vector<Thing> makeAll(u32 type) {
        std::vector<Thing> all;
        for (Thing thing = make(type); thing.id != NO_OBJECT; thing = make(type)) {
            all.push_back(thing);
        }
        return all;
    }

    void destroyEach(std::vector<Thing>& things) {
        while (!things.empty()) {
            destroy(things.back());
            things.pop_back();
        }
    }

    // What the tables must say while no call is under way.
    void requireConsistent() const {
        std::vector<u32> count(TYPES);
        for (u32 block = 0; block < objects->blocks; ++block) {
            const auto bit = [block](const u64* words) { return (words[block / 64] >> block % 64 & 1) != 0; };
            const auto used = blocks.find(block);
            require(bit(objects->free.level[0]) == (used == blocks.end()), "a block is free that has objects, or isn't though it has none");
            for (u32 type = 0; type < TYPES; ++type) {
                const ObjectType& of = objects->type[type];
                const bool isOf = used != blocks.end() && used->second.first == type;
                require(bit(of.allocated) == isOf, "a block is allocated for a type that it isn't of, or isn't for its own");
                const u32 room = isOf ? countOf(objects->slots[block]) : 0;
                require(bit(of.active.level[0]) == (room >= of.few), "a block with room isn't active, or one without is");
                require(bit(of.scant.level[0]) == (room != 0 && room < of.few), "a block with a little room isn't scant, or another is");
            }
            u64 slots = used == blocks.end() ? 0 : objects->type[used->second.first].slots;
            for (u64 left = slots; left != 0; left &= left - 1) {
                slots &= ~(alive.count(block * 64 + lowestBit(left)) != 0 ? left & (0 - left) : 0);
            }
            require(objects->slots[block] == slots, "a slot is free that has an object, or isn't though it has none");
        }
        for (u32 i = 0; i <= 2 * TYPES; ++i) {
            const ObjectType& of = objects->type[i / 2];
            requireLevels(i == 2 * TYPES ? objects->free : i % 2 == 0 ? of.active : of.scant, objects->blocks);
        }
        require(*objects->misuses == misuses, "misuses are counted that aren't, or aren't that are");
        requireCounts();
    }

    void requireCounts() const {
        u64 counts[2 * MOST_OBJECT_TYPES + 2] = {};
        const u64 scanners = 1 + chance.below(3);
        for (u64 thread = 0; thread < scanners; ++thread) {
            countObjects(objects, counts, thread, scanners);
        }
        for (u32 type = 0; type < TYPES; ++type) {
            const auto isOf = [type](const auto& each) { return each.second.first == type; };
            const auto isA = [type](const auto& each) { return each.second.type == type; };
            require(counts[2 * type] == static_cast<u64>(std::count_if(blocks.begin(), blocks.end(), isOf))
                            && counts[2 * type + 1] == static_cast<u64>(std::count_if(alive.begin(), alive.end(), isA)),
                    "statistics are wrong");
        }
        require(counts[2 * MOST_OBJECT_TYPES] == objects->blocks - blocks.size(), "statistics of free blocks are wrong");
        require(counts[2 * MOST_OBJECT_TYPES + 1] == misuses, "statistics of misuses are wrong");
    }

    // All that is free can be had, of any type.
    void requireServed() {
        const u32 type = chance.below(TYPES);
        u64 room = (objects->blocks - blocks.size()) * static_cast<u64>(SLOTS[type]);
        for (const auto& each : blocks) {
            room += each.second.first == type ? SLOTS[type] - each.second.second : 0;
        }
        std::vector<Thing> all;
        alone([&] {
            all = makeAll(type);
            require(all.size() == room, "what is free can't be had");
            const u64 before = fibers.accesses();
            make(type);
            const u64 accesses = fibers.accesses() - before;
            if (accesses >= 40) {
                fail("a make takes " + std::to_string(accesses) + " accesses though there is nothing");
            }
        });
        requireConsistent();
        alone([&] { destroyEach(all); });
        requireConsistent();
    }

    void requireWhole() {
        requireConsistent();
        require(blocks.empty() && alive.empty(), "objects are left");
    }

    void destroyAll() {
        together(threads, [&](u32 i) {
            while (!kept[i].empty()) {
                destroy(takeAny(kept[i]));
            }
        });
        requireWhole();
    }

    void list(u32 type) const {
        const u32 listers = 1 + chance.below(3 * lanesOfWarp);
        std::vector<std::function<void()>> bodies;
        for (u32 i = 0; i < listers; ++i) {
            bodies.push_back([this, type, i, listers] {
                listObjects(objects, type, i, listers);
                endListing(objects, type, listers);
            });
        }
        const bool weak = fibers.weak;
        fibers.weak = false;  // a kernel of its own
        together(bodies);
        fibers.weak = weak;
    }

    template <class Type>
    void doAll(u32 type) {
        std::map<u32, u64> expected;  // marks by id, of those that were there
        for (const auto& each : alive) {
            if (each.second.type == type) {
                expected.emplace(each.first, each.second.mark);
            }
        }
        list(type);
        std::set<u64> visited;
        std::set<u64> gone;
        // Others destroy objects before they are visited. Not in weak memory: there a visit may come after that.
        const u32 visitors = fibers.weak ? threads : inWarps ? std::max(4u, (threads - 1) / 4 * 4) : threads - 1;
        together(threads, [&](u32 i) {
            for (u32 rest = i < visitors ? 0 : 1 + chance.below(20); rest != 0; --rest) {
                if (!kept[i].empty() && chance.below(3) != 0) {
                    const Thing thing = takeAny(kept[i]);
                    gone.insert(thing.mark);
                    destroy(thing);
                } else {
                    makeOne(kept[i]);
                }
            }
            sea.forEach<Type>(i < visitors ? i : ~0ull, visitors, [&](const Sea::Object<Type>& object) {
                if (leaving.count(object.id()) != 0) {
                    return;
                }
                const auto there = alive.find(object.id());
                require(there != alive.end(), "an object is visited that was destroyed");
                const auto was = expected.find(object.id());
                require(was != expected.end() && was->second == there->second.mark, "an object is visited that was made meanwhile");
                require(visited.insert(there->second.mark).second, "an object is visited twice");
                const u32 kind = chance.below(4);
                if (kind == 0 && std::find_if(kept.begin() + visitors, kept.end(), [&](const std::vector<Thing>& mine) {
                        return std::any_of(mine.begin(), mine.end(), [&](const Thing& each) { return each.id == object.id(); });
                    }) == kept.end()) {
                    const Thing thing = there->second;
                    for (std::vector<Thing>& mine : kept) {
                        mine.erase(std::remove_if(mine.begin(), mine.end(), [&](const Thing& each) { return each.id == thing.id; }), mine.end());
                    }
                    destroy(thing);
                } else if (kind == 1) {
                    makeOne(kept[i]);
                }
            });
        });
        for (const auto& each : expected) {
            require(visited.count(each.second) + gone.count(each.second) != 0, "an object isn't visited");
        }
        requireConsistent();
    }

  public:
    Trial(u64 bytes, bool warps, bool mixed) : objects(makeHeap(bytes)), inWarps(warps), isMixed(mixed), typesUsed(1 + chance.below(TYPES)) {
        lanesOfWarp = warps ? 4 : 1;
        Group::forgetAll();
    }

    void mix(u32 most) {
        for (u32 rounds = 1 + chance.below(4); rounds != 0; --rounds) {
            together(threads, [&](u32 i) { use(kept[i], 1 + chance.below(2 * most), 1 + chance.below(most)); });
            requireConsistent();
            if (chance.below(3) == 0) {
                requireServed();
            }
        }
        destroyAll();
        requireServed();
    }

    void doAlls() {
        const u32 most = 1 + chance.below(60);
        for (u32 rounds = 1 + chance.below(4); rounds != 0; --rounds) {
            together(threads, [&](u32 i) { use(kept[i], 1 + chance.below(2 * most), most); });
            const u32 type = chance.below(3);
            if (type == 0) {
                doAll<Cell>(0);
            } else if (type == 1) {
                doAll<Fish>(1);
            } else {
                doAll<Shark>(2);
            }
        }
        destroyAll();
        requireServed();
    }

    void roomy() {
        // Each may take a block of its own with each call, and be stopped.
        const u32 calls = std::max(1u, objects->blocks / 2 / threads);
        require(calls * threads < objects->blocks, "blocks for all");
        together(threads, [&](u32 i) {
            for (u32 call = 0; call < calls; ++call) {
                makeOne(kept[i]);
                require(kept[i].size() == call + 1, "a thread gets nothing though there are free blocks");
            }
        });
        requireConsistent();
        destroyAll();
    }

    // In a heap of one block.
    void aba() {
        fibers.stopsAt = 1 + chance.below(40);
        together({[&] {
                      const Thing pod = make(4);
                      if (pod.id != NO_OBJECT) {
                          destroy(pod);
                      }
                  },
                  [&] {
                      const Thing pod = make(4);
                      if (pod.id != NO_OBJECT) {
                          destroy(pod);
                      }
                      for (u32 i = 0; i < 64; ++i) {
                          const Thing cell = make(0);
                          if (cell.id != NO_OBJECT) {
                              kept[1].push_back(cell);
                          }
                      }
                      // The slots that a pod's block has.
                      while (!kept[1].empty() && kept[1][0].id % 64 < 2) {
                          destroy(kept[1][0]);
                          kept[1].erase(kept[1].begin());
                      }
                  }});
        fibers.stopsAt = 0;
        requireConsistent();
        destroyAll();
        requireServed();
    }

    // In a heap of one block. Before a thread takes it away, whole as it sees it, others give it back and make it the block of a
    // type with more slots, of which just those are free that it believes to be all; and they end their objects while it puts
    // back what it took. So there is another type's whole block each time, until it looks no more.
    void stranded() {
        constexpr u32 CHAIN[] = {5, 4, 2, 1};
        constexpr u32 LAST = detail::CHANGES;
        static_assert(sizeof(CHAIN) / sizeof(u32) == LAST + 1, "a type for each time");
        std::vector<Thing>& theirs = kept[0];
        u32 link = 0;
        together({[&] {
            const u32 whale = detail::makeObject(objects, CHAIN[0]);
            fibers.meanwhile = [&] {
                if (!theirs.empty()) {
                    if (objects->slots[0] == 0) {
                        destroyEach(theirs);
                    }
                    return;
                }
                const bool isWhole = objects->slots[0] == objects->type[CHAIN[link]].slots;
                const Thing last = isWhole && link != LAST ? make(CHAIN[link]) : Thing{0, NO_OBJECT, 0};
                if (last.id == NO_OBJECT) {
                    return;  // also where it isn't shown yet
                }
                destroy(last);
                const u32 free = SLOTS[CHAIN[link++]];
                theirs = makeAll(CHAIN[link]);
                const auto gone = std::partition(theirs.begin(), theirs.end(), [free](const Thing& each) { return each.id % 64 >= free; });
                std::vector<Thing> first(gone, theirs.end());
                theirs.erase(gone, theirs.end());
                destroyEach(first);
            };
            detail::destroyObject(objects, CHAIN[0], whale);
            fibers.meanwhile = nullptr;
        }});
        require(link == LAST && theirs.empty(), "the block is another's each time");
        const ObjectType& of = objects->type[CHAIN[LAST]];
        require(objects->free.level[0][0] == 0 && of.allocated[0] == 1 && objects->slots[0] == of.slots, "it stays with its last type");
        alone([&] {
            require(make(CHAIN[0]).id == NO_OBJECT, "no other type gets it");
            const Thing fish = make(CHAIN[LAST]);
            require(fish.id != NO_OBJECT, "its own type gets it");
            destroy(fish);
        });
        requireWhole();
        requireServed();
    }

    void contested() {
        std::vector<Thing> all;
        alone([&] {
            all = makeAll(4);
            for (u32 i = 0; i < all.size(); ++i) {
                if (all[i].id / 64 > 64 * 64 + 10 && all[i].id % 64 == 0) {
                    destroy(all[i]);
                } else {
                    kept[0].push_back(all[i]);
                }
            }
        });
        const u32 room = static_cast<u32>(all.size() - kept[0].size());
        const u32 calls = room / 2 / threads;
        require(calls != 0, "blocks beyond the first 4096");
        together(threads, [&](u32 i) {
            for (u32 call = 0; call < calls; ++call) {
                const Thing thing = make(4);
                require(thing.id != NO_OBJECT, "a thread gets nothing though there are active blocks");
                kept[i].push_back(thing);
            }
        });
        requireConsistent();
        destroyAll();
    }

    // Free blocks are near all warps, in the warps' own words or in others. As many active ones as threads want are far away, so that
    // threads get into each other's way.
    void order() {
        const bool isNearFirst = seed % 3 == NEAR_FIRST;
        const u32 firstFree = seed % 2 == 0 ? 0 : 1280;
        const u32 calls = 6;
        u32 room = calls * threads;
        alone([&] {
            for (const Thing& pod : makeAll(4)) {
                const u32 block = pod.id / 64;
                const bool isActive = block > 64 * 64 + 10 && pod.id % 64 == 0 && room != 0;
                room -= isActive;
                if (isActive || (block >= firstFree && block < 2000)) {
                    destroy(pod);
                } else {
                    kept[0].push_back(pod);
                }
            }
        });
        require(room == 0, "blocks beyond the first 4096");
        std::fill(objects->recent, objects->recent + static_cast<u64>(objects->places) * TYPES, RecentBlock{});
        const size_t used = blocks.size();
        together(threads, [&](u32 i) {
            for (u32 call = 0; call < calls; ++call) {
                kept[i].push_back(make(4));
            }
        });
        require(isNearFirst == (blocks.size() > used), "a free block is taken though others are active, or isn't though it is near");
        requireConsistent();
        destroyAll();
    }

    // Blocks on both sides of the borders of words, and a few others, are all that isn't full.
    void crowded() {
        std::set<u32> open = {0, objects->blocks - 1};
        for (u32 border = 64; border < objects->blocks; border *= 64) {
            open.insert({border - 1, border});
        }
        for (u32 i = chance.below(8); i != 0; --i) {
            open.insert(chance.below(objects->blocks));
        }
        std::vector<Thing> others;
        alone([&] {
            for (const Thing& whale : makeAll(5)) {
                if (open.count(whale.id / 64) != 0) {
                    destroy(whale);
                } else {
                    others.push_back(whale);
                }
            }
        });
        require(others.size() == objects->blocks - open.size(), "each block had an object");
        for (u32 rounds = 1 + chance.below(2); rounds != 0; --rounds) {
            together(threads, [&](u32 i) { use(kept[i], 1 + chance.below(30), 1 + chance.below(8)); });
            requireConsistent();
        }
        together(threads, [&](u32 i) { destroyEach(kept[i]); });
        if (fibers.weak) {
            alone([&] { destroyEach(others); });  // views of so many words take long
        } else {
            for (u32 i = 0; i < others.size(); ++i) {
                kept[i % threads].push_back(others[i]);
            }
        }
        destroyAll();
    }

    // More blocks than one word at the top says something of.
    void tops() {
        require(objects->tops > 1, "several words at the top");
        alone([&] {
            kept[0] = makeAll(5);
            require(kept[0].size() == objects->blocks, "each block has an object");
            for (u32 i = 0; i < 100; ++i) {
                const Thing thing = takeAny(kept[0]);
                destroy(thing);
                const Thing again = make(5);
                require(again.id == thing.id, "the only free block is found");
                kept[0].push_back(again);
            }
            destroyEach(kept[0]);
        });
        requireWhole();
        crowded();
    }

    void misuse() {
        together(threads, [&](u32 i) { use(kept[i], 1 + chance.below(20), 20); });
        alone([&] {
            for (u32 i = 0; i < threads; ++i) {
                if (kept[i].size() > 1) {
                    // Another one keeps the block.
                    const Thing thing = takeAny(kept[i]);
                    destroy(thing);
                    const bool known = blocks.count(thing.id / 64) != 0;
                    if (known) {
                        detail::destroyObject(objects, thing.type, thing.id);
                        ++misuses;
                    }
                }
            }
        });
        destroyAll();
        requireServed();
    }
};

[[noreturn]] void usage() {
    std::printf("objects THREADS SCENARIO FIRST_SEED LAST_SEED, see objects.cpp\n");
    std::exit(2);
}

template <bool WARPS>
void run(const std::string& name) {
    fibers.weak = name.rfind("weak-", 0) == 0;
    const std::string scenario = fibers.weak ? name.substr(5) : name;
    const u64 bytes = scenario == "tops" ? 180 * MIB
            : scenario == "aba" || scenario == "stranded" ? ONE_BLOCK
            : scenario == "contested" || scenario == "crowded" || scenario == "order" ? 5 * MIB / 2
            : scenario == "turns" && chance.below(2) == 0 ? 8 * KIB + chance.below(8 * KIB)
            : scenario != "roomy" && chance.below(4) == 0 ? 12 * KIB + chance.below(16 * KIB)
                                                          : 24 * KIB + chance.below(60 * KIB);
    Trial trial(bytes, WARPS, scenario == "lanes");
    if (scenario == "mix") {
        trial.mix(1 + chance.below(100));
    } else if (scenario == "lanes") {
        trial.mix(1 + chance.below(chance.below(2) == 0 ? 3 : 60));
    } else if (scenario == "turns") {
        trial.mix(1 + chance.below(3));
    } else if (scenario == "do-all") {
        trial.doAlls();
    } else if (scenario == "misuse") {
        trial.misuse();
    } else if (scenario == "roomy") {
        trial.roomy();
    } else if (scenario == "aba") {
        trial.aba();
    } else if (scenario == "stranded") {
        trial.stranded();
    } else if (scenario == "crowded") {
        trial.crowded();
    } else if (scenario == "contested") {
        trial.contested();
    } else if (scenario == "order") {
        trial.order();
    } else if (scenario == "tops") {
        trial.tops();
    } else {
        usage();
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 + static_cast<int>(TYPES) && std::string(arguments[1]) == "layout") {
        return isPlan(planOf<Cell, Fish, Shark, Egg, Pod, Whale>(), arguments + 2) ? 0 : 1;
    }
    const std::string threads = count == 5 ? arguments[1] : "";
    void (*const once)(const std::string&) = threads == "alone" ? run<false> : threads == "warps" ? run<true> : nullptr;
    if (once == nullptr) {
        usage();
    }
    runTrials(arguments, once);
    return 0;
}
