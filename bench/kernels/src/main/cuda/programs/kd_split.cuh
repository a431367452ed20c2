// Where a node of a k-d tree is divided, by one warp: the surface area heuristic (MacDonald and Booth 1990) over planes at
// equal distances, BINS - 1 on each axis.
//
//     plane k of an axis   lo + k * ((hi - lo) / BINS), for 0 < k < BINS, unless it falls on a side of the node
//     left of a plane      a triangle whose box begins before it, or lies in it
//     right of a plane     one whose box ends behind it; so one may be in both
//     cost of a plane      TRAVERSAL * area + left * area of left + right * area of right; 0.8 times the latter two if
//                          either is empty (Wald and Havran 2006)
//     divided              at the plane of least cost, the first of these, if that is less than count * area
//
// A triangle adds to two bins of each axis: `starts`, of the first plane that it is left of, and `ends`, of the last plane that
// it is right of. So the numbers are those that the division comes to, and lists are as long as they must be. The CPU comes to
// the same (KdBuilder): it needs a compiler that joins no multiplication with an addition, -fmad=false.
#pragma once

namespace kd {

using u32 = unsigned;
using u64 = unsigned long long;

constexpr u32 LANES = 32;
constexpr u32 ALL = ~0u;
constexpr u32 AXES = 3;
constexpr u32 LEAF = AXES;   // in place of an axis
constexpr u32 BINS = LANES;  // of each axis: a plane for each lane but the first
constexpr float TRAVERSAL = 1.5f;
constexpr float EMPTY_BONUS = 0.8f;

struct Box {
    float lo[AXES];
    float hi[AXES];
};

struct Bins {
    u32 starts[AXES][BINS];
    u32 ends[AXES][BINS];
};

constexpr u32 BIN_WORDS = sizeof(Bins) / sizeof(u32);

struct Split {
    u32 axis;  // LEAF: none is worth it
    float plane;
    u32 left;  // references
    u32 right;
};

struct Planes {
    float lo;
    float width;

    __device__ Planes(float from, float to) : lo(from), width((to - from) / BINS) {}

    __device__ float operator[](u32 number) const { return lo + static_cast<float>(number) * width; }

    // How many planes are less than a value; or, with `orAt`, not greater.
    __device__ u32 before(float value, bool orAt) const {
        // Only a guess: rounded, and of any value where the width is 0.
        const int guess = static_cast<int>(__fdividef(value - lo, width));
        u32 number = guess < 0 ? 0 : guess < static_cast<int>(BINS) ? guess : BINS - 1;
        while (number < BINS - 1 && isBefore((*this)[number + 1], value, orAt)) {
            ++number;
        }
        while (number > 0 && !isBefore((*this)[number], value, orAt)) {
            --number;
        }
        return number;
    }

  private:
    static __device__ bool isBefore(float plane, float value, bool orAt) { return orAt ? plane <= value : plane < value; }
};

// Of a triangle's box on one axis.
__device__ inline bool isLeft(float from, float to, float plane) { return from < plane || to <= plane; }

__device__ inline bool isRight(float to, float plane) { return to > plane; }

__device__ inline void addToBins(Bins& bins, const Box& node, const float4& lo, const float4& hi) {
    const float from[AXES] = {lo.x, lo.y, lo.z};
    const float to[AXES] = {hi.x, hi.y, hi.z};
#pragma unroll
    for (u32 axis = 0; axis < AXES; ++axis) {
        const Planes planes(node.lo[axis], node.hi[axis]);
        const u32 end = planes.before(to[axis], false);
        // A flat one is left of a plane that it lies in.
        const u32 start = from[axis] == to[axis] ? end : planes.before(from[axis], true);
        atomicAdd(&bins.starts[axis][start], 1u);
        atomicAdd(&bins.ends[axis][end], 1u);
    }
}

// Of all lanes below this one.
__device__ inline u32 sumBelow(u32 value) {
    const u32 lane = threadIdx.x % LANES;
    u32 sum = value;
    for (u32 distance = 1; distance < LANES; distance *= 2) {
        const u32 other = __shfl_up_sync(ALL, sum, distance);
        sum += lane >= distance ? other : 0;
    }
    return sum - value;
}

// By all lanes of a warp, after its triangles have been added to the bins.
__device__ inline Split choose(const Bins& bins, const Box& node, u32 count) {
    const u32 lane = threadIdx.x % LANES;
    const float extents[AXES] = {node.hi[0] - node.lo[0], node.hi[1] - node.lo[1], node.hi[2] - node.lo[2]};
    const float area = extents[0] * extents[1] + extents[1] * extents[2] + extents[2] * extents[0];
    const float whole = static_cast<float>(count) * area;
    float least = whole;
    Split mine = {LEAF, 0, 0, 0};
#pragma unroll
    for (u32 axis = 0; axis < AXES; ++axis) {
        const u32 left = sumBelow(bins.starts[axis][lane]);
        const u32 right = count - sumBelow(bins.ends[axis][lane]);
        const float lo = node.lo[axis];
        const float hi = node.hi[axis];
        const float plane = Planes(lo, hi)[lane];
        const float one = extents[(axis + 1) % AXES];
        const float other = extents[(axis + 2) % AXES];
        const float ends = one * other;
        const float around = one + other;
        const float ofLeft = static_cast<float>(left) * (ends + (plane - lo) * around);
        const float ofRight = static_cast<float>(right) * (ends + (hi - plane) * around);
        const float both = left == 0 || right == 0 ? EMPTY_BONUS * (ofLeft + ofRight) : ofLeft + ofRight;
        const float cost = TRAVERSAL * area + both;
        if (lane != 0 && plane > lo && plane < hi && cost < least) {
            least = cost;
            mine = {axis, plane, left, right};
        }
    }
    // Costs aren't negative, so that their bits are in their order. Among equals, the first axis and then the first plane.
    u64 best = static_cast<u64>(__float_as_uint(least)) << 32 | mine.axis * BINS | lane;
    for (u32 distance = LANES / 2; distance != 0; distance /= 2) {
        const u64 theirs = __shfl_xor_sync(ALL, best, distance);
        best = theirs < best ? theirs : best;
    }
    const int winner = static_cast<int>(best % BINS);
    return {__shfl_sync(ALL, mine.axis, winner), __shfl_sync(ALL, mine.plane, winner), __shfl_sync(ALL, mine.left, winner),
            __shfl_sync(ALL, mine.right, winner)};
}

}  // namespace kd
