// Scratch memory: each thread asks 32 times for 16 to 128 bytes and writes to what it gets, and then all of it is freed.
//
//   -DOUTBOARD_ALLOCATOR='...'                   an allocator: each block is freed on its own
//   -DOUTBOARD_ALLOCATOR='...' -DOUTBOARD_ARENA  a WarpArena over it
//   -DOUTBOARD_BUMP                              what there is at best: a counter for each warp, in memory that was set aside
#include "outboard/warp_arena.cuh"
#include "requests.cuh"

namespace {

constexpr u32 REQUESTS = 32;
constexpr u32 LEAST_BYTES = 16;
constexpr u32 MOST_BYTES = 128;

// How a block begins. That the last one leads to those before spares threads a list of them.
struct alignas(16) Block {
    Block* before;
    u32 bytes;
    u32 tag;
};

__device__ u32 numberOf(u32 request) { return requests::thread() * REQUESTS + request; }

__device__ u32 bytesOf(u32 request) {
    return LEAST_BYTES + requests::tagOf(~numberOf(request)) % (MOST_BYTES - LEAST_BYTES + 1);
}

#if defined(OUTBOARD_BUMP)

// As a WarpArena does it for threads of a warp that come together, but for everything that makes room.
class Scratch {
    // All that a warp can ask for, but for a request or two: each thread asks for 72 bytes on average. ArenaProgram knows it.
    static constexpr u32 WARP_BYTES = 128 << 10;

    unsigned char* const memory;

    __device__ u32& used() const { return *reinterpret_cast<u32*>(memory); }

  public:
    static constexpr bool FREES_EACH = false;

    __device__ explicit Scratch(const Work& work)
        : memory(work.memory + static_cast<u64>(requests::thread() / requests::WARP_THREADS) * WARP_BYTES) {
        const outboard::Group group(memory);
        if (group.rank() == 0) {
            used() = outboard::UNIT_BYTES;
        }
        group.sync();
    }

    __device__ void* malloc(u32 bytes) {
        const outboard::Group group(memory);
        const u32 size = (bytes + outboard::UNIT_BYTES - 1) & ~(outboard::UNIT_BYTES - 1);
        const u32 before = group.sumOfLowerRanks(size);
        const u32 total = group.fromLast(before + size);
        u32 at = 0;
        if (group.rank() == 0) {
            at = atomicAdd(&used(), total);
        }
        at = group.fromFirst(at) + before;
        return at + size > WARP_BYTES ? nullptr : memory + at;
    }

    __device__ void free(void*) {}

    __device__ void freeAll() {}
};

#elif defined(OUTBOARD_ARENA)

class Scratch {
    outboard::WarpArena<requests::Allocator> arena;

  public:
    static constexpr bool FREES_EACH = false;

    __device__ explicit Scratch(const Work& work) : arena(requests::allocator(work)) {}

    __device__ void* malloc(u32 bytes) { return arena.malloc(bytes); }

    __device__ void free(void*) {}

    __device__ void freeAll() {
        __syncwarp();
        arena.freeAll();
    }
};

#else

class Scratch {
    requests::Allocator allocator;

  public:
    static constexpr bool FREES_EACH = true;

    __device__ explicit Scratch(const Work& work) : allocator(requests::allocator(work)) {}

    __device__ void* malloc(u32 bytes) { return allocator.malloc(bytes); }

    __device__ void free(void* block) { allocator.free(block); }

    __device__ void freeAll() {}
};

#endif

// Whole warps take part.
template <bool CHECKED>
__device__ void useScratch(const Work& work) {
    if (requests::thread() >= work.threads) {
        return;
    }
    Scratch scratch(work);
    Block* last = nullptr;
    u32 served = 0;
    for (u32 i = 0; i < REQUESTS; ++i) {
        const u32 bytes = bytesOf(i);
        void* const memory = scratch.malloc(bytes);
        if (memory == nullptr) {
            requests::count(&work.counts->refused);
            continue;
        }
        if (CHECKED && !requests::isAligned(memory)) {
            requests::count(&work.counts->misaligned);
            continue;
        }
        Block* const block = static_cast<Block*>(memory);
        const u32 tag = requests::tagOf(numberOf(i));
        *block = {last, bytes, tag};
        if constexpr (CHECKED) {
            requests::fill(block, sizeof(Block), bytes, tag);
        }
        served |= 1u << i;
        last = block;
    }
    if constexpr (CHECKED) {
        __nanosleep(requests::PAUSE_NS);
        const Block* block = last;
        for (u32 left = served; left != 0;) {
            const u32 i = 31 - __clz(static_cast<int>(left));
            left &= ~(1u << i);
            const volatile Block* const seen = block;
            const u32 tag = requests::tagOf(numberOf(i));
            if (seen->tag != tag || seen->bytes != bytesOf(i) || !requests::holds(block, sizeof(Block), bytesOf(i), tag)) {
                requests::count(&work.counts->mismatches);
                last = nullptr;  // what leads to the others can't be trusted
                break;
            }
            block = seen->before;
        }
    }
    if constexpr (Scratch::FREES_EACH) {
        while (last != nullptr) {
            Block* const before = last->before;
            scratch.free(last);
            last = before;
        }
    }
    scratch.freeAll();
}

}  // namespace

OUTBOARD_REQUESTS

extern "C" __global__ void use(const __grid_constant__ Work work) { useScratch<false>(work); }

extern "C" __global__ void checkUse(const __grid_constant__ Work work) { useScratch<true>(work); }
