// Which fields the types of an ObjectHeap have, and where each lies in a block: an array of each field, one after the other
// (structure of arrays).
#pragma once

#include "platform.cuh"

namespace outboard {

// The fields of a type of objects: the C++ type and the name of each, in a list without commas. A type may extend another one, and
// has the other's fields first:
//
//     struct Animal { OUTBOARD_FIELDS((float, x)(float, y)) };
//     struct Shark : outboard::Extends<Animal> { OUTBOARD_FIELDS((u32, hunger)) };
//
// An object has a function of each name, which returns a reference to the field: shark.x() += 1. A C++ type with a comma needs
// an alias. The enumeration makes it an error to name a field twice, or like a function that all objects have. Names are what a
// template has, since nvcc warns of another function that a program without an ObjectHeap doesn't call.
#define OUTBOARD_FIELDS(list)                                                                                          \
    using OutboardFields = outboard::detail::FieldsAfter<void OUTBOARD_LAST(OUTBOARD_TYPES_A list)>;                   \
    struct OutboardNumber {                                                                                            \
        enum : int { id = -1, get = -1, is = -1, as = -1, OUTBOARD_LAST(OUTBOARD_NUMBERS_A list) };                    \
    };                                                                                                                 \
    template <class = void>                                                                                            \
    static constexpr const char* outboardNames() {                                                                     \
        return OUTBOARD_LAST(OUTBOARD_NAMES_A list);                                                                   \
    }                                                                                                                  \
    template <class Object, unsigned FIRST>                                                                            \
    struct OutboardAccessors {                                                                                         \
        OUTBOARD_LAST(OUTBOARD_ACCESSORS_A list)                                                                       \
    };

// A list is gone through by two macros in turns, each of which leaves the other's name before the next element; behind the last
// element that name gets an ending that makes it a macro of nothing.
#define OUTBOARD_LAST(...) OUTBOARD_LAST_OF(__VA_ARGS__)
#define OUTBOARD_LAST_OF(...) __VA_ARGS__##_END
#define OUTBOARD_TYPES_A(type, name) , type OUTBOARD_TYPES_B
#define OUTBOARD_TYPES_B(type, name) , type OUTBOARD_TYPES_A
#define OUTBOARD_TYPES_A_END
#define OUTBOARD_TYPES_B_END
#define OUTBOARD_NUMBERS_A(type, name) name, OUTBOARD_NUMBERS_B
#define OUTBOARD_NUMBERS_B(type, name) name, OUTBOARD_NUMBERS_A
#define OUTBOARD_NUMBERS_A_END
#define OUTBOARD_NUMBERS_B_END
#define OUTBOARD_NAMES_A(type, name) #name " " OUTBOARD_NAMES_B
#define OUTBOARD_NAMES_B(type, name) #name " " OUTBOARD_NAMES_A
#define OUTBOARD_NAMES_A_END
#define OUTBOARD_NAMES_B_END
#define OUTBOARD_ACCESSORS_A(type, name) OUTBOARD_ACCESSOR(name) OUTBOARD_ACCESSORS_B
#define OUTBOARD_ACCESSORS_B(type, name) OUTBOARD_ACCESSOR(name) OUTBOARD_ACCESSORS_A
#define OUTBOARD_ACCESSORS_A_END
#define OUTBOARD_ACCESSORS_B_END
#define OUTBOARD_ACCESSOR(name)                                                                                        \
    OUTBOARD_DEVICE auto& name() const {                                                                               \
        return static_cast<const Object&>(*this).template get<FIRST + OutboardNumber::name>();                         \
    }

namespace detail {

// C++ types of fields.
template <class... Types>
struct Fields {};

}  // namespace detail

// What a type derives from that extends another one. By itself it adds no fields.
template <class Base>
struct Extends {
    using OutboardBase = Base;
    using OutboardFields = detail::Fields<>;
    static constexpr const char* outboardNames() {
        return "";
    }
    // Of each base another one, since no class may have the same base twice.
    template <class Object, u32 FIRST>
    struct OutboardAccessors {};
};

// Stands for a type and all that extend it, where an object or a do-all isn't of exactly one.
template <class Base>
struct Any {};

namespace detail {

constexpr u32 SLOT_LOG2 = 6;
constexpr u32 MOST_SLOTS = 1u << SLOT_LOG2;

// Arrays begin with a sector of the L2 cache, blocks with a line.
constexpr u32 ARRAY_ALIGNMENT = 32;
constexpr u32 BLOCK_ALIGNMENT = 128;

constexpr u32 roundedUp(u32 bytes, u32 alignment) {
    return (bytes + alignment - 1) & ~(alignment - 1);
}

template <class... Types>
struct FieldList {
    static constexpr u32 COUNT = sizeof...(Types);
    static constexpr u32 SIZES[COUNT] = {sizeof(Types)...};
    static_assert(((alignof(Types) <= ARRAY_ALIGNMENT) && ...), "a field is aligned to 32 bytes at most");

