// Types of an ObjectHeap that extend others, on fibers: for each seed a heap, a few threads on it, and another order of their
// accesses.
//
//   object_types THREADS SCENARIO FIRST_SEED LAST_SEED
//   object_types layout NUMBER BLOCK_BYTES SLOTS... OFFSETS...   whether that is what the types' layout is; OFFSETS: where the
//                                                                array of each field of each type begins
//
// THREADS: alone or warps, as in objects.cpp.
//
//   mix      Objects are made, looked at and destroyed, as what they are and as what they extend. In some heaps blocks change their
//            types again and again.
//   do-all   All that extend a type are visited, or only what is exactly of it, while objects are made and destroyed.
//
// Each with weak- before it, too, as in objects.cpp.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <array>
#include <map>
#include <set>
#include <type_traits>

#include "object_trials.h"

using namespace outboard;

namespace {

template <u32 BYTES>
using Bytes = std::array<unsigned char, BYTES>;

// Thing is abstract, and so are Swimmer and Hunter, which add nothing. Rock adds nothing, either; its block has 64.
struct Thing { OUTBOARD_FIELDS((u32, kind)(u64, mark)) };
struct Rock : Extends<Thing> {};
struct Animal : Extends<Thing> { OUTBOARD_FIELDS((float, x) (unsigned char, tail)) };
struct Swimmer : Extends<Animal> {};
struct Fish : Extends<Swimmer> { OUTBOARD_FIELDS((double, weight)) };
struct Hunter : Extends<Swimmer> {};
struct Shark : Extends<Hunter> {
    OUTBOARD_FIELDS((Bytes<200>, teeth))
    static constexpr unsigned char TOOTH = 7;
};
struct Cell { OUTBOARD_FIELDS((u64, mark)(u32, kind)(u64, other)) };
using Sea = ObjectHeap<Rock, Animal, Fish, Cell, Shark>;

enum Kind : u32 { ROCK, ANIMAL, FISH, CELL, SHARK, KINDS };

static_assert(Sea::SLOTS<Rock> == 64 && Sea::SLOTS<Animal> < 64 && Sea::SLOTS<Fish> < Sea::SLOTS<Animal> && Sea::SLOTS<Shark> < 8,
              "the same field lies elsewhere in each");

u32 kindOf(const Sea::Object<Rock>&) { return ROCK; }
u32 kindOf(const Sea::Object<Fish>&) { return FISH; }
u32 kindOf(const Sea::Object<Animal>&) { return ANIMAL; }
u32 kindOf(const Sea::Object<Cell>&) { return CELL; }
u32 kindOf(const Sea::Object<Shark>&) { return SHARK; }

constexpr bool IS_ANIMAL[KINDS] = {false, true, true, false, true};

// A value that tells marks apart.
template <class Value>
Value valueOf(u64 mark, u32 field) {
    return static_cast<Value>((mark * 37 + field) & 0x7F);
}

class Trial {
    struct Known {
        u32 kind;
        u64 mark;
        u32 owner;
    };

    static constexpr u64 KIB = 1 << 10;
    static constexpr u64 MOST_BYTES = 64 * KIB;
    static constexpr u32 SITES = 16;  // lines of a kernel, for branchTo: those of each kind, and others

    Objects* const objects;
    const Sea sea{objects};
    const u32 threads = lanesOfWarp == 1 ? 2 + chance.below(4) : lanesOfWarp + chance.below(5);
    std::map<u32, Known> alive;  // by id
    u64 marks = 0;

    static Objects* makeHeap() {
        static unsigned char* const mapping = reserved(MOST_BYTES);
        const u64 bytes = chance.below(2) == 0 ? 12 * KIB + chance.below(6 * KIB) : 24 * KIB + chance.below(40 * KIB);
        return makeObjects(mapping, bytes, 1 + chance.below(3), planOf<Rock, Animal, Fish, Cell, Shark>());
    }

