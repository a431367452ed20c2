// The kernels by which a heap is made and read from the host.
#include "outboard/heap_scan.cuh"
#include "outboard/heap_setup.cuh"

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

__global__ void outboardHeapFormat(Heap* heap, u64 bytes, u32 multiprocessors, u32 maxFragmentation, u32 flags) {
    if (!format(heap, bytes, multiprocessors, maxFragmentation, flags)) {
        stop();
    }
}

__global__ void outboardHeapClear(Heap* heap) {
    clearTables(heap, thread(), threads());
}

__global__ void outboardHeapSplit(Heap* heap, u32 scheme, u64 chunkBytes, u64 endBytes) {
    preSplit(heap, scheme, chunkBytes, endBytes, thread(), threads());
}

__global__ void outboardHeapScan(Heap* heap, Segment* segments, u32 count) {
    for (u64 i = thread(); i < count; i += threads()) {
        scanSegment(heap, segments, static_cast<u32>(i), count);
    }
}

__global__ void outboardHeapSummarise(Heap* heap, Segment* segments, u32 count, u64* statistics) {
    summarise(heap, segments, count, statistics);
}

}