    // Where the array of a field begins in a block of so many objects; of the one after the last: where it ends.
    static constexpr u32 offsetOf(u32 field, u32 slots) {
        u32 offset = 0;
        for (u32 i = 0; i < field; ++i) {
            offset += roundedUp(SIZES[i] * slots, ARRAY_ALIGNMENT);
        }
        return offset;
    }

    static constexpr u32 bytesOf(u32 slots) {
        return offsetOf(COUNT, slots);
    }

    // How many objects a block of so many bytes has.
    static constexpr u32 slotsIn(u32 blockBytes) {
        u32 slots = MOST_SLOTS;
        while (bytesOf(slots) > blockBytes) {
            --slots;
        }
        return slots;
    }
};

// The macro's list begins with a comma.
template <class First, class... Types>
using FieldsAfter = Fields<Types...>;

template <class Type, class = void>
struct BaseOf {
    using Base = void;
};

template <class... Types>
using Void = void;

template <class Type>
struct BaseOf<Type, Void<typename Type::OutboardBase>> {
    using Base = typename Type::OutboardBase;
};

// What is known of a type: its fields, those of its base first.
template <class Type, class Base = typename BaseOf<Type>::Base>
struct Declared;

template <class... Inherited, class... Own>
Fields<Inherited..., Own...> joined(Fields<Inherited...>, Fields<Own...>);

template <class... Types>
FieldList<Types...> listOf(Fields<Types...>);

template <class... Types>
constexpr u32 numberOf(Fields<Types...>) {
    return sizeof...(Types);
}

template <>
struct Declared<void, void> {
    using All = Fields<>;
    static constexpr u32 COUNT = 0;
    static constexpr u32 LEVELS = 0;
};

template <class Type, class Base>
struct Declared {
    using All = decltype(joined(typename Declared<Base>::All(), typename Type::OutboardFields()));
    static constexpr u32 FIRST = Declared<Base>::COUNT;
    static constexpr u32 COUNT = numberOf(All());
    static constexpr u32 LEVELS = Declared<Base>::LEVELS + 1;
    static_assert(COUNT != 0, "a type has a field of its own or of its base's");
};

// All fields of a type.
template <class Type>
using FieldsOf = decltype(listOf(typename Declared<Type>::All()));

// Whether a type is another one, or extends it, or a type that does.
template <class Type, class Base>
constexpr bool DERIVES = DERIVES<typename BaseOf<Type>::Base, Base>;

template <class Type>
constexpr bool DERIVES<Type, Type> = true;

template <class Base>
constexpr bool DERIVES<void, Base> = false;

// What a type stands for where Any may stand: what each object is at least.
template <class Type>
struct Asked {
    using Least = Type;
    static constexpr bool IS_ANY = false;
};

template <class Base>
struct Asked<Any<Base>> {
    using Least = Base;
    static constexpr bool IS_ANY = true;
};

// Whether an object of exactly a type is what is asked for.
template <class Exact, class Type>
constexpr bool IS = false;

template <class Exact>
constexpr bool IS<Exact, Exact> = true;

template <class Exact, class Base>
constexpr bool IS<Exact, Any<Base>> = DERIVES<Exact, Base>;

template <bool>
struct If {};

template <>
struct If<true> {
    using Type = void;
};

// The functions that have the names of a type's fields. Object, which derives from it, has them by numbers.
template <class Type, class Object, class Base = typename BaseOf<Type>::Base>
struct Accessors : Accessors<Base, Object>, Type::template OutboardAccessors<Object, Declared<Type>::FIRST> {};

template <class Object>
struct Accessors<void, Object, void> {};

template <u32 INDEX, class First, class... Rest>
struct Nth : Nth<INDEX - 1, Rest...> {};

template <class First, class... Rest>
struct Nth<0, First, Rest...> {
    using Type = First;
};

template <u32 INDEX, class... Types>
typename Nth<INDEX, Types...>::Type fieldOf(Fields<Types...>);

template <class Type, u32 INDEX>
using FieldOf = decltype(fieldOf<INDEX>(typename Declared<Type>::All()));

// The types of one heap. The smallest one has 64 objects in a block, and every other has room for one.
template <class... Types>
struct ObjectLayout {
    static constexpr u32 COUNT = sizeof...(Types);

