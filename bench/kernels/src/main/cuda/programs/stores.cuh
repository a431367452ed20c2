// What objects of a program live in, and how all of one type are visited. A program is written once, and compiled for each
// store by cuda-backend/ptx.sh:
//
//   -DOUTBOARD_OBJECTS               an ObjectHeap
//   -DOUTBOARD_ALLOCATOR='...'       an allocator, such as BitmapAlloc: plain structures, and for each type an array of pointers to
//                                    them
//   -DOUTBOARD_ARRAYS=AOS or SOA     no allocator: one array, of structures, or of each field, with room for as many objects as
//                                    there can be
//
// Each store has the same functions. Objects are named by an Id, which other objects' fields hold. Each type says whether its
// objects may end (ENDS).
//
//   Store<Fish, Shark> sea(run);
//   const auto fish = sea.make<Fish>(place); // false if there was no room; `place` is a number that no other fish has, such as that
//                                            // of the cell it is in: arrays have it there
//   const auto same = sea.move(fish, place); // has another such number from now on, and another id, if it is in arrays
//   fish.energy() = 3;                       // a field that OUTBOARD_FIELDS declares
//   sea.at<Fish>(fish.id());
//   sea.destroy(fish);
//   sea.forEach<Fish>([&](auto each) {});    // the parallel do-all: by all threads of a kernel
//   sea.visitAll<Fish>([&](auto each) {});   // one thread visits them all, in the order that all threads do, in a kernel that
//                                            // destroys none
//
// Before a kernel that visits objects of a type, the host has them listed (Storage.list). Those made since aren't visited. In arrays,
// only the thread that visits an object may end it in a kernel that visits its type.
#pragma once

#ifdef OUTBOARD_ALLOCATOR
#include "allocator_of.cuh"
#include "bitmap_alloc.cuh"
#endif
#include "outboard/object_heap.cuh"

using u32 = unsigned;
using u64 = unsigned long long;
using s64 = long long;

// Of a type that has no listing of its own. Written by `list` alone, but for `tail` and `holes`.
struct Index {
    u32 which;   // of the two arrays
    u32 tail;    // places taken there
    u32 holes;   // of them without an object
    u32 listed;  // places of the do-all
    u32 packed;  // while the other array is filled
    u32 blocksDone;
};

// Of each type. Storage writes it.
struct Table {
    u64 arrays[2];  // of pointers; or of structures or fields, and of what is there
    Index* index;
    u32 capacity;  // objects
    u32 lists;     // of arrays, so far
};

// What all kernels of a program get.
struct Run {
    alignas(32) unsigned char control[sizeof(outboard::Objects)];
    Table tables[4];
    u64 words[24];  // the program's own
};

// Words that each program has: where it draws, and where it counts objects that were refused and faults that it finds; and
// the first of its own.
enum { PICTURE, REFUSED, FAULTS, OWN };

__device__ inline void count(const Run& run, u32 word) { atomicAdd(reinterpret_cast<u64*>(run.words[word]), 1ull); }

namespace stores {

__device__ inline u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline u32 threads() { return gridDim.x * blockDim.x; }

// One more for each thread that calls; those of a warp that come together need one atomic. What was there before is returned.
__device__ inline u32 takeOne(u32* counter) {
    const outboard::Group group(counter);
    u32 first = 0;
    if (group.rank() == 0) {
        first = atomicAdd(counter, group.size());
    }
    return group.fromFirst(first) + group.rank();
}

// Of each thread one more or none; by all threads of a warp that took the same way.
__device__ inline u32 takeSome(u32* counter, bool wanted) {
    const outboard::Group group(counter);
    const u32 before = group.sumOfLowerRanks(wanted);
    const u32 total = group.fromLast(before + wanted);
    u32 first = 0;
    if (group.rank() == 0 && total != 0) {
        first = atomicAdd(counter, total);
    }
    return group.fromFirst(first) + before;
}

template <class... Types>
constexpr bool SAY_WHETHER_THEY_END = ((Types::ENDS || !Types::ENDS) && ...);

template <class Wanted, class... Types>
constexpr u32 INDEX_OF = outboard::detail::ObjectLayout<Types...>::template indexOf<Wanted>();

// Bytes of an object's fields before one. Their arrays are aligned, since capacities are multiples of 64.
template <class Type, u32 FIELD>
constexpr u32 BEFORE = outboard::detail::FieldsOf<Type>::offsetOf(FIELD, 64) / 64;

// Where a structure's members lie, as in a language's own structures: in their order, each aligned to its size. HEAD bytes, four or
// none, lie before them.
template <u32 HEAD, class... Members>
struct Structure {
    static constexpr u32 SIZES[sizeof...(Members)] = {sizeof(Members)...};

