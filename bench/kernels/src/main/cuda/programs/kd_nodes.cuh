// What a k-d tree and its build keep in memory: nodes in the heap, and beside it what the host gives and reads.
#pragma once

#include "kd_split.cuh"
#include "outboard/heap.cuh"

namespace kd {

constexpr u32 PART_REFERENCES = 2048;
constexpr u32 LARGE = 4 * PART_REFERENCES;
constexpr u32 SIDES = 2;
// Of a division: two lists, the pair, and for each child what it needs if it is large.
constexpr u32 PAIR_WISH = SIDES;
constexpr u32 LARGE_WISH = PAIR_WISH + 1;
constexpr u32 WISHES = LARGE_WISH + SIDES;

struct alignas(16) Node {
    u64 link;   // of an inner node its Pair, of a leaf its list or 0
    u32 value;  // of an inner node the plane's bits, of a leaf the number of references
    u32 axis;   // or LEAF
};

using Pair = Node[SIDES];

// A node and how it is divided.
struct Work {
    Node* node;
    u32* list;
    u64 got[WISHES];  // what the division has been given
    u32 count;        // references in the list
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
    u32 first;    // where its first task is, by which it is found if the build ends before it does
};

// What a warp has in shared memory, so that its lanes' registers are the allocator's.
struct WarpMemory {
    Work work;
    Bins bins;
};

// What the build asked for and came to.
struct Tally {
    u64 requests;
    u64 bytes;
    u64 squares;  // sum of bytes * bytes
    u64 greatest;
    u64 refused;
    u64 pairs;
    u64 references;  // of leaves
};

// What a kernel that copies the tree leaves of a node.
struct Flat {
    u32 axis;   // or LEAF
    u32 value;  // as in Node
    u32 first;  // of an inner node, where its children are; of a leaf, where its references begin
    u32 unused;
};

// What all kernels get. KdTree.Word has the same words.
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
    u64 flats;
    u64 links;  // of each node, what it holds of the heap; before it is copied, where it is
    u64 nodeCapacity;
    u64 references;
    u64 referenceCapacity;
    u64 first;  // nodes to copy or to end
    u64 last;
    u64 cycles;  // for which `begin` keeps the device busy
};

}  // namespace kd