    // Writes or checks all fields of an object that is known to be there.
    template <class Object, class Function>
    static void eachField(const Object& object, const Function& function) {
        function(object.mark(), 0);
        if constexpr (!std::is_same_v<Object, Sea::Object<Cell>> && !std::is_same_v<Object, Sea::Object<Rock>>
                      && !std::is_same_v<Object, Sea::Object<Any<Thing>>>) {
            function(object.x(), 1);
            function(object.tail(), 2);
        }
        if constexpr (std::is_same_v<Object, Sea::Object<Fish>>) {
            function(object.weight(), 3);
        }
        if constexpr (std::is_same_v<Object, Sea::Object<Shark>>) {
            for (unsigned char& tooth : object.teeth()) {
                function(tooth, Shark::TOOTH);
            }
        }
        if constexpr (std::is_same_v<Object, Sea::Object<Cell>>) {
            function(object.other(), 4);
        }
    }

    template <class Object>
    void check(const Object& object, const Known& known) const {
        require(object.kind() == known.kind, "an object doesn't keep its kind");
        eachField(object, [&](auto& field, u32 number) {
            using Value = std::remove_reference_t<decltype(field)>;
            require(field == valueOf<Value>(known.mark, number), "an object doesn't keep what was written");
        });
    }

    template <class Type>
    void makeOne(u32 owner) {
        fibers.branchTo(INDEX_OF<Type>);
        const Sea::Object<Type> made = sea.make<Type>();
        if (!made) {
            return;
        }
        const u32 kind = kindOf(made);
        const Known known = {kind, ++marks, owner};
        require(alive.emplace(made.id(), known).second, "two objects have the same place");
        made.kind() = kind;
        eachField(made, [&](auto& field, u32 number) { field = valueOf<std::remove_reference_t<decltype(field)>>(known.mark, number); });
        check(made, known);
        if constexpr (detail::DERIVES<Type, Thing>) {
            const Sea::Object<Any<Thing>> any = made;
            require(any.id() == made.id() && &any.mark() == &made.mark() && &any.kind() == &made.kind(), "as what it extends it lies elsewhere");
        }
    }

    template <class Type>
    static constexpr u32 INDEX_OF = detail::ObjectLayout<Rock, Animal, Fish, Cell, Shark>::indexOf<Type>();

    void makeAny(u32 owner) {
        switch (chance.below(KINDS)) {
            case ROCK: return makeOne<Rock>(owner);
            case FISH: return makeOne<Fish>(owner);
            case ANIMAL: return makeOne<Animal>(owner);
            case CELL: return makeOne<Cell>(owner);
            default: return makeOne<Shark>(owner);
        }
    }

    // Whether a cast gives just what the object is.
    template <class Type, class From>
    void cast(const From& any, const Known& known, bool isRight) const {
        require(any.template is<Type>() == isRight, "an object is taken for what it isn't, or not for what it is");
        const auto as = any.template as<Type>();
        require(static_cast<bool>(as) == isRight && as.id() == (isRight ? any.id() : NO_OBJECT), "a cast fails, or doesn't");
        if (isRight) {
            check(as, known);
            require(&as.mark() == &any.mark(), "an object is cast to one that lies elsewhere");
        }
    }

    void look(u32 id, const Known& known) const {
        if (!IS_ANIMAL[known.kind]) {
            require(!sea.at<Any<Animal>>(id), "what is no animal is found as one");
        }
        if (known.kind == CELL) {
            require(!sea.at<Any<Thing>>(id), "a cell is found as a thing");
            return check(sea.at<Cell>(id), known);
        }
        const auto thing = sea.at<Any<Thing>>(id);
        require(static_cast<bool>(thing) && thing.id() == id, "an object is none");
        check(thing, known);
        cast<Rock>(thing, known, known.kind == ROCK);
        cast<Fish>(thing, known, known.kind == FISH);
        cast<Animal>(thing, known, known.kind == ANIMAL);
        cast<Shark>(thing, known, known.kind == SHARK);
        cast<Any<Thing>>(thing, known, true);
        cast<Any<Animal>>(thing, known, IS_ANIMAL[known.kind]);
        cast<Any<Swimmer>>(thing, known, known.kind == FISH || known.kind == SHARK);
        if (const auto animal = thing.as<Any<Animal>>()) {
            cast<Shark>(animal, known, known.kind == SHARK);
            cast<Any<Swimmer>>(animal, known, known.kind == FISH || known.kind == SHARK);
            const Sea::Object<Any<Thing>> again = animal;
            cast<Animal>(again, known, known.kind == ANIMAL);
        }
    }