    static constexpr u32 offsetOf(u32 member) {
        u32 offset = HEAD;
        for (u32 i = 0; i <= member; ++i) {
            offset = (offset + SIZES[i] - 1) / SIZES[i] * SIZES[i] + (i == member ? 0 : SIZES[i]);
        }
        return offset;
    }

    static constexpr u32 bytes() {
        u32 widest = 4;
        for (const u32 size : SIZES) {
            widest = size > widest ? size : widest;
        }
        const u32 end = offsetOf(sizeof...(Members) - 1) + SIZES[sizeof...(Members) - 1];
        return (end + widest - 1) / widest * widest;
    }
};

template <u32 HEAD, class... Members>
Structure<HEAD, Members...> structureOf(outboard::detail::Fields<Members...>);

template <class Type, u32 HEAD>
using StructureOf = decltype(structureOf<HEAD>(typename outboard::detail::Declared<Type>::All()));

template <class Type, u32 FIELD, u32 HEAD>
constexpr u32 MEMBER_AT = StructureOf<Type, HEAD>::offsetOf(FIELD);

template <class Type, u32 HEAD>
constexpr u32 STRUCTURE_BYTES = StructureOf<Type, HEAD>::bytes();

}  // namespace stores

#if defined(OUTBOARD_OBJECTS)

using Id = u32;
constexpr Id NONE = outboard::NO_OBJECT;

template <class... Types>
class Store {
    static_assert(stores::SAY_WHETHER_THEY_END<Types...>);

    using Heap = outboard::ObjectHeap<Types...>;
    Heap heap;

  public:
    template <class Type>
    using Object = typename Heap::template Object<Type>;

    __device__ explicit Store(const Run& run) : heap(reinterpret_cast<const outboard::Objects*>(run.control)) {}

    template <class Type>
    __device__ Object<Type> at(Id id) const {
        return heap.template at<Type>(id);
    }

    template <class Type>
    __device__ Object<Type> make(u32) const {
        return heap.template make<Type>();
    }

    template <class Type>
    __device__ Object<Type> move(const Object<Type>& object, u32) const {
        return object;
    }

    template <class Type>
    __device__ void destroy(const Object<Type>& object) const {
        heap.destroy(object);
    }

    template <class Type, class Function>
    __device__ void forEach(const Function& function) const {
        heap.template forEach<Type>(stores::thread(), stores::threads(), function);
    }

    template <class Type, class Function>
    __device__ void visitAll(const Function& function) const {
        heap.template visitAll<Type>(function);
    }
};

#elif defined(OUTBOARD_ALLOCATOR)

using Id = u64;
constexpr Id NONE = 0;

using Allocator = OUTBOARD_ALLOCATOR;

template <class... Types>
class Store {
    static_assert(stores::SAY_WHETHER_THEY_END<Types...>);

    // Each begins with its place in the array of pointers.
    static constexpr u32 HEAD = 4;

    const Run& run;

    template <class Type>
    __device__ const Table& table() const {
        return run.tables[stores::INDEX_OF<Type, Types...>];
    }

    __device__ Allocator allocator() const {
        return MakeAllocator<Allocator>::of(reinterpret_cast<const outboard::Heap*>(run.control));
    }

  public:
    template <class Type>
    class Object : public outboard::detail::Accessors<Type, Object<Type>> {
        friend class Store;
        unsigned char* structure_;

        __device__ explicit Object(unsigned char* theStructure) : structure_(theStructure) {}

        __device__ u32& place_() const { return *reinterpret_cast<u32*>(structure_); }

      public:
        __device__ Id id() const { return reinterpret_cast<Id>(structure_); }

        __device__ explicit operator bool() const { return structure_ != nullptr; }

        template <u32 FIELD>
        __device__ auto& get() const {
            using Value = outboard::detail::FieldOf<Type, FIELD>;
            return *reinterpret_cast<Value*>(structure_ + stores::MEMBER_AT<Type, FIELD, HEAD>);
        }
    };

    __device__ explicit Store(const Run& theRun) : run(theRun) {}

    template <class Type>
    __device__ Object<Type> at(Id id) const {
        return Object<Type>(reinterpret_cast<unsigned char*>(id));
    }

    template <class Type>
    __device__ Object<Type> make(u32) const {
        const Object<Type> made(static_cast<unsigned char*>(allocator().malloc(stores::STRUCTURE_BYTES<Type, HEAD>)));
        if (made) {
            const Table& mine = table<Type>();
            const u32 place = stores::takeOne(&mine.index->tail);
            if (place >= mine.capacity) {
                __trap();
            }
            made.place_() = place;
            reinterpret_cast<u64*>(mine.arrays[mine.index->which])[place] = made.id();
        }
        return made;
    }

