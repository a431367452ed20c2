// ObjectHeap at the borders of words and of numbers: heaps of exactly so many blocks, types with exactly so many slots.
//
//   object_borders THREADS SCENARIO FIRST_SEED LAST_SEED
//   object_borders layout NUMBER BLOCK_BYTES SLOTS...     whether that is what the types' layout is
//
// THREADS: alone or warps, as in objects.cpp.
//
//   full        A heap of 1, 63, 64, 65, 4096 or 4097 blocks, and of no byte more, is filled and emptied by several threads. All
//               of each block can be had, each object keeps all its bytes, a do-all visits each, and nothing else is written.
//   thresholds  A block gets one object more each time, then one less: whether it is active or scant.
//   sizes       Where the tables are, for any number of bytes and multiprocessors, up to as many blocks as there may be.
//   none        There is no room for a block, and so for no object.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "object_trials.h"

using namespace outboard;

namespace {

template <u32 BYTES>
using Bytes = std::array<unsigned char, BYTES>;

// So many in a block of 4096 bytes. Fewer than 16 are enough for it to be active when one is free, more when an eighth is.
struct Sixtyfour { OUTBOARD_FIELDS((Bytes<64>, bytes)) };
struct Sixtythree { OUTBOARD_FIELDS((Bytes<65>, bytes)) };
struct Seventeen { OUTBOARD_FIELDS((Bytes<240>, bytes)) };
struct Sixteen { OUTBOARD_FIELDS((Bytes<256>, bytes)) };
struct Fifteen { OUTBOARD_FIELDS((u64, first)(Bytes<264>, bytes)) };
struct One { OUTBOARD_FIELDS((Bytes<4096>, bytes)) };
using All = ObjectHeap<Sixtyfour, Sixtythree, Seventeen, Sixteen, Fifteen, One>;

constexpr u32 TYPES = 6;
constexpr u32 SLOTS[TYPES] = {64, 63, 17, 16, 15, 1};
constexpr u32 FEW[TYPES] = {8, 7, 2, 2, 1, 1};
constexpr u32 BLOCKS[] = {1, 63, 64, 65, 4096, 4097};
constexpr u64 MOST_BYTES = 32 << 20;
constexpr u64 GUARD_BYTES = 4096;
constexpr u32 MOST_CALLS = 3000;  // of a thread that isn't alone; more take long

static_assert(All::SLOTS<Sixtythree> == 63 && All::SLOTS<Sixteen> == 16 && All::SLOTS<Fifteen> == 15, "as said");

ObjectPlan plan() {
    return planOf<Sixtyfour, Sixtythree, Seventeen, Sixteen, Fifteen, One>();
}

unsigned char* memory() {
    static unsigned char* const mapping = reserved(MOST_BYTES + GUARD_BYTES);
    return mapping;
}

// A heap in so many bytes, with more bytes behind it that are looked at in the end.
Objects* guarded(u64 bytes, u32 multiprocessors) {
    std::memset(memory() + bytes, 0x5A, GUARD_BYTES);
    return makeObjects(memory(), bytes, multiprocessors, plan());
}

void requireGuard(u64 bytes) {
    require(std::all_of(memory() + bytes, memory() + bytes + GUARD_BYTES, [](unsigned char each) { return each == 0x5A; }),
            "something is written behind the heap");
}

// A heap of so many blocks with no room for anything else; its size.
u64 bytesOf(u32 blocks, u32 multiprocessors) {
    Objects* const objects = reinterpret_cast<Objects*>(memory());
    require(formatObjects(objects, MOST_BYTES, multiprocessors, plan()), "no room for tables");
    return detail::placeObjects(objects, blocks) - reinterpret_cast<u64>(memory());
}

u64 countOfBits(const u64* words, u32 blocks) {
    u64 count = 0;
    for (u32 word = 0; word < (blocks + 63) / 64; ++word) {
        count += countOf(words[word]);
    }
    return count;
}

class Trial {
    const u32 blocks;
    const u32 multiprocessors = 1 + chance.below(3);
    const u64 bytes = bytesOf(blocks, multiprocessors);
    Objects* const objects = guarded(bytes, multiprocessors);
    const All heap{objects};
    const u32 threads = lanesOfWarp * (1 + chance.below(3));
    std::vector<std::vector<u32>> kept{threads};
    std::vector<bool> alive;  // by object

