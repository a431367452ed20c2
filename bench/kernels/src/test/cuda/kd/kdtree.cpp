// Runs the build of a k-d tree, kdtree.cu itself, on the CPU: a host thread for each warp, and in it a fiber for each lane, of which
// one runs until it comes to what all lanes of the warp do together.
//
//   kdtree TRIANGLES LEAF_REFERENCES MOST_DEPTH HEAP_BYTES WARPS BOXES_AND_TREE
//
// The file holds the boxes of the triangles, 8 floats each, and then the box of all, 6; it is overwritten by the nodes, four ints
// each, and the references of all leaves. Prints: state refused nodes references requests bytes squares greatest usedChunks misuses.
#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#define OUTBOARD_PLATFORM "cpu_platform.h"
#include "outboard/allocators.cuh"
#include "outboard/heap_scan.cuh"
#include "outboard/heap_setup.cuh"

using namespace outboard;

namespace lanes {

constexpr unsigned COUNT = 32;
constexpr size_t STACK_BYTES = 64 << 10;

// The lanes of a warp. What they exchange has two places, in turns: a lane may come to the next exchange before others have read.
// Lanes change places by _longjmp, which needs no system call, once each has begun.
struct Fibers {
    jmp_buf main;
    jmp_buf each[COUNT];
    ucontext_t begin[COUNT];
    bool begun[COUNT] = {};
    std::vector<char> stacks = std::vector<char>(COUNT * STACK_BYTES);
    unsigned long long values[2][COUNT];
    unsigned exchanges[COUNT] = {};
    unsigned running = 0;
    unsigned left = COUNT;
    void (*kernel)() = nullptr;
};

inline thread_local Fibers* fibers = nullptr;

inline void run() {
    fibers->kernel();
    --fibers->left;
    _longjmp(fibers->main, 1);
}

// The running lane, until it comes to an exchange or ends.
inline void resume() {
    Fibers& all = *fibers;
    const unsigned lane = all.running;
    if (_setjmp(all.main) == 0) {
        if (all.begun[lane]) {
            _longjmp(all.each[lane], 1);
        }
        all.begun[lane] = true;
        setcontext(&all.begin[lane]);
    }
}

// The values of all lanes, once each has come here.
inline const unsigned long long* exchange(unsigned long long value) {
    Fibers& all = *fibers;
    const unsigned lane = all.running;
    unsigned long long* const place = all.values[all.exchanges[lane]++ % 2];
    place[lane] = value;
    if (_setjmp(all.each[lane]) == 0) {
        _longjmp(all.main, 1);
    }
    return place;
}

// All lanes must come to the same exchanges, as often.
inline void runWarp(void (*kernel)()) {
    Fibers all;
    fibers = &all;
    all.kernel = kernel;
    for (unsigned lane = 0; lane < COUNT; ++lane) {
        getcontext(&all.begin[lane]);
        all.begin[lane].uc_stack.ss_sp = all.stacks.data() + lane * STACK_BYTES;
        all.begin[lane].uc_stack.ss_size = STACK_BYTES;
        all.begin[lane].uc_link = nullptr;
        makecontext(&all.begin[lane], run, 0);
    }
    while (all.left == COUNT) {
        for (all.running = 0; all.running < COUNT; ++all.running) {
            resume();
            if (all.exchanges[all.running] != all.exchanges[0]) {
                std::printf("lane %u must come to the exchange of lane 0\n", all.running);
                std::_Exit(1);
            }
        }
    }
    if (all.left != 0) {
        std::printf("all lanes must end together\n");
        std::_Exit(1);
    }
}

}  // namespace lanes

struct Dimension {
    unsigned x;
};

#define __device__
#define __global__
#define __shared__ static thread_local
#define __grid_constant__
#define __launch_bounds__(...)
#define threadIdx (Dimension{lanes::fibers->running})
#define min(a, b) ((a) < (b) ? (a) : (b))

struct float4 {
    float x, y, z, w;
};

inline unsigned __ballot_sync(unsigned, bool mine) {
    unsigned bits = 0;
    const unsigned long long* const values = lanes::exchange(mine);
    for (unsigned lane = 0; lane < lanes::COUNT; ++lane) {
        bits |= static_cast<unsigned>(values[lane]) << lane;
    }
    return bits;
}