    template <class Type>
    __device__ Object<Type> move(const Object<Type>& object, u32) const {
        return object;
    }

    template <class Type>
    __device__ void destroy(const Object<Type>& object) const {
        const Table& mine = table<Type>();
        reinterpret_cast<u64*>(mine.arrays[mine.index->which])[object.place_()] = 0;
        stores::takeOne(&mine.index->holes);
        allocator().free(object.structure_);
    }

    template <class Type, class Function>
    __device__ void forEach(const Function& function) const {
        // Volatile: another thread may destroy objects meanwhile.
        visit<Type, volatile u64>(stores::thread(), stores::threads(), function);
    }

    template <class Type, class Function>
    __device__ void visitAll(const Function& function) const {
        visit<Type, u64>(0, 1, function);
    }

    template <class Type, class Pointer, class Function>
    __device__ void visit(u32 first, u32 step, const Function& function) const {
        const Table& mine = table<Type>();
        const u32 end = mine.index->listed;
        const auto* const pointers = reinterpret_cast<const Pointer*>(mine.arrays[mine.index->which]);
        for (u32 i = first; i < end; i += step) {
            const u64 id = pointers[i];
            if (id != 0) {
                function(at<Type>(id));
            }
        }
    }
};

// By all threads of a launch: packs the pointers of objects side by side, if some have ended since the last time.
__device__ inline void listStructures(const Run& run, u32 type) {
    const Table& mine = run.tables[type];
    Index& index = *mine.index;
    const u32 tail = index.tail;
    if (index.holes == 0) {
        if (stores::thread() == 0) {
            index.listed = tail;
        }
        return;
    }
    const u64* const from = reinterpret_cast<const u64*>(mine.arrays[index.which]);
    u64* const to = reinterpret_cast<u64*>(mine.arrays[1 - index.which]);
    // In whole warps, so that one addition serves each.
    for (u32 i = stores::thread(); (i & ~31u) < tail; i += stores::threads()) {
        const u64 id = i < tail ? from[i] : 0;
        const u32 place = stores::takeSome(&index.packed, id != 0);
        if (id != 0) {
            to[place] = id;
            *reinterpret_cast<u32*>(id) = place;
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&index.blocksDone, 1) == gridDim.x - 1) {
        index.which = 1 - index.which;
        index.tail = index.listed = atomicExch(&index.packed, 0);
        index.holes = index.blocksDone = 0;
    }
}

#elif defined(OUTBOARD_ARRAYS)

enum { AOS, SOA };

using Id = u32;
constexpr Id NONE = ~0u;

template <class... Types>
class Store {
    static_assert(stores::SAY_WHETHER_THEY_END<Types...>);

    // What a place has: nothing; an object that a do-all has visited; or one that none has, and whether the number of the type's lists
    // was odd when it was made. A do-all leaves out those made since its list, by that, and marks the others as visited: so at the
    // next list only those are left that have the other parity then. After each list there is a do-all.
    enum : unsigned char { NOTHING, VISITED, MADE };

    const Run& run;

    template <class Type>
    __device__ const Table& table() const {
        return run.tables[stores::INDEX_OF<Type, Types...>];
    }

  public:
    template <class Type>
    class Object : public outboard::detail::Accessors<Type, Object<Type>> {
        friend class Store;
        const Table* table_;
        Id number_;

        __device__ Object(const Table* theTable, Id theNumber) : table_(theTable), number_(theNumber) {}

      public:
        __device__ Id id() const { return number_; }

        __device__ explicit operator bool() const { return number_ != NONE; }

        template <u32 FIELD>
        __device__ outboard::detail::FieldOf<Type, FIELD>& get() const {
            using Value = outboard::detail::FieldOf<Type, FIELD>;
            if constexpr (OUTBOARD_ARRAYS == AOS) {
                constexpr u32 AT = stores::MEMBER_AT<Type, FIELD, 0>;
                return *reinterpret_cast<Value*>(table_->arrays[0] + number_ * stores::STRUCTURE_BYTES<Type, 0> + AT);
            } else {
                return reinterpret_cast<Value*>(table_->arrays[0] + stores::BEFORE<Type, FIELD> * table_->capacity)[number_];
            }
        }
    };

    __device__ explicit Store(const Run& theRun) : run(theRun) {}

    template <class Type>
    __device__ Object<Type> at(Id id) const {
        return Object<Type>(&table<Type>(), id);
    }

