// What the programs on fibers that try ObjectHeap share.
#pragma once

#include <cstring>

#include "trials.h"

#include "outboard/object_heap.cuh"
#include "outboard/object_setup.cuh"

namespace outboard {

// As the host makes it.
template <class... Types>
ObjectPlan planOf(MakeOrder order = NEAR_FIRST) {
    using Layout = detail::ObjectLayout<Types...>;
    return {Layout::number(), Layout::COUNT, Layout::blockBytes(), {ObjectHeap<Types...>::template SLOTS<Types>...}, order};
}

// Whether that is what numbers say: the number of the layout, the bytes of a block, and the slots of each type.
inline bool isPlan(const ObjectPlan& plan, char** numbers) {
    std::vector<u64> layout = {plan.number, plan.blockBytes};
    layout.insert(layout.end(), plan.slots, plan.slots + plan.typeCount);
    bool same = true;
    for (u32 i = 0; i < layout.size(); ++i) {
        std::printf("%llu ", layout[i]);
        same &= layout[i] == std::strtoull(numbers[i], nullptr, 10);
    }
    return same;
}

// A heap with as many blocks as there is room for, over memory that was something else before.
inline Objects* makeObjects(unsigned char* memory, u64 bytes, u32 multiprocessors, const ObjectPlan& plan) {
    std::memset(memory, 0xA5, bytes);
    Objects* const objects = reinterpret_cast<Objects*>(memory);
    require(formatObjects(objects, bytes, multiprocessors, plan), "no room for tables");
    const Objects control = *objects;
    require(detail::placeObjects(objects, control.blocks + 1) > reinterpret_cast<u64>(memory) + bytes, "there is room for another block");
    *objects = control;
    const u64 threads = 1 + chance.below(4);
    for (u64 thread = 0; thread < threads; ++thread) {
        clearObjects(objects, thread, threads);
    }
    require(objects->data + static_cast<u64>(objects->blocks) * objects->blockBytes <= memory + bytes, "the blocks leave the memory");
    return objects;
}

// That the bits above say what is below, while no call is under way.
inline void requireLevels(const detail::Bitmap<3>& map, u32 blocks) {
    u32 bits = blocks;
    for (u32 level = 0; level < 2; ++level) {
        bits = (bits + 63) / 64;
        for (u32 word = 0; word < bits; ++word) {
            require((map.word(level, word).load() != 0) == ((map.word(level + 1, word / 64).load() >> word % 64 & 1) != 0),
                    "a search wouldn't look at a word that has bits, or looks at one that has none");
        }
    }
}

}  // namespace outboard
