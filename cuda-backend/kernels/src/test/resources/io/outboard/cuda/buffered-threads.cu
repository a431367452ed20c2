// Kernels that try buffers of blocks before an allocator out, coalesced and not. Each block is filled with a tag of its own and
// read back, so that blocks that overlap are found, and poisoned before it is freed. Made into PTX by cuda-backend/ptx.sh.
#include "held.cuh"
#include "outboard/buffered.cuh"

// As mallocOf.
template <class Allocator>
__device__ __noinline__ void freeOf(Allocator& allocator, void* pointer) {
    allocator.free(pointer);
}

namespace {

// Few and short, so that they are full and empty all the time. The test knows how many blocks they keep.
constexpr u32 QUEUES = 4;
constexpr u32 DEPTH = 16;
using Queues = outboard::Buffers<QUEUES, DEPTH>;
static_assert(sizeof(Queues) <= 1 << 20, "the test sets so much aside");

template <class Allocator>
using Kept = outboard::Buffered<Allocator, QUEUES, DEPTH>;

constexpr u32 HELD = 4;
constexpr u32 POISON = 0xDEADDEAD;

// What a thread holds between two kernels.
struct List {
    Block* last;
    u64 count;
};

template <class Allocator>
struct Make {
    static __device__ Allocator of(const Heap* heap, Queues* queues) {
        return Allocator({heap}, queues);
    }
};

template <class Allocator>
struct Make<outboard::Coalesced<Allocator>> {
    static __device__ outboard::Coalesced<Allocator> of(const Heap* heap, Queues* queues) {
        return {{Make<Allocator>::of(heap, queues)}};
    }
};

// A block that isn't right isn't freed.
template <class Allocator>
__device__ bool checkAndFree(Allocator& allocator, Block* block, u32 bytes, u32 tag, Counts* counts) {
    if (!isRight(block, bytes, tag)) {
        atomicAdd(&counts->overwritten, 1);
        return false;
    }
    fill(block, POISON);
    *block = {nullptr, POISON, POISON};
    freeOf(allocator, block);
    return true;
}

// Each thread holds some blocks of different sizes at a time, and frees them, in some rounds. Of those of a warp some leave
// some out, so that they come in groups of any kind.
template <class Allocator>
__device__ void use(Allocator allocator, u32 largestBytes, u32 rounds, Counts* counts) {
    for (u32 round = 0; round < rounds; ++round) {
        Block* blocks[HELD];
        u32 bytes[HELD];
        const u32 first = (thread() * rounds + round) * HELD;
        for (u32 i = 0; i < HELD; ++i) {
            blocks[i] = nullptr;
            bytes[i] = sizeof(Block) + mixed(first + i) % (largestBytes - sizeof(Block) + 1);
            if (mixed(~(first + i)) % 4 != 0) {
                blocks[i] = allocate(allocator, nullptr, bytes[i], mixed(first + i), counts);
            }
        }
        for (u32 i = 0; i < HELD; ++i) {
            if (blocks[i] != nullptr) {
                checkAndFree(allocator, blocks[i], bytes[i], mixed(first + i), counts);
            }
        }
    }
}

__device__ u32 tagOf(u32 owner, u64 number) {
    return mixed(owner) + static_cast<u32>(number);
}

// Each thread takes so many blocks, or as many as there are, and keeps them.
template <class Allocator>
__device__ void hold(Allocator allocator, u32 bytes, u64 most, List* lists, Counts* counts) {
    List list = {nullptr, 0};
    while (list.count < most) {
        Block* const block = allocate(allocator, list.last, bytes, tagOf(thread(), list.count), counts);
        if (block == nullptr) {
            break;
        }
        list = {block, list.count + 1};
    }
    lists[thread()] = list;
}

// Frees what another thread held, of another warp mostly. As many threads as held, a power of two.
template <class Allocator>
__device__ void release(Allocator allocator, u32 bytes, const List* lists, Counts* counts) {
    const u32 owner = thread() * 7919 & (gridDim.x * blockDim.x - 1);
    List list = lists[owner];
    while (list.count != 0) {
        const List next = {list.last->before, list.count - 1};
        if (!checkAndFree(allocator, list.last, bytes, tagOf(owner, next.count), counts)) {
            break;
        }
        list = next;
    }
}

// One request by one thread, freed at once.
template <class Allocator>
__device__ void tryOne(Allocator allocator, u64 bytes, Counts* counts) {
    if (thread() == 0) {
        void* const block = mallocOf(allocator, bytes);
        atomicAdd(block == nullptr ? &counts->nulls : &counts->served, 1);
        freeOf(allocator, block);
    }
}

}  // namespace

#define KERNELS(NAME, ALLOCATOR)                                                                                    \
    extern "C" __global__ void use##NAME(                                                                           \
            const __grid_constant__ Heap heap, Queues* queues, u32 largestBytes, u32 rounds, Counts* counts) {      \
        use(Make<ALLOCATOR>::of(&heap, queues), largestBytes, rounds, counts);                                      \
    }                                                                                                               \
    extern "C" __global__ void hold##NAME(                                                                          \
            const __grid_constant__ Heap heap, Queues* queues, u32 bytes, u64 most, List* lists, Counts* counts) {  \
        hold(Make<ALLOCATOR>::of(&heap, queues), bytes, most, lists, counts);                                       \
    }                                                                                                               \
    extern "C" __global__ void release##NAME(                                                                       \
            const __grid_constant__ Heap heap, Queues* queues, u32 bytes, const List* lists, Counts* counts) {      \
        release(Make<ALLOCATOR>::of(&heap, queues), bytes, lists, counts);                                          \
    }                                                                                                               \
    extern "C" __global__ void tryOne##NAME(                                                                        \
            const __grid_constant__ Heap heap, Queues* queues, u64 bytes, Counts* counts) {                         \
        tryOne(Make<ALLOCATOR>::of(&heap, queues), bytes, counts);                                                  \
    }

KERNELS(BitMalloc, Kept<outboard::BitMalloc>)
KERNELS(CoalescedBitMalloc, outboard::Coalesced<Kept<outboard::BitMalloc>>)
KERNELS(CudaMalloc, Kept<outboard::CudaMalloc>)
KERNELS(CoalescedCudaMalloc, outboard::Coalesced<Kept<outboard::CudaMalloc>>)
