// ObjectHeap: objects of a few declared types, for kernels that run one method on all objects of a type (Springer 2019,
// DynaSOAR). The heap is divided into blocks of equal size. A block has up to 64 objects, all of one type, with an array for
// each field: threads side by side that read a field of objects side by side read memory side by side.
//
//     struct Animal { OUTBOARD_FIELDS((float, x)(float, y)(u32, age)) };
//     struct Fish : outboard::Extends<Animal> {};
//     struct Shark : outboard::Extends<Animal> { OUTBOARD_FIELDS((u32, hunger)) };
//     using Sea = outboard::ObjectHeap<Fish, Shark>;
//
//     __global__ void swim(const __grid_constant__ outboard::Objects objects) {
//         Sea sea(&objects);
//         sea.forEach<Fish>([&](auto fish) {
//             fish.x() += 1;
//             if (fish.age()++ == 7) {
//                 const auto young = sea.make<Fish>();
//             }
//         });
//     }
//
// A type that others extend is one of the heap's too, or abstract, if ObjectHeap<...> doesn't name it: then it has no objects of its own.
// Object<Fish> is exactly a fish. Object<Any<Animal>> is an animal or of a type that extends it: it reads from its block what it
// is, and is<Shark>() and as<Shark>() tell. forEach<Any<Animal>> visits all animals, each as what it exactly is.
//
// By one kernel: one heap. Threads of a warp that come together make objects of the same type; they destroy those of any.
//
// Memory order, beside that of object_claims.cuh:
// - forEach reads `visits` and the list of blocks, which another kernel wrote. Destroying clears bits of `visits` meanwhile: a
//   thread that destroys an object which another one is to visit must know itself whether it was.
#pragma once

#include "object_claims.cuh"

namespace outboard {

// The heap, as kernels with these types see it. Cheap to make, and to copy.
template <class... Types>
class ObjectHeap {
    using Layout = detail::ObjectLayout<Types...>;
    static constexpr u32 BLOCK_BYTES = Layout::blockBytes();
    static_assert(Layout::COUNT <= MOST_OBJECT_TYPES, "a heap has 16 types at most");

    const Objects* objects;

    // Constants, since a kernel can't call a constexpr function of the host's.
    static constexpr u64 NUMBER = Layout::number();

    template <class Type>
    static constexpr u32 INDEX = Layout::template indexOf<Type>();

    OUTBOARD_DEVICE unsigned char* dataOf(u32 block) const {
        return objects->data + static_cast<u64>(block) * BLOCK_BYTES;
    }

    template <class Type>
    OUTBOARD_DEVICE auto inBlock(u32 block, u32 slot) const {
        return Object<Type>(dataOf(block), block << detail::SLOT_LOG2 | slot, slot);
    }

    template <class Exact, class Type, class Function>
    OUTBOARD_DEVICE void forEachIf(u64 thread, u64 threads, const Function& function) const {
        if constexpr (detail::IS<Exact, Type>) {
            forEach<Exact>(thread, threads, function);
        }
    }

    template <class Exact, class Type, class Function>
    OUTBOARD_DEVICE void visitAllIf(const Function& function) const {
        if constexpr (detail::IS<Exact, Type>) {
            visitAll<Exact>(function);
        }
    }

    static constexpr u32 NO_TYPE = ~0u;

    // Whether any objects of the heap are what is asked for.
    template <class Type>
    static constexpr bool IS_HERE = (detail::IS<Types, Type> || ...);

  public:
    // How many objects of a type a block has.
    template <class Type>
    static constexpr u32 SLOTS = detail::FieldsOf<Type>::slotsIn(BLOCK_BYTES);

    // Where the array of one of its fields begins in a block.
    template <class Type, u32 FIELD>
    static constexpr u32 OFFSET = detail::FieldsOf<Type>::offsetOf(FIELD, SLOTS<Type>);

    // An object of exactly a type, or none. It has the functions that OUTBOARD_FIELDS made: so that these may have any name, what
    // is the heap's alone ends with a line.
    template <class Type>
    class Object : public detail::Accessors<Type, Object<Type>> {
        friend class ObjectHeap;

        unsigned char* block_;
        u32 number_;
        u32 slot_;  // in the block, which the number says as well: known apart, a loop over a block's slots is one over addresses