    // A number that is seldom another object's.
    template <class Type>
    static unsigned char markOf(u32 id) {
        return static_cast<unsigned char>((id ^ id >> 8 ^ id >> 16) * 37 + All::SLOTS<Type>);
    }

    // Whether there was room.
    template <class Type>
    bool make(std::vector<u32>& mine) {
        const u32 id = heap.make<Type>().id();
        if (id == NO_OBJECT) {
            return false;
        }
        require(id / 64 < blocks && id % 64 < All::SLOTS<Type>, "an object has no place");
        require(!alive[id], "two objects have the same place");
        alive[id] = true;
        auto& field = heap.at<Type>(id).bytes();
        require(field.data() >= objects->data && field.data() + field.size() <= memory() + bytes, "an object is outside of the heap");
        field.fill(markOf<Type>(id));
        mine.push_back(id);
        return true;
    }

    template <class Type>
    void destroyAll(std::vector<u32>& mine) {
        for (; !mine.empty(); mine.pop_back()) {
            const u32 id = mine.back();
            const auto& field = heap.at<Type>(id).bytes();
            require(std::all_of(field.begin(), field.end(), [id](unsigned char each) { return each == markOf<Type>(id); }),
                    "an object doesn't keep what was written");
            alive[id] = false;
            heap.destroy<Type>(heap.at<Type>(id));
        }
    }

    // So many blocks with no room and the others free; no bits beyond the last block's.
    void requireFull(u32 type, u32 full) const {
        const ObjectType& of = objects->type[type];
        require(countOfBits(of.allocated, blocks) == full, "blocks are allocated that aren't, or aren't that are");
        require(countOfBits(objects->free.level[0], blocks) == blocks - full, "blocks are free that aren't, or aren't that are");
        require(countOfBits(of.active.level[0], blocks) + countOfBits(of.scant.level[0], blocks) == 0, "a block without room is shown");
        requireLevels(objects->free, blocks);
        requireLevels(of.active, blocks);
        requireLevels(of.scant, blocks);
        u64 counts[2 * MOST_OBJECT_TYPES + 2] = {};
        countObjects(objects, counts, 0, 1);
        require(counts[2 * type] == full && counts[2 * type + 1] == static_cast<u64>(full) * SLOTS[type]
                        && counts[2 * MOST_OBJECT_TYPES] == blocks - full && counts[2 * MOST_OBJECT_TYPES + 1] == 0,
                "statistics are wrong");
    }

    template <class Type>
    void requireVisits(u32 type) const {
        const u32 listers = lanesOfWarp * (1 + chance.below(3));
        together(listers, [&](u32 i) {
            listObjects(objects, type, i, listers);
            endListing(objects, type, listers);
        });
        std::vector<bool> visited(alive.size());
        heap.forEach<Type>(0, 1, [&](const All::Object<Type>& object) {
            require(!visited[object.id()], "an object is visited twice");
            visited[object.id()] = true;
        });
        require(visited == alive, "a do-all visits other objects than there are");
    }

  public:
    explicit Trial(u32 theBlocks) : blocks(theBlocks) {}

    template <class Type>
    void full(u32 type) {
        require(objects->blocks == blocks, "another number of blocks");
        alive.assign(64ull * blocks, false);
        together(threads, [&](u32 i) {
            for (u32 calls = MOST_CALLS; calls != 0 && make<Type>(kept[i]); --calls) {
            }
        });
        alone([&] {
            while (make<Type>(kept[0])) {
            }
        });
        require(std::count(alive.begin(), alive.end(), true) == static_cast<long>(blocks) * SLOTS[type], "what is free can't be had");
        requireFull(type, blocks);
        requireVisits<Type>(type);
        together(threads, [&](u32 i) { destroyAll<Type>(kept[i]); });
        requireFull(type, 0);
        requireVisits<Type>(type);
        requireGuard(bytes);
    }

