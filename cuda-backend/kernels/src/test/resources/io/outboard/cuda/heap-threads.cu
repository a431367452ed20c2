// Kernels that try an in-kernel heap out. Each block is filled with a tag of its own and read back, so that blocks that
// overlap are found. Made into PTX by cuda-backend/ptx.sh.
extern "C" __device__ void* outboardMalloc(void* heap, size_t bytes);
extern "C" __device__ void* outboardAlignedMalloc(void* heap, size_t alignment, size_t bytes);
extern "C" __device__ void outboardFree(void* heap, void* pointer);

namespace {

constexpr unsigned HELD = 4;
constexpr unsigned PAGE = 4096;

// What went wrong and what went well, in the order of the test's names for it.
struct Counts {
    unsigned long long served;
    unsigned long long servedBytes;
    unsigned long long nulls;
    unsigned long long misaligned;
    unsigned long long overwritten;
};

__device__ unsigned thread() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ unsigned mixed(unsigned number) {
    number = (number ^ (number >> 16)) * 0x7FEB352Du;
    number = (number ^ (number >> 15)) * 0x846CA68Bu;
    return number ^ (number >> 16);
}

__device__ void* allocate(void* heap, unsigned bytes, Counts* counts) {
    void* block = outboardMalloc(heap, bytes);
    if (block == nullptr) {
        atomicAdd(&counts->nulls, 1);
    } else {
        atomicAdd(&counts->served, 1);
        atomicAdd(&counts->servedBytes, bytes);
        if (reinterpret_cast<unsigned long long>(block) % 16 != 0) {
            atomicAdd(&counts->misaligned, 1);
        }
    }
    return block;
}

// Each word of small blocks, one a page of large ones and the last.
__device__ unsigned step(unsigned words) {
    return words > PAGE ? PAGE / sizeof(unsigned) : 1;
}

__device__ void fill(void* block, unsigned bytes, unsigned tag) {
    volatile unsigned* data = static_cast<unsigned*>(block);
    const unsigned words = bytes / sizeof(unsigned);
    for (unsigned i = 0; i < words; i += step(words)) {
        data[i] = tag;
    }
    data[words - 1] = tag;
}

__device__ void check(void* block, unsigned bytes, unsigned tag, Counts* counts) {
    volatile unsigned* data = static_cast<unsigned*>(block);
    const unsigned words = bytes / sizeof(unsigned);
    bool same = data[words - 1] == tag;
    for (unsigned i = 0; i < words; i += step(words)) {
        same &= data[i] == tag;
    }
    if (!same) {
        atomicAdd(&counts->overwritten, 1);
    }
}

}  // namespace

// Each thread holds some blocks of different sizes at a time, and frees them, in some rounds.
extern "C" __global__ void useAndFree(void* heap, unsigned largestBytes, unsigned rounds, Counts* counts) {
    for (unsigned round = 0; round < rounds; ++round) {
        void* blocks[HELD];
        unsigned bytes[HELD];
        const unsigned tag = (thread() * rounds + round) * HELD;
        for (unsigned i = 0; i < HELD; ++i) {
            bytes[i] = 4 + mixed(tag + i) % (largestBytes - 3);
            blocks[i] = allocate(heap, bytes[i], counts);
            if (blocks[i] != nullptr) {
                fill(blocks[i], bytes[i], tag + i);
            }
        }
        for (unsigned i = 0; i < HELD; ++i) {
            if (blocks[i] != nullptr) {
                check(blocks[i], bytes[i], tag + i, counts);
                outboardFree(heap, blocks[i]);
            }
        }
    }
}

// Each thread holds one block for a while, and again. By and by the threads of a warp come in groups of any kind.
extern "C" __global__ void partWays(void* heap, unsigned largestBytes, unsigned rounds, Counts* counts) {
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned tag = thread() * rounds + round;
        const unsigned bytes = 4 + mixed(tag) % (largestBytes - 3);
        void* block = allocate(heap, bytes, counts);
        if (block != nullptr) {
            fill(block, bytes, tag);
            __nanosleep(mixed(~tag) % 256);
            check(block, bytes, tag, counts);
            outboardFree(heap, block);
        }
    }
}

// A heap's control block, of which threads may have copies.
struct alignas(32) Control {
    unsigned char bytes[288];
};

// Each thread holds a block of either heap for a while, those of a warp together.
extern "C" __global__ void useBoth(void* heap, void* other, unsigned largestBytes, unsigned rounds, Counts* counts) {
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned tag = thread() * rounds + round;
        const unsigned bytes = 4 + mixed(tag) % (largestBytes - 3);
        void* mine = mixed(~tag) % 2 == 0 ? heap : other;
        // At the same address in all threads.
        Control copy = *static_cast<Control*>(mine);
        mine = round % 2 == 0 ? mine : &copy;
        void* block = allocate(mine, bytes, counts);
        if (block != nullptr) {
            fill(block, bytes, tag);
        }
        __syncwarp();
        if (block != nullptr) {
            check(block, bytes, tag, counts);
            outboardFree(mine, block);
        }
    }
}

// Each thread holds a block of an alignment from 16 bytes to 64 KiB at a time.
extern "C" __global__ void holdAligned(void* heap, unsigned largestBytes, unsigned rounds, Counts* counts) {
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned tag = thread() * rounds + round;
        const unsigned bytes = 4 + mixed(tag) % (largestBytes - 3);
        const unsigned long long alignment = 16ull << mixed(tag + 1) % 13;
        void* block = outboardAlignedMalloc(heap, alignment, bytes);
        if (block == nullptr) {
            atomicAdd(&counts->nulls, 1);
            continue;
        }
        atomicAdd(&counts->served, 1);
        if (reinterpret_cast<unsigned long long>(block) % alignment != 0) {
            atomicAdd(&counts->misaligned, 1);
        }
        fill(block, bytes, tag);
        __nanosleep(mixed(~tag) % 256);
        check(block, bytes, tag, counts);
        outboardFree(heap, block);
    }
}

// One block for each of the first threads, filled.
extern "C" __global__ void hold(void* heap, unsigned bytes, void** blocks, unsigned count, Counts* counts) {
    if (thread() < count) {
        blocks[thread()] = allocate(heap, bytes, counts);
        if (blocks[thread()] != nullptr) {
            fill(blocks[thread()], bytes, thread());
        }
    }
}

// Checks and frees what hold left.
extern "C" __global__ void release(void* heap, unsigned bytes, void** blocks, unsigned count, Counts* counts) {
    if (thread() < count && blocks[thread()] != nullptr) {
        check(blocks[thread()], bytes, thread(), counts);
        outboardFree(heap, blocks[thread()]);
    }
}

// Frees one address, by one thread.
extern "C" __global__ void freeOne(void* heap, void* pointer) {
    if (thread() == 0) {
        outboardFree(heap, pointer);
    }
}

// Each thread allocates until it gets nothing, and keeps all as a list. Nothing is freed meanwhile: what one frees the others
// would take, one after the other, each up to all of the heap.
extern "C" __global__ void exhaust(void* heap, unsigned bytes, void** lists, Counts* counts) {
    void** last = nullptr;
    while (true) {
        void** block = static_cast<void**>(allocate(heap, bytes, counts));
        if (block == nullptr) {
            break;
        }
        *block = last;
        last = block;
    }
    lists[thread()] = last;
}

extern "C" __global__ void freeLists(void* heap, void** lists) {
    for (void** last = static_cast<void**>(lists[thread()]); last != nullptr;) {
        void** before = static_cast<void**>(*last);
        outboardFree(heap, last);
        last = before;
    }
}
