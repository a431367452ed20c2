// The microbenchmark of XMalloc (Huang et al. 2013, figures 2, 5 and 6): many worker threads that allocate an int each, write to it,
// and free it. Of each warp some threads are workers, and the others do nothing. And one with larger blocks, that are allocated
// by one kernel and freed by the next.
//
//   -DOUTBOARD_ALLOCATOR='...'  an allocator, such as outboard::Coalesced<BufferedBy<16>>
#include "allocator_of.cuh"

// As in the paper, section 5.2: 256 blocks of each class are kept, by one or more queues.
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

}  // namespace

OUTBOARD_REQUESTS
OUTBOARD_HELD(requests::HeldBlocks)

extern "C" __global__ void use(const __grid_constant__ Work work) { useInt<false>(work); }

extern "C" __global__ void checkUse(const __grid_constant__ Work work) { useInt<true>(work); }
