// What both platforms of the tests have for the GPU's intrinsics on bits.
#pragma once

#include <cstdint>

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

}  // namespace outboard
