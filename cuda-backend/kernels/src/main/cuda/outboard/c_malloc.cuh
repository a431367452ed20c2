// CMalloc: the heap as a circular list of chunks, one start offset, flags and starts in words of their own. Vinkler and
// Havran 2014, section 5.2; what differs is said in circular_malloc.cuh. 16 bytes of tables for each 512 of the heap.
#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CMalloc = detail::CircularMalloc<detail::SeparateState, detail::SharedStart>;

// The same with a doubly linked list.
using DoubleCMalloc = detail::CircularMalloc<detail::SeparateState, detail::SharedStart, true>;

}  // namespace outboard