template <class T>
unsigned long long bitsOf(T value) {
    unsigned long long bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T>
T fromLane(T mine, unsigned lane) {
    const unsigned long long bits = lanes::exchange(bitsOf(mine))[lane];
    std::memcpy(&mine, &bits, sizeof(T));
    return mine;
}

template <class T>
T __shfl_sync(unsigned, T mine, int lane) { return fromLane(mine, static_cast<unsigned>(lane)); }

template <class T>
T __shfl_xor_sync(unsigned, T mine, unsigned distance) { return fromLane(mine, threadIdx.x ^ distance); }

template <class T>
T __shfl_up_sync(unsigned, T mine, unsigned distance) {
    return fromLane(mine, threadIdx.x >= distance ? threadIdx.x - distance : threadIdx.x);
}

inline void __syncwarp() { lanes::exchange(0); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __nanosleep(unsigned) { std::this_thread::yield(); }
inline long long clock64() { return 0; }
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline float __fdividef(float a, float b) { return b == 0 ? 0 : std::fmax(-1e9f, std::fmin(a / b, 1e9f)); }
inline unsigned __float_as_uint(float value) { return static_cast<unsigned>(bitsOf(value)); }

template <class T>
T __ldcg(const T* place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

template <class T>
T __ldg(const T* place) { return *place; }

template <class T>
void __stcg(T* place, T value) { __atomic_store_n(place, value, __ATOMIC_RELAXED); }

template <class T, class V>
T atomicAdd(T* word, V value) { return __atomic_fetch_add(word, static_cast<T>(value), __ATOMIC_ACQ_REL); }

template <class T, class V>
T atomicSub(T* word, V value) { return __atomic_fetch_sub(word, static_cast<T>(value), __ATOMIC_ACQ_REL); }

template <class T>
T atomicCAS(T* word, int expected, int desired) {
    T seen = static_cast<T>(expected);
    __atomic_compare_exchange_n(word, &seen, static_cast<T>(desired), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return seen;
}

inline void atomicMax(unsigned long long* word, unsigned long long value) {
    unsigned long long seen = *word;
    while (seen < value && !__atomic_compare_exchange_n(word, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

#include "../../../main/cuda/programs/kdtree.cu"

#undef min

namespace {

constexpr u32 MULTIPROCESSORS = 3;

Build* work;

void kernel() { buildCounted(*work); }

u64 addressOf(void* memory) { return reinterpret_cast<u64>(memory); }

}  // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        std::printf("kdtree TRIANGLES LEAF_REFERENCES MOST_DEPTH HEAP_BYTES WARPS BOXES_AND_TREE\n");
        return 2;
    }
    const u32 triangles = static_cast<u32>(std::atoi(arguments[1]));
    const u64 heapBytes = std::strtoull(arguments[4], nullptr, 10);
    std::vector<float> boxes(8ull * triangles + 6);
    std::ifstream(arguments[6], std::ios::binary).read(reinterpret_cast<char*>(boxes.data()), boxes.size() * sizeof(float));
    auto* const heap = static_cast<Heap*>(std::aligned_alloc(256, (heapBytes + 255) / 256 * 256));
    std::memset(static_cast<void*>(heap), 0, heapBytes);
    if (!format(heap, heapBytes, MULTIPROCESSORS, 256, OUTBOARD_FLAGS)) {
        return 2;
    }
    preSplit(heap, SPLIT_BINARY_HEAP, 64 << 10, 0, 0, 1);
    std::vector<Task> tasks(3 * triangles + 65536);
    std::vector<Node> nodes(6 * triangles);
    std::vector<u32> references(12 * triangles);
    std::vector<u32> lists(24 * triangles);
    std::vector<Large> larges(64);
    alignas(128) static Queue queue;
    Tally tally = {};
    static Build build;
    std::memcpy(static_cast<void*>(&build.heap), heap, sizeof(Heap));
    build.triangles = triangles;
    build.boxes = addressOf(boxes.data());
    build.queue = addressOf(&queue);
    build.tasks = addressOf(tasks.data());
    build.taskCapacity = tasks.size();
    build.leafReferences = std::strtoull(arguments[2], nullptr, 10);
    build.mostDepth = std::strtoull(arguments[3], nullptr, 10);
    std::memcpy(&build.box, boxes.data() + 8ull * triangles, sizeof(Box));
    build.tally = addressOf(&tally);
    build.nodes = addressOf(nodes.data());
    build.nodeCapacity = nodes.size();
    build.references = addressOf(references.data());
    build.referenceCapacity = references.size();
    build.lists = addressOf(lists.data());
    build.listCapacity = lists.size();
    build.larges = addressOf(larges.data());
    build.largeCapacity = larges.size();
    begin(build);
    work = &build;
    std::vector<std::thread> warps;
    for (int i = 0; i < std::atoi(arguments[5]); ++i) {
        warps.emplace_back([i] {
            self.random = i + 1;
            self.multiprocessor = i;
            lanes::runWarp(kernel);
        });
    }
    for (std::thread& warp : warps) {
        warp.join();
    }
    Segment segment;
    u64 statistics[STATISTICS];
    scanSegment(heap, &segment, 0, 1);
    summarise(heap, &segment, 1, statistics);
    std::printf("%u %u %u %u %llu %llu %llu %llu %llu %llu\n", queue.state, queue.refused, queue.nodes, queue.references,
                tally.requests, tally.bytes, tally.squares, tally.greatest, statistics[1],
                statistics[6]);
    std::ofstream out(arguments[6], std::ios::binary);
    out.write(reinterpret_cast<char*>(nodes.data()), queue.nodes * sizeof(Node));
    out.write(reinterpret_cast<char*>(references.data()), queue.references * sizeof(u32));
    return 0;
}