    void requireNone() const {
        const auto none = sea.at<Any<Thing>>(NO_OBJECT);
        require(!none && !none.is<Rock>() && !none.is<Any<Thing>>() && !none.as<Shark>(), "none is something");
        const Sea::Object<Any<Animal>> noShark = sea.at<Shark>(NO_OBJECT);
        require(!noShark && !noShark.is<Shark>() && !noShark.is<Any<Animal>>(), "no shark is something");
    }

    void destroy(u32 id) {
        const Known known = alive.at(id);
        look(id, known);
        alive.erase(id);
        if (known.kind == CELL) {
            fibers.branchTo(SITES);
            sea.destroy(sea.at<Cell>(id));
        } else if (chance.below(4) == 0 && known.kind == SHARK) {
            fibers.branchTo(SITES + 1);
            sea.destroy(sea.at<Shark>(id));
        } else {
            // Lanes of a warp come together here with objects of several types.
            const auto thing = sea.at<Any<Thing>>(id);
            fibers.branchTo(SITES + 2);
            sea.destroy(thing);
        }
    }

    void use(u32 owner, u32 calls) {
        for (u32 call = 0; call < calls; ++call) {
            std::vector<u32> mine;
            for (const auto& each : alive) {
                if (each.second.owner == owner) {
                    mine.push_back(each.first);
                }
            }
            if (!mine.empty() && chance.below(5) < 2) {
                destroy(mine[chance.below(static_cast<u32>(mine.size()))]);
            } else {
                makeAny(owner);
            }
        }
    }

    void requireConsistent() const {
        u64 counts[2 * MOST_OBJECT_TYPES + 2] = {};
        countObjects(objects, counts, 0, 1);
        u64 expected[KINDS] = {};
        for (const auto& each : alive) {
            ++expected[each.second.kind];
        }
        for (u32 kind = 0; kind < KINDS; ++kind) {
            require(counts[2 * kind + 1] == expected[kind], "a type has more objects than were made, or fewer");
        }
        require(counts[2 * MOST_OBJECT_TYPES + 1] == 0, "destroyed what was none");
        require(!alive.empty() || counts[2 * MOST_OBJECT_TYPES] == objects->blocks, "blocks aren't free when all is destroyed");
    }

    void destroyAll() {
        alone([&] {
            const std::map<u32, Known> all = alive;
            for (const auto& each : all) {
                destroy(each.first);
            }
        });
        requireConsistent();
    }

    // Lists all types of which one of the mask's bits is set, as the kernel does.
    void list(u32 types) const {
        const bool weak = fibers.weak;
        fibers.weak = false;  // a kernel of its own
        const u32 listers = 1 + chance.below(3 * lanesOfWarp);
        together(listers, [&](u32 i) {
            for (u32 left = types; left != 0; left &= left - 1) {
                listObjects(objects, lowestBit(left), i, listers);
            }
            for (u32 left = types; left != 0; left &= left - 1) {
                endListing(objects, lowestBit(left), listers);
            }
        });
        fibers.weak = weak;
    }

