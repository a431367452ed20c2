// FDGMalloc (Widmer et al. 2013) in the bench's tests: outboard::WarpArena, with the chunks from CUDA's malloc, as there, or from
// BitMalloc. An arena frees all that it has handed out at once, so frees of the tests become this:
//
//     ACD         a thread's allocations come from one arena; each free does nothing, and the arena's end frees all. Vinkler and
//                 Havran 2014 have it so: "the first allocation of a superblock is reused in the nine subsequent allocations"
//     AD, AD fused, P   a thread holds one block at most, so each block has an arena of its own, and a free ends the arena
//
// The bench has only one thread of each warp allocate here: the arena is the warp's.
#pragma once

#include "outboard/warp_arena.cuh"

template <class Behind, bool JOINS = false>
struct ArenaMalloc {
    using Arena = outboard::WarpArena<Behind, JOINS>;

    const outboard::Heap* heap;

    // The first chunk has room for the block, so this begins right behind the chunk's header: by that, free finds the arena.
    __device__ void* malloc(size_t bytes) {
        const size_t needed = Arena::HEADER_BYTES + (bytes + outboard::UNIT_BYTES - 1) / outboard::UNIT_BYTES * outboard::UNIT_BYTES;
        Arena arena(Behind{heap}, needed > Arena::DEFAULT_CHUNK_BYTES ? needed : Arena::DEFAULT_CHUNK_BYTES);
        void* const block = arena.malloc(bytes);
        if (block == nullptr) {
            arena.freeAll();
        }
        return block;
    }

    __device__ void free(void* block) {
        if (block != nullptr) {
            Arena::resume(Behind{heap}, static_cast<unsigned char*>(block) - Arena::HEADER_BYTES).freeAll();
        }
    }
};

// What nvcc's -D can name: it takes no comma.
template <class Behind>
using JoiningArenaMalloc = ArenaMalloc<Behind, true>;

template <class Behind, bool JOINS>
struct Cycle<ArenaMalloc<Behind, JOINS>> {
    outboard::WarpArena<Behind, JOINS> arena;

    __device__ explicit Cycle(const ArenaMalloc<Behind, JOINS>& allocator) : arena(Behind{allocator.heap}) {}

    __device__ void* malloc(size_t bytes) { return arena.malloc(bytes); }
    __device__ void free(void*) {}
    __device__ void end() { arena.freeAll(); }
};