        OUTBOARD_DEVICE Object(unsigned char* theBlock, u32 theNumber, u32 theSlot) : block_(theBlock), number_(theNumber), slot_(theSlot) {}

        OUTBOARD_DEVICE u32 type_() const {
            return INDEX<Type>;
        }

      public:
        // What other objects' fields hold of it: at() makes an object of that again. NO_OBJECT for none.
        OUTBOARD_DEVICE u32 id() const {
            return number_;
        }

        OUTBOARD_DEVICE explicit operator bool() const {
            return number_ != NO_OBJECT;
        }

        // Field number FIELD; those of the base come first.
        template <u32 FIELD>
        OUTBOARD_DEVICE detail::FieldOf<Type, FIELD>& get() const {
            using Value = detail::FieldOf<Type, FIELD>;
            return reinterpret_cast<Value*>(block_ + OFFSET<Type, FIELD>)[slot_];
        }
    };

    // An object of a type or of one that extends it, or none. What it exactly is, is looked up once; where its fields are differs
    // between types, so each access to another field than the first has to choose.
    template <class Base>
    class Object<Any<Base>> : public detail::Accessors<Base, Object<Any<Base>>> {
        friend class ObjectHeap;

        unsigned char* block_;
        u32 number_;
        u32 slot_;
        u32 exact_;  // the index of its type; NO_TYPE for none

        OUTBOARD_DEVICE Object(unsigned char* theBlock, u32 theNumber, u32 theSlot, u32 theType)
                : block_(theBlock), number_(theNumber), slot_(theSlot), exact_(theType) {}

        OUTBOARD_DEVICE u32 type_() const {
            return exact_;
        }

        template <class Exact, class Type>
        OUTBOARD_DEVICE bool isExactly_() const {
            if constexpr (detail::IS<Exact, Type> && detail::IS<Exact, Any<Base>>) {
                return exact_ == INDEX<Exact>;
            } else {
                return false;
            }
        }

        template <class Exact, u32 FIELD>
        OUTBOARD_DEVICE u32 offsetIfExactly_(u32 otherwise) const {
            if constexpr (detail::IS<Exact, Any<Base>>) {
                return exact_ == INDEX<Exact> ? OFFSET<Exact, FIELD> : otherwise;
            } else {
                return otherwise;
            }
        }

      public:
        // Any object that is a Base may be taken for one.
        template <class Type, class = typename detail::If<detail::DERIVES<typename detail::Asked<Type>::Least, Base>>::Type>
        OUTBOARD_DEVICE Object(const Object<Type>& other)
                : block_(other.block_), number_(other.number_), slot_(other.slot_), exact_(other ? other.type_() : NO_TYPE) {}

        OUTBOARD_DEVICE u32 id() const {
            return number_;
        }

        OUTBOARD_DEVICE explicit operator bool() const {
            return number_ != NO_OBJECT;
        }

        // Whether it is exactly of a type; or with Any<Type>, of one that extends it, too. None is nothing.
        template <class Type>
        OUTBOARD_DEVICE bool is() const {
            static_assert(((detail::IS<Types, Type> && detail::DERIVES<Types, Base>) || ...), "what an object of the type can be");
            return (isExactly_<Types, Type>() || ...);
        }

        // The object as what it is; none if it isn't.
        template <class Type>
        OUTBOARD_DEVICE Object<Type> as() const {
            const u32 its = is<Type>() ? number_ : NO_OBJECT;
            if constexpr (detail::Asked<Type>::IS_ANY) {
                return Object<Type>(block_, its, slot_, exact_);
            } else {
                return Object<Type>(block_, its, slot_);
            }
        }

        template <u32 FIELD>
        OUTBOARD_DEVICE detail::FieldOf<Base, FIELD>& get() const {
            using Value = detail::FieldOf<Base, FIELD>;
            u32 offset = 0;
            ((offset = offsetIfExactly_<Types, FIELD>(offset)), ...);
            return reinterpret_cast<Value*>(block_ + offset)[slot_];
        }
    };

