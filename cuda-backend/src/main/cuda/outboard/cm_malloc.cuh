#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CMMalloc = CircularMalloc<SeparateState, StartPerMultiprocessor>;

}  // namespace outboard
