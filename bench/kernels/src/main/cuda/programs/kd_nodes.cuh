// What a k-d tree's build keeps in memory. Lists of references are in the heap; all else lies in arrays of the host's, which reads
// the tree there.
#pragma once

#include "kd_split.cuh"
#include "outboard/heap.cuh"

namespace kd {

constexpr u32 PART_REFERENCES = 2048;
constexpr u32 LARGE = 4 * PART_REFERENCES;
constexpr u32 SIDES = 2;

// Longer lists aren't in the heap, see kdtree.cu. KdTree knows it, too.
constexpr u32 MOST_REFERENCES = 16384;

struct alignas(16) Node {
    u32 axis;   // or LEAF
    u32 value;  // of an inner node the plane's bits, of a leaf the number of references
    u32 first;  // of an inner node, the number of the first of its children; of a leaf, where its references begin
    u32 unused;
};

// A node and how it is divided.
struct Work {
    u32* list;          // null: the root's, of all triangles
    u32* lists[SIDES];  // what the division has been given
    u32 children;       // the number of the first
    u32 node;           // its number
    u32 count;          // references in the list
    u32 depth;
    Box box;
    Split split;
};

constexpr u32 WORK_WORDS = sizeof(Work) / sizeof(u32);

// A node that many warps divide.
struct Large {
    Work work;
    Bins bins;
    u32 counted;  // parts
    u32 written;  // parts
    u64 placed;   // references of all parts so far: left in the low half, right in the high one
};

static_assert(sizeof(Large) <= 1024, "the host allocates them");

// What a warp has in shared memory, so that its lanes' registers are the allocator's.
struct WarpMemory {
    Work work;
    Bins bins;
};

// What the build asked the heap for.
struct Tally {
    u64 requests;
    u64 bytes;
    u64 squares;  // sum of bytes * bytes
    u64 greatest;
    u64 refused;
};

// What all kernels get. KdDevice.Word has the same words.
struct Build {
    outboard::Heap heap;
    u64 triangles;
    u64 boxes;  // of each triangle two float4: least and greatest, their last words unused
    u64 queue;
    u64 tasks;
    u64 taskCapacity;
    u64 leafReferences;  // so few make a leaf
    u64 mostDepth;
    Box box;  // of all triangles
    u64 tally;
    u64 nodes;
    u64 nodeCapacity;
    u64 references;  // of leaves
    u64 referenceCapacity;
    u64 lists;  // memory for long ones, in references
    u64 listCapacity;
    u64 larges;
    u64 largeCapacity;
    u64 cycles;  // for which `begin` keeps the device busy
};

}  // namespace kd