    // Ends the kernel, and its CUDA context with an error, if the heap was made for other types.
    OUTBOARD_DEVICE explicit ObjectHeap(const Objects* theObjects) : objects(theObjects) {
        if (objects->layout != LAYOUT_OBJECTS || objects->number != NUMBER) {
            stop();
        }
    }

    // The object of an id: of exactly a type, as the caller knows; or with Any<Type>, as its block says, and none if that has objects
    // of other types.
    template <class Type>
    OUTBOARD_DEVICE Object<Type> at(u32 id) const {
        const u32 block = id >> detail::SLOT_LOG2;
        const u32 slot = id & (detail::MOST_SLOTS - 1);
        if constexpr (detail::Asked<Type>::IS_ANY) {
            static_assert(IS_HERE<Type>, "a type of the heap's is one");
            const u32 exact = id == NO_OBJECT ? NO_TYPE : detail::typeOf(objects, block);
            const bool isOne = ((detail::IS<Types, Type> && exact == INDEX<Types>) || ...);
            return isOne ? Object<Type>(dataOf(block), id, slot, exact) : Object<Type>(nullptr, NO_OBJECT, 0, NO_TYPE);
        } else {
            return inBlock<Type>(block, slot);
        }
    }

    // A new object, with whatever stood in its place; none if there is no room. Costs one claim for the threads of a warp that
    // come together.
    template <class Type>
    OUTBOARD_DEVICE Object<Type> make() const {
        return at<Type>(detail::makeObject(objects, INDEX<Type>));
    }

    // Ends an object. No thread may use it any more.
    template <class Type>
    OUTBOARD_DEVICE void destroy(const Object<Type>& object) const {
        detail::destroyObject(objects, object.type_(), object.number_);
    }

    // Calls a function with each object that there was when the list was made (listObjects), but those destroyed since. By as
    // many threads as take part, each with its number among them. With Any<Type>, each object of a type that extends it, too: one
    // type after the other, and the function is called with what each exactly is.
    template <class Type, class Function>
    OUTBOARD_DEVICE void forEach(u64 thread, u64 threads, const Function& function) const {
        if constexpr (detail::Asked<Type>::IS_ANY) {
            static_assert(IS_HERE<Type>, "a type of the heap's is one");
            (forEachIf<Types, Type>(thread, threads, function), ...);
        } else {
            const ObjectType& mine = objects->type[INDEX<Type>];
            const u64 count = *mine.listed * SLOTS<Type>;
            for (u64 i = thread; i < count; i += threads) {
                const u32 block = mine.list[i / SLOTS<Type>];
                const u32 slot = static_cast<u32>(i % SLOTS<Type>);
                if ((GlobalAtomic<u64>(objects->visits[block]).load() & detail::bit64(slot)) != 0) {
                    function(inBlock<Type>(block, slot));
                }
            }
        }
    }

    // The same by one thread. Threads that do so visit them in the same order: those of a warp that come together read the same
    // memory, and each word of it once.
    template <class Type, class Function>
    OUTBOARD_DEVICE void visitAll(const Function& function) const {
        if constexpr (detail::Asked<Type>::IS_ANY) {
            static_assert(IS_HERE<Type>, "a type of the heap's is one");
            (visitAllIf<Types, Type>(function), ...);
        } else {
            const ObjectType& mine = objects->type[INDEX<Type>];
            const u64 count = *mine.listed;
            for (u64 i = 0; i < count; ++i) {
                const u32 block = mine.list[i];
                const u64 visits = GlobalAtomic<u64>(objects->visits[block]).load();
                if (visits == mine.slots) {
                    // Apart, so that a compiler can unroll it.
                    for (u32 slot = 0; slot < SLOTS<Type>; ++slot) {
                        function(inBlock<Type>(block, slot));
                    }
                    continue;
                }
                for (u64 left = visits; left != 0; left &= left - 1) {
                    function(inBlock<Type>(block, lowestBit(left)));
                }
            }
        }
    }

#ifndef OUTBOARD_PLATFORM
    // The same by all threads of a kernel with one-dimensional blocks.
    template <class Type, class Function>
    OUTBOARD_DEVICE void forEach(const Function& function) const {
        forEach<Type>(static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x, static_cast<u64>(gridDim.x) * blockDim.x, function);
    }
#endif
};

}  // namespace outboard
