// CFMMalloc: as CFMalloc, with start offsets for each multiprocessor and a pre-split heap for each of them. Vinkler and
// Havran 2014, section 5.4; what differs is said in circular_malloc.cuh.
#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CFMMalloc = detail::CircularMalloc<detail::FusedState, detail::StartPerMultiprocessor>;

// The same with a doubly linked list.
using DoubleCFMMalloc = detail::CircularMalloc<detail::FusedState, detail::StartPerMultiprocessor, true>;

}  // namespace outboard
