// What both platforms of the tests have for the GPU's intrinsics on bits, and for the driver's allocator.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace outboard {

inline u32 lowestBit(u32 word) {
    return static_cast<u32>(__builtin_ctz(word));
}

inline u32 highestBit(u32 word) {
    return 31 - static_cast<u32>(__builtin_clz(word));
}

inline u32 lowestBit(u64 word) {
    return static_cast<u32>(__builtin_ctzll(word));
}

inline u32 highestBit(u64 word) {
    return 63 - static_cast<u32>(__builtin_clzll(word));
}

inline u32 countOf(u32 word) {
    return static_cast<u32>(__builtin_popcount(word));
}

inline u32 countOf(u64 word) {
    return static_cast<u32>(__builtin_popcountll(word));
}

inline u32 scaled(u32 fraction, u32 limit) {
    return static_cast<u32>((static_cast<uint64_t>(fraction) * limit) >> 32);
}

// The driver's heap: the machine's, up to a limit.
struct DriverHeap {
    static constexpr size_t HEADER = 16;

    std::atomic<u64> limit{1 << 30};
    std::atomic<u64> used{0};
    std::atomic<u64> blocks{0};
    std::atomic<u64> frees{0};

    void* malloc(size_t bytes) {
        if (bytes > limit) {
            return nullptr;
        }
        if (used.fetch_add(bytes) + bytes > limit) {
            used -= bytes;
            return nullptr;
        }
        ++blocks;
        unsigned char* const block = static_cast<unsigned char*>(std::malloc(HEADER + bytes));
        *reinterpret_cast<u64*>(block) = bytes;
        return block + HEADER;
    }

    void free(void* pointer) {
        unsigned char* const block = static_cast<unsigned char*>(pointer) - HEADER;
        used -= *reinterpret_cast<u64*>(block);
        --blocks;
        ++frees;
        std::free(block);
    }
};

inline DriverHeap driverHeap;

inline void* driverMalloc(size_t bytes) {
    return driverHeap.malloc(bytes);
}

inline void driverFree(void* pointer) {
    driverHeap.free(pointer);
}

}  // namespace outboard