    template <class Type>
    void thresholds(u32 type) {
        const ObjectType& of = objects->type[type];
        require(of.count == SLOTS[type] && of.few == FEW[type], "an eighth, or one");
        alive.assign(64ull * blocks, false);
        const auto requireShown = [&](u32 there) {
            const u32 room = SLOTS[type] - there;
            require(countOfBits(of.active.level[0], blocks) == (there != 0 && room >= FEW[type]), "active is what has an eighth free, or one");
            require(countOfBits(of.scant.level[0], blocks) == (room != 0 && room < FEW[type]), "scant is what has less");
            require(countOfBits(objects->free.level[0], blocks) == blocks - (there != 0), "free is what has no object");
        };
        alone([&] {
            for (u32 there = 1; there <= SLOTS[type]; ++there) {
                require(make<Type>(kept[0]), "there is room");
                requireShown(there);
            }
            for (u32 there = SLOTS[type]; there-- != 0;) {
                std::vector<u32> one = {kept[0].back()};
                kept[0].pop_back();
                destroyAll<Type>(one);
                requireShown(there);
            }
        });
    }
};

// By arithmetic of its own, in 128 bits: where each table must be, and how many blocks there is room for.
class Sizes {
    using Wide = unsigned __int128;
    const ObjectPlan& plan;
    const Wide multiprocessors;

    static Wide rounded(Wide bytes, Wide unit) {
        return (bytes + unit - 1) / unit * unit;
    }

    // Bytes of a bitmap's levels: bits above are words 128 bytes apart.
    static std::array<Wide, 3> levels(Wide blocks) {
        const Wide words = std::max<Wide>(1, rounded(blocks, 64) / 64);
        const Wide above = rounded(words, 64) / 64;
        return {words * 8, above * 128, rounded(above, 64) / 64 * 128};
    }

  public:
    Sizes(const ObjectPlan& thePlan, u32 theMultiprocessors) : plan(thePlan), multiprocessors(theMultiprocessors) {}

    // Bytes of each table, in their order.
    std::vector<Wide> tables(Wide blocks) const {
        std::vector<Wide> all = {8, blocks * 8, blocks * 8, blocks,
                                 std::min(multiprocessors * 64, std::max<Wide>(1, blocks)) * plan.typeCount * 16};
        const auto addLevels = [&] {
            for (const Wide level : levels(blocks)) {
                all.push_back(level);
            }
        };
        for (u32 i = 0; i < plan.typeCount; ++i) {
            addLevels();
            addLevels();
            all.insert(all.end(), {rounded(blocks, 64) / 8, blocks * 4, 24});
        }
        addLevels();
        return all;
    }

    // From one multiple of 256 to the end of the blocks.
    Wide end(Wide blocks) const {
        Wide sum = sizeof(Objects);
        for (const Wide table : tables(blocks)) {
            sum += rounded(table, 16);
        }
        return rounded(sum, 128) + blocks * plan.blockBytes;
    }

