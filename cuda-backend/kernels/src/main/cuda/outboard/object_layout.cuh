// Which fields the types of an ObjectHeap have, and where each lies in a block: an array of each field, one after the other
// (structure of arrays).
#pragma once

#include "platform.cuh"

namespace outboard {

// What a type of objects is made of. A type derives from it: struct Fish : outboard::Fields<float, float, u32> {};
template <class... Types>
struct Fields {};

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

template <class... Types>
FieldList<Types...> fieldsOf(const Fields<Types...>*);

template <class Type>
using FieldsOf = decltype(fieldsOf(static_cast<const Type*>(nullptr)));

template <u32 INDEX, class First, class... Rest>
struct Nth : Nth<INDEX - 1, Rest...> {};

template <class First, class... Rest>
struct Nth<0, First, Rest...> {
    using Type = First;
};

template <u32 INDEX, class... Types>
typename Nth<INDEX, Types...>::Type fieldOf(const Fields<Types...>*);

template <class Type, u32 INDEX>
using FieldOf = decltype(fieldOf<INDEX>(static_cast<const Type*>(nullptr)));

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

    // A number that differs between heaps of other types (FNV-1a: Fowler, Noll, Vo), as the host computes it too.
    static constexpr u64 number() {
        u64 hash = 0xCBF29CE484222325ull;
        const auto add = [&hash](u32 value) { hash = (hash ^ value) * 0x100000001B3ull; };
        const auto addType = [&add](const u32* sizes, u32 count) {
            add(count);
            for (u32 i = 0; i < count; ++i) {
                add(sizes[i]);
            }
        };
        add(COUNT);
        (addType(FieldsOf<Types>::SIZES, FieldsOf<Types>::COUNT), ...);
        return hash;
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