    template <class Asked>
    void doAll(u32 kinds, bool isAlone) {
        std::map<u32, Known> expected;
        for (const auto& each : alive) {
            if ((kinds >> each.second.kind & 1) != 0) {
                expected.insert(each);
            }
        }
        list(kinds);
        std::set<u32> visited;
        const auto visit = [&](u32 owner, const auto& object) {
            const auto was = expected.find(object.id());
            require(was != expected.end(), "an object is visited that wasn't there, or isn't of the type");
            require(kindOf(object) == was->second.kind, "an object is visited as what it isn't");
            require(visited.insert(object.id()).second, "an object is visited twice");
            check(object, was->second);
            if (isAlone) {
                return;
            }
            if (chance.below(4) == 0) {
                destroy(object.id());
            } else if (chance.below(4) == 0) {
                makeAny(owner);
            }
        };
        if (isAlone) {
            alone([&] { sea.visitAll<Asked>([&](const auto& object) { visit(0, object); }); });
        } else {
            together(threads, [&](u32 i) { sea.forEach<Asked>(i, threads, [&](const auto& object) { visit(i, object); }); });
        }
        require(visited.size() == expected.size(), "an object isn't visited");
        requireConsistent();
    }

  public:
    Trial() : objects(makeHeap()) {
        Group::forgetAll();
    }

    void mix() {
        requireNone();
        for (u32 rounds = 1 + chance.below(4); rounds != 0; --rounds) {
            together(threads, [&](u32 i) { use(i, 1 + chance.below(40)); });
            requireConsistent();
            if (chance.below(3) == 0) {
                destroyAll();
            }
        }
        destroyAll();
    }

    void doAlls() {
        for (u32 rounds = 1 + chance.below(3); rounds != 0; --rounds) {
            together(threads, [&](u32 i) { use(i, 1 + chance.below(40)); });
            const bool isAlone = chance.below(3) == 0;
            switch (chance.below(5)) {
                case 0: doAll<Any<Thing>>(1 << ROCK | 1 << FISH | 1 << ANIMAL | 1 << SHARK, isAlone); break;
                case 1: doAll<Any<Animal>>(1 << FISH | 1 << ANIMAL | 1 << SHARK, isAlone); break;
                case 2: doAll<Any<Swimmer>>(1 << FISH | 1 << SHARK, isAlone); break;
                case 3: doAll<Animal>(1 << ANIMAL, isAlone); break;
                default: doAll<Any<Cell>>(1 << CELL, isAlone); break;
            }
        }
        destroyAll();
    }
};

template <class Type>
void addOffsets(std::vector<u64>& numbers) {
    for (u32 field = 0; field < detail::FieldsOf<Type>::COUNT; ++field) {
        numbers.push_back(detail::FieldsOf<Type>::offsetOf(field, Sea::SLOTS<Type>));
    }
}

std::vector<u64> offsets() {
    std::vector<u64> numbers;
    addOffsets<Rock>(numbers);
    addOffsets<Animal>(numbers);
    addOffsets<Fish>(numbers);
    addOffsets<Cell>(numbers);
    addOffsets<Shark>(numbers);
    return numbers;
}

[[noreturn]] void usage() {
    std::printf("object_types THREADS SCENARIO FIRST_SEED LAST_SEED, see object_types.cpp\n");
    std::exit(2);
}

void once(const std::string& name) {
    fibers.weak = name.rfind("weak-", 0) == 0;
    const std::string scenario = fibers.weak ? name.substr(5) : name;
    Trial trial;
    if (scenario == "mix") {
        trial.mix();
    } else if (scenario == "do-all") {
        trial.doAlls();
    } else {
        usage();
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 2 && std::string(arguments[1]) == "layout") {
        const std::vector<u64> expected = offsets();
        if (count != 4 + static_cast<int>(KINDS + expected.size())) {
            usage();
        }
        bool same = isPlan(planOf<Rock, Animal, Fish, Cell, Shark>(), arguments + 2);
        for (u32 i = 0; i < expected.size(); ++i) {
            std::printf("%llu ", expected[i]);
            same &= expected[i] == std::strtoull(arguments[4 + KINDS + i], nullptr, 10);
        }
        return same ? 0 : 1;
    }
    const std::string threads = count == 5 ? arguments[1] : "";
    if (threads != "alone" && threads != "warps") {
        usage();
    }
    lanesOfWarp = threads == "alone" ? 1 : 4;
    runTrials(arguments, once);
    return 0;
}
