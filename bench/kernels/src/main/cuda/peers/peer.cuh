// A published allocator as a program's: its sources, and what they need to be compiled by nvcc 13.
//
//   -DPEER_HALLOC              Halloc (Adinetz and Pleiter 2014), with its own settings
//   -DPEER_MALLOC_MC           mallocMC (Steinberger et al. 2012; Eckert 2014), with the settings of its examples, without coalescing,
//                              which its authors leave out for newer GPUs
#pragma once

#if defined(PEER_HALLOC)

// What CUDA had before threads of a warp could be apart.
#define __shfl(value, lane) __shfl_sync(__activemask(), value, lane)
#define __ballot(condition) __ballot_sync(__activemask(), condition)
#define __any(condition) __any_sync(__activemask(), condition)
#define __all(condition) __all_sync(__activemask(), condition)

#include "utils.cu"

#include "halloc.cu"

#undef __shfl
#undef __ballot
#undef __any
#undef __all

#else

#include <mallocMC/mallocMC.hpp>

#endif

#include "outboard/heap.cuh"

namespace {

#if defined(PEER_HALLOC)

struct Peer {
    const outboard::Heap* unused;

    static void make(void*, size_t bytes) { ha_init(halloc_opts_t(bytes)); }

    __device__ void* malloc(size_t bytes) const { return hamalloc(bytes); }

    __device__ void free(void* block) const { hafree(block); }
};

#else

struct HeapSettings : mallocMC::CreationPolicies::Scatter<>::HeapProperties {
    static constexpr auto pagesize = 4096;
    static constexpr auto accessblocks = 8;
    static constexpr auto regionsize = 16;
    static constexpr auto wastefactor = 2;
    static constexpr auto resetfreedpages = true;
};

struct HashSettings : mallocMC::CreationPolicies::Scatter<>::HashingProperties {
    static constexpr auto hashingK = 38183;
    static constexpr auto hashingDistMP = 17497;
    static constexpr auto hashingDistWP = 1;
    static constexpr auto hashingDistWPRel = 1;
};

struct Alignment : mallocMC::AlignmentPolicies::Shrink<>::Properties {
    static constexpr auto dataAlignment = 16;
};

using Scatter = mallocMC::Allocator<
        mallocMC::CreationPolicies::Scatter<HeapSettings, HashSettings>, mallocMC::DistributionPolicies::Noop,
        mallocMC::OOMPolicies::ReturnNull, mallocMC::ReservePoolPolicies::SimpleCudaMalloc,
        mallocMC::AlignmentPolicies::Shrink<Alignment>>;

struct Peer {
    const outboard::Heap* handle;

    static void make(void* control, size_t bytes) {
        static Scatter allocator(bytes);
        const Scatter::AllocatorHandle handle = allocator;
        std::memcpy(control, &handle, sizeof(handle));
    }

    __device__ Scatter::AllocatorHandle allocator() const {
        return *reinterpret_cast<const Scatter::AllocatorHandle*>(handle);
    }

    __device__ void* malloc(size_t bytes) const { return allocator().malloc(bytes); }

    __device__ void free(void* block) const { allocator().free(block); }
};

#endif

}  // namespace

#define OUTBOARD_ALLOCATOR Peer
