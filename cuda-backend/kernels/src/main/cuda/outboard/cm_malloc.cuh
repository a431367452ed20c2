// CMMalloc: as CMalloc, with start offsets for each multiprocessor and a pre-split heap for each of them. Vinkler and
// Havran 2014, section 5.4; what differs is said in circular_malloc.cuh.
#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CMMalloc = detail::CircularMalloc<detail::SeparateState, detail::StartPerMultiprocessor>;

}  // namespace outboard
