// Kernels that try arenas of warps out. Each block is filled with a tag of its own and read back when all are there, so that
// blocks that overlap are found. Made into PTX by cuda-backend/ptx.sh.
#include "held.cuh"
#include "outboard/warp_arena.cuh"

namespace {

constexpr u32 WARP_THREADS = 32;

// What one thread got of its arena, the last first.
class Blocks {
    Block* last = nullptr;
    u32 count = 0;

    static __device__ u32 tagOf(u32 number) {
        return mixed(thread()) + number;
    }

  public:
    // Asks for so many bytes; whether there were any.
    template <class Arena>
    __device__ bool take(Arena& arena, u32 bytes, Counts* counts) {
        Block* const block = allocate(arena, last, bytes, tagOf(count), counts);
        if (block == nullptr) {
            return false;
        }
        last = block;
        ++count;
        return true;
    }

    __device__ void check(Counts* counts) const {
        const volatile Block* block = last;
        for (u32 left = count; left != 0; --left) {
            if (!isRight(block, block->bytes, tagOf(left - 1))) {
                atomicAdd(&counts->overwritten, 1);
                break;
            }
            block = block->before;
        }
    }
};

// Frees what the threads of a mask have of their arenas, one for all or more.
template <class Arena>
__device__ void freeAll(Arena& arena, u32 mask, Counts* counts) {
    __syncwarp(mask);
    arena.freeAll();
    if (mallocOf(arena, sizeof(Block)) != nullptr) {
        atomicAdd(&counts->late, 1);
    }
    arena.freeAll();
}

// Of some warps all threads have an arena, of others some threads, and not all of them ask each time. A request in 256 is larger
// than a chunk.
template <class Allocator>
__device__ void use(const Heap& heap, u64 chunkBytes, u32 calls, u32 largestBytes, u32 rounds, Counts* counts) {
    const u32 warp = thread() / WARP_THREADS;
    const bool takesPart = warp % 2 == 0 || mixed(thread()) % 3 == 0;
    const u32 mask = __ballot_sync(~0u, takesPart);
    if (!takesPart) {
        return;
    }
    for (u32 round = 0; round < rounds; ++round) {
        outboard::WarpArena<Allocator> arena(Allocator{&heap}, chunkBytes);
        Blocks blocks;
        for (u32 call = 0; call < calls; ++call) {
            const u32 chance = mixed((thread() * rounds + round) * calls + call);
            if (chance % 4 == 0) {
                continue;
            }
            const u32 bytes = sizeof(Block) + (chance >> 8) % (largestBytes - sizeof(Block) + 1);
            blocks.take(arena, chance % 256 == 1 ? bytes + static_cast<u32>(chunkBytes) : bytes, counts);
        }
        if (mallocOf(arena, 0) != nullptr) {
            atomicAdd(&counts->late, 1);
        }
        blocks.check(counts);
        freeAll(arena, mask, counts);
    }
}

// Each thread asks until it gets nothing. Warps that end give room to others.
template <class Allocator>
__device__ void exhaust(const Heap& heap, u64 chunkBytes, u32 bytes, Counts* counts) {
    outboard::WarpArena<Allocator> arena(Allocator{&heap}, chunkBytes);
    Blocks blocks;
    while (blocks.take(arena, bytes, counts)) {
    }
    blocks.check(counts);
    freeAll(arena, ~0u, counts);
}

}  // namespace

#define KERNELS(NAME, ALLOCATOR)                                                                                    \
    extern "C" __global__ void use##NAME(const __grid_constant__ Heap heap, u64 chunkBytes, u32 calls,              \
            u32 largestBytes, u32 rounds, Counts* counts) {                                                         \
        use<ALLOCATOR>(heap, chunkBytes, calls, largestBytes, rounds, counts);                                      \
    }                                                                                                               \
    extern "C" __global__ void exhaust##NAME(                                                                       \
            const __grid_constant__ Heap heap, u64 chunkBytes, u32 bytes, Counts* counts) {                         \
        exhaust<ALLOCATOR>(heap, chunkBytes, bytes, counts);                                                        \
    }

KERNELS(BitMalloc, outboard::BitMalloc)
KERNELS(CudaMalloc, outboard::CudaMalloc)
