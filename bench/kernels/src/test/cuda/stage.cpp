// Runs a simulation's kernels on the CPU, one thread after the other, in another order at each launch: a stage as in stage.cuh.
//
// -DPROGRAM='"..."' is the program's source, -DSTORE=... the name that it gives its store.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#define OUTBOARD_PLATFORM "cpu_platform.h"
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

struct Dimension {
    unsigned x;
};

static Dimension blockIdx;
static Dimension blockDim = {1};
static Dimension gridDim = {64};
static Dimension threadIdx;

template <class T>
T atomicAdd(T* word, T value) {
    const T before = *word;
    *word += value;
    return before;
}

template <class T>
T atomicAdd(T* word, int value) {
    return atomicAdd(word, static_cast<T>(value));
}

template <class T>
T atomicOr(T* word, T value) {
    const T before = *word;
    *word |= value;
    return before;
}

template <class T>
T atomicXor(T* word, T value) {
    const T before = *word;
    *word ^= value;
    return before;
}

template <class T>
T atomicMin(T* word, T value) {
    const T before = *word;
    *word = std::min(before, value);
    return before;
}

template <class T>
T atomicExch(T* word, int value) {
    const T before = *word;
    *word = static_cast<T>(value);
    return before;
}

template <class T>
T atomicCAS(T* word, T expected, T desired) {
    const T before = *word;
    *word = before == expected ? desired : before;
    return before;
}

inline int __ffs(int word) { return __builtin_ffs(word); }
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __ll2float_rn(long long a) { return static_cast<float>(a); }
inline long long __float2ll_rz(float a) { return static_cast<long long>(a); }

inline unsigned __float_as_uint(float a) {
    unsigned bits;
    std::memcpy(&bits, &a, sizeof(bits));
    return bits;
}

inline float __uint_as_float(unsigned bits) {
    float a;
    std::memcpy(&a, &bits, sizeof(a));
    return a;
}

inline void __threadfence() {}
inline void __syncthreads() {}

[[noreturn]] inline void __trap() { std::abort(); }

#include PROGRAM
#include "../../main/cuda/peers/stage.cuh"

#ifdef OUTBOARD_OBJECTS
#include "outboard/object_setup.cuh"
#endif

namespace {

std::mt19937 chance(1);  // the same orders each time

void* zeroes(u64 bytes) {
    void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0, bytes);
    return memory;
}

void copyOut(void* to, const void* from, u64 bytes) { std::memcpy(to, from, bytes); }

template <class... Arguments>
void launchWith(void* kernel, Arguments... arguments) {
    std::vector<unsigned> order(gridDim.x);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), chance);
    for (const unsigned block : order) {
        blockIdx.x = block;
        reinterpret_cast<void (*)(Run, Arguments...)>(kernel)(run, arguments...);
    }
}

void launch(void* kernel) { launchWith(kernel); }

// Nobody takes times here.
void begin(bool) {}

double end() { return 0; }

#ifdef OUTBOARD_OBJECTS

outboard::Objects* heap;

template <class... Types>
outboard::ObjectPlan planOf(const Store<Types...>*) {
    using Layout = outboard::detail::ObjectLayout<Types...>;
    return {Layout::number(), Layout::COUNT, Layout::blockBytes(), {outboard::ObjectHeap<Types...>::template SLOTS<Types>...}, outboard::NEAR_FIRST};
}

void makeHeap(u64 bytes) {
    heap = static_cast<outboard::Objects*>(zeroes(bytes));
    if (!formatObjects(heap, bytes, 4, planOf(static_cast<const STORE*>(nullptr)))) {
        std::exit(1);
    }
    clearObjects(heap, 0, 1);
    std::memcpy(run.control, heap, sizeof(*heap));
}

void list(u32 type) {
    listObjects(heap, type, 0, 1);
    endListing(heap, type, 1);
}

u64 used() {
    u64 counts[2 * outboard::MOST_OBJECT_TYPES + 2] = {};
    countObjects(heap, counts, 0, 1);
    u64 objects = 0;
    for (u32 type = 0; type < heap->typeCount; ++type) {
        objects += counts[2 * type + 1];
    }
    return objects;
}

#elif defined(OUTBOARD_ALLOCATOR)

constexpr u32 COUNT_OF_PLACES = 1 << 15;

// Of a BitmapAlloc.
void makeHeap(u64 bytes) {
    Places& places = *reinterpret_cast<Places*>(run.control);
    places.memory = reinterpret_cast<u64>(zeroes(bytes));
    places.count = COUNT_OF_PLACES;
    places.units = static_cast<u32>(bytes / COUNT_OF_PLACES / 16);
    u32 bits = COUNT_OF_PLACES;
    for (u32 level = 0; level < 3; ++level) {
        const u32 words = (bits + 63) / 64;
        const u32 apart = level == 0 ? 1 : outboard::detail::APART;
        places.free.level[level] = static_cast<u64*>(zeroes(words * apart * sizeof(u64)));
        for (u32 i = 0; i < words; ++i) {
            places.free.level[level][i * apart] = outboard::detail::lowBits(bits - i * 64);
        }
        bits = words;
    }
    places.tops = bits;
}

void list(u32 type) { launchWith(kernelNamed("list"), type); }

u64 used() {
    const Places& places = *reinterpret_cast<const Places*>(run.control);
    u64 count = places.count;
    for (u32 i = 0; i < places.count / 64; ++i) {
        count -= __builtin_popcountll(places.free.level[0][i]);
    }
    return count;
}

#else

void makeHeap(u64) {}

void list(u32 type) { ++run.tables[type].lists; }

u64 used() { return 0; }

#endif

}  // namespace

int main() { return followCommands(); }
