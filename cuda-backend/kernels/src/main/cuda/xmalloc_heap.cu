// The kernels by which a heap of XMalloc's is made and ended from the host.
#include "outboard/xmalloc.cuh"

using namespace outboard;

namespace {

__device__ __forceinline__ u32 thread() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u32 threads() {
    return gridDim.x * blockDim.x;
}

}  // namespace

extern "C" {

__global__ void outboardXmcInit(Heap* heap) {
    xmcInit(heap, thread(), threads());
}

__global__ void outboardXmcDrain(const Heap* heap) {
    XMalloc(heap).drain(thread(), threads());
}

}
