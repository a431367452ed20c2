#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CMalloc = CircularMalloc<SeparateState, SharedStart>;

}  // namespace outboard