    template <class Type>
    __device__ Object<Type> make(u32 place) const {
        const Table& mine = table<Type>();
        if (place >= mine.capacity) {
            __trap();
        }
        if constexpr (Type::ENDS) {
            set(mine, place, madeNow(mine));
        } else {
            stores::takeOne(&mine.index->tail);
        }
        return at<Type>(place);
    }

    template <class Type>
    __device__ Object<Type> move(const Object<Type>& object, u32 place) const {
        const Object<Type> moved = make<Type>(place);
        copy(object, moved);
        destroy(object);
        return moved;
    }

    template <class Type>
    __device__ void destroy(const Object<Type>& object) const {
        static_assert(Type::ENDS, "objects of the type never end");
        set(*object.table_, object.number_, NOTHING);
    }

    template <class Type, class Function>
    __device__ void forEach(const Function& function) const {
        const Table& mine = table<Type>();
        const u32 last = end<Type>(mine);
        for (u32 i = stores::thread(); i < last; i += stores::threads()) {
            if constexpr (Type::ENDS) {
                // Volatile: another thread may make an object here meanwhile.
                const unsigned char seen = const_cast<volatile unsigned char*>(there(mine))[i];
                if (!isVisited(mine, seen)) {
                    continue;
                }
                if (seen != VISITED) {
                    set(mine, i, VISITED);
                }
            }
            function(at<Type>(i));
        }
    }

    template <class Type, class Function>
    __device__ void visitAll(const Function& function) const {
        const Table& mine = table<Type>();
        const u32 last = end<Type>(mine);
        for (u32 i = 0; i < last; ++i) {
            if constexpr (Type::ENDS) {
                if (!isVisited(mine, there(mine)[i])) {
                    continue;
                }
            }
            function(at<Type>(i));
        }
    }

  private:
    static __device__ unsigned char* there(const Table& table) {
        return reinterpret_cast<unsigned char*>(table.arrays[1]);
    }

    // Volatile: another thread may look meanwhile whether it is to visit what is there. Making and marking don't change its answer.
    static __device__ void set(const Table& table, u32 place, unsigned char what) {
        const_cast<volatile unsigned char*>(there(table))[place] = what;
    }

    static __device__ unsigned char madeNow(const Table& table) { return MADE + (table.lists & 1); }

    static __device__ bool isVisited(const Table& table, unsigned char seen) {
        return seen != NOTHING && seen != madeNow(table);
    }

    // Objects that never end are as many as were made, without gaps.
    template <class Type>
    static __device__ u32 end(const Table& table) {
        return Type::ENDS ? table.capacity : table.index->tail;
    }

    template <u32 FIELD = 0, class Type>
    static __device__ void copy(const Object<Type>& from, const Object<Type>& to) {
        if constexpr (FIELD < outboard::detail::FieldsOf<Type>::COUNT) {
            to.template get<FIELD>() = from.template get<FIELD>();
            copy<FIELD + 1>(from, to);
        }
    }
};

#endif

// For kernels that make objects, whatever the store: 64 registers a thread, so that a multiprocessor has as many warps as it has
// places for with that. They wait for memory most of their time.
#define OUTBOARD_MAKES __launch_bounds__(256, 4)

// The kernels that each program has beside its own: `list` before a do-all, where the store can't do it itself, and `end`,
// which destroys all objects of a type.
#ifdef OUTBOARD_ALLOCATOR
#define OUTBOARD_LIST                                                                          \
    extern "C" __global__ void list(const __grid_constant__ Run run, u32 type) { listStructures(run, type); }
#else
#define OUTBOARD_LIST
#endif

namespace stores {

#ifdef OUTBOARD_ARRAYS
constexpr bool GIVES_BACK = false;
#else
constexpr bool GIVES_BACK = true;
#endif

template <class Type, class Owner>
__device__ void endAll(const Owner& store) {
    if constexpr (GIVES_BACK || Type::ENDS) {
        store.template forEach<Type>([&](auto object) { store.destroy(object); });
    }
}

}  // namespace stores

// A counter-based generator's step: the state goes on by a linear congruence, and what it gives is permuted (O'Neill 2014, PCG
// RXS M XS 32).
__device__ inline u32 random(u32& state) {
    state = state * 747796405u + 2891336453u;
    const u32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

// Less than a limit.
__device__ inline u32 randomBelow(u32& state, u32 limit) {
    return static_cast<u32>(static_cast<u64>(random(state)) * limit >> 32);
}

// A state to begin with, for so many things.
__device__ inline u32 seedOf(u32 number) {
    u32 state = number * 2654435761u + 1;
    return random(state);
}
