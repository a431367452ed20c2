// The kernels by which an ObjectHeap is made, and what runs between its users' kernels.
#include "outboard/object_setup.cuh"

using namespace outboard;

namespace {

__device__ __forceinline__ u64 thread() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 threads() {
    return static_cast<u64>(gridDim.x) * blockDim.x;
}

}  // namespace

extern "C" {

__global__ void outboardObjectsFormat(Objects* objects, u64 bytes, u32 multiprocessors, const __grid_constant__ ObjectPlan plan) {
    if (!formatObjects(objects, bytes, multiprocessors, plan)) {
        stop();
    }
}

__global__ void outboardObjectsClear(Objects* objects) {
    clearObjects(objects, thread(), threads());
}

// A bit for each type to list.
__global__ void outboardObjectsList(const __grid_constant__ Objects objects, u32 types) {
    for (u32 left = types; left != 0; left &= left - 1) {
        listObjects(&objects, lowestBit(left), thread(), threads());
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 left = types; left != 0; left &= left - 1) {
            endListing(&objects, lowestBit(left), gridDim.x);
        }
    }
}

__global__ void outboardObjectsBeginCount(u64* counts, u32 length) {
    for (u64 i = thread(); i < length; i += threads()) {
        counts[i] = 0;
    }
}

__global__ void outboardObjectsCount(const __grid_constant__ Objects objects, u64* counts) {
    countObjects(&objects, counts, thread(), threads());
}

}