    u32 most(Wide bytes) const {
        u32 blocks = 0;
        for (u32 more = 1u << 25; more != 0; more /= 2) {
            blocks += end(blocks + more) <= bytes ? more : 0;
        }
        return blocks;
    }
};

std::vector<const void*> tablesOf(const Objects& objects) {
    std::vector<const void*> all = {objects.misuses, objects.slots, objects.visits, objects.types, objects.recent};
    const auto addLevels = [&](const detail::Bitmap<3>& map) { all.insert(all.end(), map.level, map.level + 3); };
    for (u32 i = 0; i < objects.typeCount; ++i) {
        const ObjectType& type = objects.type[i];
        addLevels(type.active);
        addLevels(type.scant);
        all.insert(all.end(), {type.allocated, type.list, type.listed});
    }
    addLevels(objects.free);
    return all;
}

void sizes() {
    alignas(256) static unsigned char control[sizeof(Objects)];
    Objects* const objects = reinterpret_cast<Objects*>(control);
    ObjectPlan any{};
    any.typeCount = 1 + chance.below(MOST_OBJECT_TYPES);
    any.blockBytes = seed % 4 == 0 ? 128 : 128 * (1 + chance.below(1u << chance.below(10)));
    std::fill(any.slots, any.slots + any.typeCount, 1 + chance.below(64));
    const u32 multiprocessors = 1u << chance.below(9);
    const Sizes right(any, multiprocessors);
    // Nothing but the control block is written, so the memory needn't be there.
    std::vector<u64> all = {1ull << 36, 1ull << 46, static_cast<u64>(right.end(MOST_BLOCKS)), (1ull << 16) + chance.next(),
                            static_cast<u64>(chance.next()) << chance.below(8) | 1 << 16};
    for (u32 blocks : {1u, 64u, 4097u, 1u << 24, MOST_BLOCKS}) {
        all.push_back(static_cast<u64>(right.end(blocks)) - 1);
    }
    for (const u64 bytes : all) {
        require(formatObjects(objects, bytes, multiprocessors, any), "no room for tables");
        require(objects->blocks == right.most(bytes) && objects->blocks <= MOST_BLOCKS, "another number of blocks than there is room for");
        const std::vector<const void*> tables = tablesOf(*objects);
        const auto expected = right.tables(objects->blocks);
        const unsigned char* at = control + sizeof(Objects);
        for (u32 i = 0; i < tables.size(); ++i) {
            require(tables[i] == at, "a table is elsewhere");
            at += (static_cast<u64>(expected[i]) + 15) / 16 * 16;
        }
        const u64 data = reinterpret_cast<u64>(objects->data);
        require(data % 128 == 0 && data >= reinterpret_cast<u64>(at), "blocks lie over tables, or across lines");
        require(data + static_cast<u64>(objects->blocks) * any.blockBytes - reinterpret_cast<u64>(control) <= bytes,
                "the blocks leave the memory");
        require((objects->blocks << 6) - 1 < NO_OBJECT || objects->blocks == 0, "an object has the number of none");
        require((objects->places - 1) * objects->placeStep >> 32 < objects->blocks || objects->blocks == 0, "a place isn't there");
        require(64ull * 64 * 64 * objects->tops >= objects->blocks, "words at the top");
    }
}

void none() {
    const u64 bytes = bytesOf(1, 1) - 1;
    Objects* const objects = guarded(bytes, 1);
    require(objects->blocks == 0, "room for a block");
    const All heap(objects);
    const u32 threads = lanesOfWarp * (1 + chance.below(3));
    together(threads, [&](u32) {
        require(!heap.make<Sixtyfour>() && !heap.make<One>(), "an object of nothing");
    });
    u64 counts[2 * MOST_OBJECT_TYPES + 2] = {};
    together(threads, [&](u32 i) {
        listObjects(objects, i % TYPES, i, threads);
        countObjects(objects, counts, i, threads);
        heap.forEach<Fifteen>(i, threads, [](const All::Object<Fifteen>&) { fail("an object is visited"); });
    });
    require(std::all_of(std::begin(counts), std::end(counts), [](u64 each) { return each == 0; }), "something is counted");
    requireGuard(bytes);
}

[[noreturn]] void usage() {
    std::printf("object_borders THREADS SCENARIO FIRST_SEED LAST_SEED, see object_borders.cpp\n");
    std::exit(2);
}

// In turns by seed, so that each border meets each type.
void ofAType(bool isFull) {
    const auto of = [isFull](auto* object, u32 type) {
        using Type = std::remove_pointer_t<decltype(object)>;
        Trial trial(isFull ? BLOCKS[seed % 6] : 1);
        isFull ? trial.full<Type>(type) : trial.thresholds<Type>(type);
    };
    switch (const u32 type = seed / 6 % TYPES) {
        case 0: return of(static_cast<Sixtyfour*>(nullptr), type);
        case 1: return of(static_cast<Sixtythree*>(nullptr), type);
        case 2: return of(static_cast<Seventeen*>(nullptr), type);
        case 3: return of(static_cast<Sixteen*>(nullptr), type);
        case 4: return of(static_cast<Fifteen*>(nullptr), type);
        default: return of(static_cast<One*>(nullptr), type);
    }
}

void once(const std::string& scenario) {
    Group::forgetAll();
    if (scenario == "sizes") {
        sizes();
    } else if (scenario == "none") {
        none();
    } else if (scenario == "full" || scenario == "thresholds") {
        ofAType(scenario == "full");
    } else {
        usage();
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 + static_cast<int>(TYPES) && std::string(arguments[1]) == "layout") {
        return isPlan(plan(), arguments + 2) ? 0 : 1;
    }
    const std::string threads = count == 5 ? arguments[1] : "";
    if (threads != "alone" && threads != "warps") {
        usage();
    }
    lanesOfWarp = threads == "alone" ? 1 : WARP_LANES;
    runTrials(arguments, once);
    return 0;
}
