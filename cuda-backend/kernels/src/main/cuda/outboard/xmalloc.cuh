// XMalloc (Huang et al. 2013): requests of a warp become one (section 5.1, CountedParts in coalesced.cuh), and queues of
// freed blocks stand before CUDA's own malloc (section 5.2, buffered.cuh), which gets what the two leave.
//
//     xmcInit    makes the queues: outboardXmcInit below, launched by DeviceHeapBuilder.build(), which also raises the driver's limit
//     xmcMalloc  a block
//     xmcFree    gives it back, from any thread
//
//     extern "C" __global__ void use(const __grid_constant__ outboard::Heap heap) {  // the paper's figure 1
//         void* const block = outboard::xmcMalloc(&heap, 64);
//         outboard::xmcFree(&heap, block);
//     }
//
// As in the paper: 256 blocks kept of each size class; 16 queues a class, the paper's best; headers of 8 bytes where a block is
// shared; a thread that asks alone isn't coalesced, nor is a large request.
//
// Differences from the paper:
//   - All calls name the heap, whose queues lie in memory of its own. The paper has one set for a program.
//   - What callers get is aligned to 16, where the paper has 8. So parts are rounded up to 16, and the header of a block that
//     isn't shared takes 16.
//   - Each block has 16 bytes more, for its size class. The paper doesn't say where XMalloc finds the class on a free.
//   - The paper gives no size classes, nor what a large request is. Here there are four classes to each doubling, from 64 bytes to
//     64 KiB, and more than 32 KiB isn't coalesced.
//   - A thread takes a queue by its lane, its multiprocessor and the clock, where the paper has thread, block and clock.
//   - The queues have places of 64 bits, for whole addresses, and no tail of two words (buffered.cuh).
//   - When CUDA's malloc has nothing left, the queues are emptied into it, and it is asked once more.
//
// Bounds: those of CUDA's malloc and free, and of buffered.cuh.
#pragma once

#include "buffered.cuh"
#include "cuda_malloc.cuh"

namespace outboard {

// What XMalloc is in front of any allocator, with BLOCKS of each class kept in so many queues.
template <class Behind, u32 QUEUES = 16, u32 BLOCKS = 256>
using XMallocOver = Coalesced<Buffered<Behind, QUEUES, BLOCKS / QUEUES>>;

namespace detail {

using XMallocBuffers = Buffers<16, 256 / 16>;

// Behind the control block; a queue is aligned to 128 bytes.
constexpr u64 XMALLOC_BUFFERS_AT = (sizeof(Heap) + 127) / 128 * 128;

}  // namespace detail

// What a heap of XMalloc's takes beside the driver's heap. The host knows the number.
constexpr u64 XMALLOC_BYTES = 192 << 10;

static_assert(detail::XMALLOC_BUFFERS_AT + sizeof(detail::XMallocBuffers) <= XMALLOC_BYTES, "the queues need more");

// For heaps made by xmcInit.
struct XMalloc : XMallocOver<CudaMalloc> {
    OUTBOARD_DEVICE XMalloc(const Heap* heap) : XMallocOver<CudaMalloc>{{{CudaMalloc{heap}, buffersOf(heap)}}} {}

    // Gives the blocks in the queues back to CUDA's allocator. Thread `index` of `count`.
    OUTBOARD_DEVICE void drain(u32 index, u32 count) {
        allocator.drain(index, count);
    }

  private:
    static OUTBOARD_DEVICE detail::XMallocBuffers* buffersOf(const Heap* heap) {
        heap->requireLayout(LAYOUT_XMALLOC);
        return reinterpret_cast<detail::XMallocBuffers*>(heap->area);
    }
};

// The same: its requests are joined anyway.
template <>
struct Coalesced<XMalloc> : XMalloc {};

// Writes the control block and empty queues to XMALLOC_BYTES of memory, aligned to 128. Thread `index` of `count`; the heap is
// ready when all of them are done.
OUTBOARD_DEVICE void xmcInit(Heap* heap, u64 index, u64 count) {
    unsigned char* const buffers = reinterpret_cast<unsigned char*>(heap) + detail::XMALLOC_BUFFERS_AT;
    if (index == 0) {
        *heap = Heap{};
        heap->area = buffers;
        heap->bytes = XMALLOC_BYTES;
        heap->layout = LAYOUT_XMALLOC;
    }
    u64* const words = reinterpret_cast<u64*>(buffers);
    for (u64 i = index; i < sizeof(detail::XMallocBuffers) / sizeof(u64); i += count) {
        words[i] = 0;
    }
}

// So many bytes, aligned to 16; nullptr for 0 bytes, or if there are none.
OUTBOARD_DEVICE void* xmcMalloc(const Heap* heap, size_t bytes) {
    return XMalloc(heap).malloc(bytes);
}

// Gives back what xmcMalloc returned for the same heap; nothing for nullptr. What is freed twice isn't noticed, as in CUDA's own, and
// may be handed out twice.
OUTBOARD_DEVICE void xmcFree(const Heap* heap, void* pointer) {
    XMalloc(heap).free(pointer);
}

}  // namespace outboard
