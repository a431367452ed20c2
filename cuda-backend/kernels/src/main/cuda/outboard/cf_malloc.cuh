// CFMalloc: as CMalloc, with a chunk's flag and start fused in one word. Vinkler and Havran 2014, section 5.3; what
// differs is said in circular_malloc.cuh. 12 bytes of tables for each 512 of the heap.
#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CFMalloc = detail::CircularMalloc<detail::FusedState, detail::SharedStart>;

}  // namespace outboard