    static constexpr u32 blockBytes() {
        u32 bytes = ~0u;
        u32 one = 0;
        for (const u32 all : {FieldsOf<Types>::bytesOf(MOST_SLOTS)...}) {
            bytes = all < bytes ? all : bytes;
        }
        for (const u32 single : {FieldsOf<Types>::bytesOf(1)...}) {
            one = single > one ? single : one;
        }
        return roundedUp(bytes > one ? bytes : one, BLOCK_ALIGNMENT);
    }

    // A number that differs between heaps of other types (FNV-1a: Fowler, Noll, Vo), as the host computes it too: of each type the
    // fields, level by level from the last base on, and which types share the level.
    static constexpr u64 number() {
        Hash hash;
        hash.add(COUNT);
        ((hash.add(Declared<Types>::LEVELS), addLevels(hash, static_cast<Types*>(nullptr))), ...);
        return hash.value;
    }

    template <class Type>
    static constexpr u32 indexOf() {
        u32 index = 0;
        for (const bool same : {isSame(static_cast<Type*>(nullptr), static_cast<Types*>(nullptr))...}) {
            if (same) {
                return index;
            }
            ++index;
        }
        throw "a type of the heap's";  // not in a constant
    }

  private:
    struct Hash {
        u64 value = 0xCBF29CE484222325ull;

        constexpr void add(u32 next) {
            value = (value ^ next) * 0x100000001B3ull;
        }
    };

    // The first type that is another one or derives from it.
    template <class Base>
    static constexpr u32 firstOf() {
        u32 index = 0;
        for (const bool derives : {DERIVES<Types, Base>...}) {
            if (derives) {
                break;
            }
            ++index;
        }
        return index;
    }

    template <class Type>
    static constexpr void addLevels(Hash& hash, const Type*) {
        addLevels(hash, static_cast<typename BaseOf<Type>::Base*>(nullptr));
        hash.add(firstOf<Type>());
        hash.add(Declared<Type>::COUNT - Declared<Type>::FIRST);
        for (u32 i = Declared<Type>::FIRST; i < Declared<Type>::COUNT; ++i) {
            hash.add(FieldsOf<Type>::SIZES[i]);
        }
        for (const char* name = Type::outboardNames(); *name != 0; ++name) {
            hash.add(static_cast<unsigned char>(*name));
        }
    }

    static constexpr void addLevels(Hash&, const void*) {}

    template <class A>
    static constexpr bool isSame(A*, A*) {
        return true;
    }

    static constexpr bool isSame(const volatile void*, const volatile void*) {
        return false;
    }
};

}  // namespace detail

}  // namespace outboard
