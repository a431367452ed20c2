#pragma once

#include "circular_malloc.cuh"
#include "coalesced.cuh"

namespace outboard {

using CFMalloc = CircularMalloc<FusedState, SharedStart>;

}  // namespace outboard
