// What programs share whose cells are on a torus: a cell has the fields place, left, right, above and below.
#pragma once

#include "stores.cuh"

namespace {

constexpr u32 SIDES = 4;

// Words of the run, and the first of a program's own. IDS: of all cells by place.
enum { WIDTH = OWN, CELLS, IDS, OWN_OF_TORUS };

__device__ Id& idAt(const Run& run, u32 place) { return reinterpret_cast<Id*>(run.words[IDS])[place]; }

// Two opposite sides differ in the lowest bit of their numbers.
template <class Object>
__device__ Id sideOf(const Object& cell, u32 number) {
    switch (number) {
        case 0: return cell.left();
        case 1: return cell.right();
        case 2: return cell.above();
        default: return cell.below();
    }
}

// Once all cells are made.
template <class Object>
__device__ void setSides(const Run& run, const Object& cell) {
    const u32 width = static_cast<u32>(run.words[WIDTH]);
    const u32 cells = static_cast<u32>(run.words[CELLS]);
    const u32 place = cell.place();
    const u32 column = place % width;
    const u32 row = place - column;
    cell.left() = idAt(run, row + (column + width - 1) % width);
    cell.right() = idAt(run, row + (column + 1) % width);
    cell.above() = idAt(run, (place + cells - width) % cells);
    cell.below() = idAt(run, (place + width) % cells);
}

// The set bit with so many before it.
__device__ u32 nth(u32 bits, u32 before) {
    for (; before != 0; --before) {
        bits &= bits - 1;
    }
    return __ffs(static_cast<int>(bits)) - 1;
}

}  // namespace
