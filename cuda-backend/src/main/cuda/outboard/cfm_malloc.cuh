#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CFMMalloc = CircularMalloc<FusedState, StartPerMultiprocessor>;

}  // namespace outboard
