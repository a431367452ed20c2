// Runs the bench's kernels on the CPU with a WarpArena over BitMalloc, one thread after the other, of which one in each warp
// allocates. Prints for each size of a request: the size, how many requests are served that can't be, arenas in use after them, after
// AD's first kernel and after its second, after AD fused, after ACD, blocks that P holds, arenas then, and when all is freed; then nulls,
// misaligned, outside, mismatches, misuses.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OUTBOARD_PLATFORM "cpu_platform.h"
#include "outboard/allocators.cuh"
#include "outboard/heap_scan.cuh"
#include "outboard/heap_setup.cuh"

#define __device__
#define __global__
#define __grid_constant__

struct Dimension {
    unsigned x;
};

static Dimension blockIdx;
static Dimension blockDim = {256};
static Dimension threadIdx;
static const unsigned warpSize = 32;

static unsigned long long atomicAdd(unsigned long long* counter, unsigned long long amount) {
    const unsigned long long before = *counter;
    *counter += amount;
    return before;
}

static void atomicMax(unsigned long long* word, unsigned long long value) { *word = value > *word ? value : *word; }

static unsigned __ballot_sync(unsigned, bool mine) { return mine ? 1 : 0; }
static unsigned long long __shfl_sync(unsigned, unsigned long long mine, int) { return mine; }
static int __ffs(int word) { return __builtin_ffs(word); }
static void __syncwarp() {}
static void __nanosleep(unsigned) {}
static long long clock64() { return 0; }

#define OUTBOARD_ARENA
#include "../../../main/cuda/kernels.cu"

namespace {

constexpr u64 HEAP_BYTES = 64 << 20;
constexpr u64 THREADS = 960;
constexpr u64 WARPS = THREADS / 32;
constexpr u64 ITERATIONS = 10;

class Bench {
    outboard::Heap* const heap = static_cast<outboard::Heap*>(std::aligned_alloc(256, HEAP_BYTES));
    std::vector<void*> blocks = std::vector<void*>(WARPS * ITERATIONS);
    Counters counters = {};
    Work work = {};

    void run(void (*kernel)(const Work), u64 iterations) {
        work.iterations = iterations;
        for (blockIdx.x = 0; blockIdx.x * blockDim.x < THREADS; ++blockIdx.x) {
            for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                kernel(work);
            }
        }
    }

    void check() {
        run(checkFill, 1);
        run(checkRead, 1);
    }

    void printUsed() const {
        outboard::Segment segment;
        u64 statistics[outboard::STATISTICS];
        outboard::scanSegment(heap, &segment, 0, 1);
        outboard::summarise(heap, &segment, 1, statistics);
        std::printf("%llu ", statistics[1]);
    }

  public:
    explicit Bench(u64 bytes) {
        std::memset(static_cast<void*>(heap), 0, HEAP_BYTES);
        if (!outboard::format(heap, HEAP_BYTES, 3, 256, outboard::FLAG_FREE_BITS)) {
            std::exit(2);
        }
        outboard::preSplit(heap, outboard::SPLIT_NONE, 0, 0, 0, 1);
        std::memcpy(static_cast<void*>(&work.heap), heap, sizeof(outboard::Heap));
        work.memory = reinterpret_cast<u64>(heap);
        work.heapBytes = HEAP_BYTES;
        work.blocks = blocks.data();
        work.counters = &counters;
        work.threads = THREADS;
        work.stride = 32;
        work.least = bytes;
        work.most = bytes;
    }

    ~Bench() { std::free(heap); }

    void tests() {
        int served = 0;
        for (const size_t bytes : {size_t(0), ~size_t(0)}) {
            served += allocator(work).malloc(bytes) != nullptr;
        }
        std::printf("%llu %d ", work.least, served);
        printUsed();
        run(allocate, 1);
        check();
        printUsed();
        run(release, 1);
        printUsed();
        run(checkFused, 1);
        printUsed();
        run(checkCycle, ITERATIONS);
        printUsed();
        blocks.assign(blocks.size(), nullptr);
        for (u64 number = 0; number < ITERATIONS; ++number) {
            run(probability, number);
            check();
        }
        int held = 0;
        for (const void* block : blocks) {
            held += block != nullptr;
        }
        std::printf("%d ", held);
        printUsed();
        run(release, 1);
        printUsed();
        std::printf("%llu %llu %llu %llu %llu\n", counters.nulls, counters.misaligned, counters.outside, counters.mismatches,
                    heap->counters->misuses);
    }
};

}  // namespace

int main() {
    // About a chunk's, with its header, and more.
    for (const u64 bytes : {4, 4064, 4065, 65536, 131072}) {
        Bench(bytes).tests();
    }
    return 0;
}
