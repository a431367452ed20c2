// All allocators.
#pragma once

#include "atomic_malloc.cuh"
#include "aw_malloc.cuh"
#include "bit_malloc.cuh"
#include "c_malloc.cuh"
#include "cf_malloc.cuh"
#include "cfm_malloc.cuh"
#include "cm_malloc.cuh"
#include "cuda_malloc.cuh"
#include "xmalloc.cuh"
