// A published allocator as a program's, and what programs over one share. Sources of allocators need something to be compiled by
// nvcc 13, and to run on newer cards.
//
//   -DPEER_HALLOC              Halloc (Adinetz and Pleiter 2014), with its own settings
//   -DPEER_MALLOC_MC           mallocMC (Steinberger et al. 2012; Eckert 2014), with the settings of its examples, without coalescing,
//                              which its authors leave out for newer GPUs
#pragma once

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(PEER_HALLOC)

// Halloc's table of where slabs lie begins as far below the first one as the card's memory is large, and reaches 64 GB. So a card
// must not be larger.
inline cudaError_t propertiesOfSmallCard(cudaDeviceProp* properties, int device) {
    const cudaError_t error = cudaGetDeviceProperties(properties, device);
    constexpr size_t most = size_t{16} << 30;
    properties->totalGlobalMem = properties->totalGlobalMem < most ? properties->totalGlobalMem : most;
    return error;
}

// What CUDA had before threads of a warp could be apart.
#define __shfl(value, lane) __shfl_sync(__activemask(), value, lane)
#define __ballot(condition) __ballot_sync(__activemask(), condition)
#define __any(condition) __any_sync(__activemask(), condition)
#define __all(condition) __all_sync(__activemask(), condition)

#define cudaGetDeviceProperties propertiesOfSmallCard

#include "utils.cu"

#include "halloc.cu"

#undef cudaGetDeviceProperties
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

// A kernel that hangs would go on where the process that waits for this one is ended.
[[maybe_unused]] void endWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

// Destructors aren't called: those of allocators need a device that works.
void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::_Exit(1);
    }
}

[[maybe_unused]] void* zeroes(outboard::u64 bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0, bytes));
    return memory;
}

}  // namespace

#define OUTBOARD_ALLOCATOR Peer
