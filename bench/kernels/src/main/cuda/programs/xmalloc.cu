// The microbenchmark of XMalloc (Huang et al. 2013, figures 2, 5 and 6): many worker threads that allocate an int each, write to it,
// and free it. Of each warp some threads are workers, and the others do nothing. The heap may have been filled in part before. And
// one with larger blocks, that are allocated by one kernel and freed by the next.
//
//   -DOUTBOARD_ALLOCATOR='...'  an allocator, such as outboard::XMalloc, or XMallocBy<4> with another number of queues
#include <type_traits>

#include "allocator_of.cuh"

template <outboard::u32 QUEUES>
using XMallocBy = outboard::XMallocOver<outboard::CudaMalloc, QUEUES>;
// The queues alone.
template <outboard::u32 QUEUES>
using BufferedBy = outboard::Buffered<outboard::CudaMalloc, QUEUES, 256 / QUEUES>;

#include "requests.cuh"

namespace {

// What is timed does as in the paper; only the check reads the number back.
template <bool CHECKED>
__device__ void useInt(const Work& work) {
    const u32 lane = threadIdx.x % requests::WARP_THREADS;
    const u64 worker = requests::thread() / requests::WARP_THREADS * work.lanes + lane;
    if (lane >= work.lanes || worker >= work.threads) {
        return;
    }
    requests::Allocator allocator = requests::allocator(work);
    volatile u32* const block = static_cast<u32*>(allocator.malloc(sizeof(u32)));
    if (block == nullptr) {
        requests::count(&work.counts->refused);
        return;
    }
    *block = static_cast<u32>(worker);
    if constexpr (CHECKED) {
        if (!requests::isAligned(const_cast<const u32*>(block))) {
            requests::count(&work.counts->misaligned);
        }
        __nanosleep(requests::PAUSE_NS);
        if (*block != static_cast<u32>(worker)) {
            requests::count(&work.counts->mismatches);
        }
    }
    allocator.free(const_cast<u32*>(block));
}

// Who has the memory: blocks that lie there before come from it, whatever stands before it.
using Behind = std::conditional_t<std::is_same<requests::Allocator, outboard::BitMalloc>::value, outboard::BitMalloc, outboard::CudaMalloc>;

}  // namespace

// A block for each thread of so many bytes, before workers come; and its end after them.
extern "C" __global__ void fillHeap(const __grid_constant__ Work work) {
    const u32 thread = requests::thread();
    u32* const block = static_cast<u32*>(Behind{&work.heap}.malloc(work.bytes));
    if (block == nullptr) {
        requests::count(&work.counts->refused);
    } else {
        requests::fill(block, 0, static_cast<u32>(work.bytes), requests::tagOf(thread));
    }
    work.held[thread] = reinterpret_cast<u64>(block);
}

extern "C" __global__ void emptyHeap(const __grid_constant__ Work work) {
    const u32 thread = requests::thread();
    void* const block = reinterpret_cast<void*>(work.held[thread]);
    if (block != nullptr) {
        if (!requests::holds(block, 0, static_cast<u32>(work.bytes), requests::tagOf(thread))) {
            requests::count(&work.counts->mismatches);
        }
        Behind{&work.heap}.free(block);
    }
}

OUTBOARD_REQUESTS
OUTBOARD_HELD(requests::HeldBlocks)

extern "C" __global__ void use(const __grid_constant__ Work work) { useInt<false>(work); }

extern "C" __global__ void checkUse(const __grid_constant__ Work work) { useInt<true>(work); }
