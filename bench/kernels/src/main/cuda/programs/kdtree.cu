// The build of a k-d tree over triangles, in one kernel, as Vinkler and Havran 2014 measure allocators by it (section 7, "Data
// structure build"): a warp is the unit of computation, takes nodes from a pool of tasks, and has one thread allocate a list of
// references to triangles for each child, which are in both children where they reach over the plane. How a node is divided the
// paper doesn't say: see kd_split.cuh. It ends as a leaf if it has few references, is deep, or no plane is worth it.
//
//     requests of a division   the list of each child that isn't empty: two chunks, as in the paper
//     free of a division       the node's list
//     free of a leaf           its list, after its references have been copied to an array
//
// So the heap has lists alone, as many frees as requests, and nothing in the end. Nodes, and references of leaves, are in arrays.
//
// Lists of more than MOST_REFERENCES are in memory that is set aside. The paper doesn't say where its long lists are, but its tables
// 3 and 4 do: no request can be larger than the root of (the number of requests * (deviation^2 + mean^2)), which is 0.44 of the root's
// list for 283 thousand triangles and 0.06 for 12.7 million. docs/errata.md has the numbers.
//
// A node with more than LARGE references is divided by many warps. Its list is cut into parts, each a task: they are counted
// into bins (BIN); who ends the last of these chooses the plane and allocates the children's lists; then the parts are
// written there (PART), and who ends the last of those goes on with the children. Smaller nodes are divided by one warp, which
// goes on with one of the children at once and puts the other into the pool.
//
// After a request that gets nothing no node is divided any more: each becomes a leaf, whose list is freed as any other. So all is
// free in the end of a build that was refused, too.
//
// Compiled for each store by cuda-backend/ptx.sh, with -DOUTBOARD_ALLOCATOR='...' and -fmad=false; and with -DOUTBOARD_ARENA for a
// WarpArena over it (FDGMalloc): each warp has its own, whose memory is all freed when the tree is done. The paper leaves FDGMalloc
// out of this test, since it can free only then.
#include "allocator_of.cuh"
#include "kd_nodes.cuh"
#include "kd_tasks.cuh"
#include "outboard/warp_arena.cuh"

using Allocator = OUTBOARD_ALLOCATOR;

namespace {

using namespace kd;

constexpr u32 WARPS = 4;   // of a block
constexpr u32 BLOCKS = 7;  // of a multiprocessor at least, so that no store takes more than 72 registers

// What lists are allocated with, by the first lane of each warp.
#ifdef OUTBOARD_ARENA
class Lists {
    using Arena = outboard::WarpArena<Allocator, false>;

    // All warps begin with one, those too that never have a task.
    static constexpr size_t FIRST_BYTES = 1024;

    Arena arena;

    static __device__ Arena arenaOf(const Build& build) {
        const Allocator behind = MakeAllocator<Allocator>::of(&build.heap);
        return threadIdx.x % LANES == 0 ? Arena(behind, FIRST_BYTES) : Arena::resume(behind, nullptr);
    }

  public:
    __device__ explicit Lists(const Build& build) : arena(arenaOf(build)) {}

    __device__ void* malloc(size_t bytes) { return arena.malloc(bytes); }

    __device__ void free(void*) {}

    // After the build: the others have read all that they had to read of this.
    __device__ void end() {
        __threadfence();
        arena.freeAll();
    }
};
#else
class Lists {
    Allocator allocator;

  public:
    __device__ explicit Lists(const Build& build) : allocator(MakeAllocator<Allocator>::of(&build.heap)) {}

    __device__ void* malloc(size_t bytes) { return allocator.malloc(bytes); }

    __device__ void free(void* list) { allocator.free(list); }

    __device__ void end() {}
};
#endif

// One warp of a build. Where `work` changes, its lanes wait for each other before and after.
template <bool COUNTED>
class Builder {
    const Build& build;
    const Tasks tasks;
    Work& work;
    Bins& bins;
    Lists lists;
    const u32 lane = threadIdx.x % LANES;

    __device__ Tally* tally() const { return reinterpret_cast<Tally*>(build.tally); }

    __device__ Queue& queue() const { return *reinterpret_cast<Queue*>(build.queue); }

    __device__ Node* nodes() const { return reinterpret_cast<Node*>(build.nodes); }

    __device__ bool isTask(u32 references, u32 depth) const {
        return references > build.leafReferences && depth < build.mostDepth;
    }

    __device__ static u32 partsOf(u32 references) { return (references + PART_REFERENCES - 1) / PART_REFERENCES; }

    __device__ static u32 startOf(u32 part) { return part * PART_REFERENCES; }

    __device__ u32 referencesOf(u32 side) const { return side == 0 ? work.split.left : work.split.right; }

    __device__ void load(const Task& task) {
        __syncwarp();
        if (lane == 0) {
            work.list = reinterpret_cast<u32*>(task.subject);
            work.node = task.node;
            work.count = task.count;
            work.depth = task.depth;
            work.box = task.box;
        }
        __syncwarp();
    }

    __device__ void load(const Large& large) {
        const auto* const from = reinterpret_cast<const u32*>(&large.work);
        auto* const to = reinterpret_cast<u32*>(&work);
        __syncwarp();
        for (u32 i = lane; i < WORK_WORDS; i += LANES) {
            to[i] = __ldcg(from + i);
        }
        __syncwarp();
    }

    // What has been chosen and allocated, for those who write the parts.
    __device__ void store(Large& large) const {
        const auto* const from = reinterpret_cast<const u32*>(&work);
        auto* const to = reinterpret_cast<u32*>(&large.work);
        for (u32 i = lane; i < WORK_WORDS; i += LANES) {
            __stcg(to + i, from[i]);
        }
    }

    // A reference of a list. The memory may have been in other hands in this kernel: it is read where all multiprocessors share it.
    __device__ static u32 referenceOf(const u32* list, u32 index) { return list == nullptr ? index : __ldcg(list + index); }

    // Of references [from, to) of the list, into bins that are cleared first.
    __device__ void countIntoBins(u32 from, u32 to) {
        u32* const words = &bins.starts[0][0];
        for (u32 i = lane; i < BIN_WORDS; i += LANES) {
            words[i] = 0;
        }
        __syncwarp();
        const auto* const boxes = reinterpret_cast<const float4*>(build.boxes);
        const u32* const list = work.list;
        for (u32 i = from + lane; i < to; i += LANES) {
            const u32 triangle = referenceOf(list, i);
            addToBins(bins, work.box, __ldg(boxes + 2ull * triangle), __ldg(boxes + 2ull * triangle + 1));
        }
        __syncwarp();
    }

    // Of references [from, to), how many go to the left, and in the high half to the right. They are written if there are
    // lists to write them to.
    template <bool WRITES>
    __device__ u64 part(u32 from, u32 to, u32* left, u32* right) const {
        const auto* const boxes = reinterpret_cast<const float*>(build.boxes) + work.split.axis;
        const float plane = work.split.plane;
        const u32* const list = work.list;
        const u32 lower = (1u << lane) - 1;
        u32 lefts = 0;
        u32 rights = 0;
        for (u32 i = from; i < to; i += LANES) {
            bool goesLeft = false;
            bool goesRight = false;
            u32 triangle = 0;
            if (i + lane < to) {
                triangle = referenceOf(list, i + lane);
                const float begin = __ldg(boxes + 8ull * triangle);
                const float end = __ldg(boxes + 8ull * triangle + 4);
                goesLeft = isLeft(begin, end, plane);
                goesRight = isRight(end, plane);
            }
            const u32 allLeft = __ballot_sync(ALL, goesLeft);
            const u32 allRight = __ballot_sync(ALL, goesRight);
            if (WRITES && goesLeft) {
                __stcg(left + lefts + __popc(allLeft & lower), triangle);
            }
            if (WRITES && goesRight) {
                __stcg(right + rights + __popc(allRight & lower), triangle);
            }
            lefts += __popc(allLeft);
            rights += __popc(allRight);
        }
        return static_cast<u64>(rights) << 32 | lefts;
    }

    // A list for a child, by one lane; null if there is no memory.
    __device__ u32* makeList(u32 references) {
        if (references > MOST_REFERENCES) {
            u32 first = 0;
            return tasks.give(queue().listReferences, references, build.listCapacity, first)
                           ? reinterpret_cast<u32*>(build.lists) + first
                           : nullptr;
        }
        const u64 bytes = references * sizeof(u32);
        auto* const list = static_cast<u32*>(lists.malloc(bytes));
        if (COUNTED) {
            atomicAdd(&tally()->requests, 1ull);
            atomicAdd(&tally()->bytes, bytes);
            atomicAdd(&tally()->squares, bytes * bytes);
            atomicMax(&tally()->greatest, bytes);
            atomicAdd(&tally()->refused, list == nullptr ? 1ull : 0ull);
        }
        return list;
    }

    // By one lane. The root's list, of all triangles, is none, and long ones aren't the heap's.
    __device__ void freeList(u32* list, u32 references) {
        if (list != nullptr && references <= MOST_REFERENCES) {
            lists.free(list);
        }
    }

    // What a division needs. False if there wasn't all of it: then nothing was taken, and no node is divided any more.
    __device__ bool allocate() {
        bool isGiven = true;
        if (lane == 0) {
            u32 children = 0;
            for (u32 side = 0; side < SIDES; ++side) {
                work.lists[side] = isGiven && referencesOf(side) != 0 ? makeList(referencesOf(side)) : nullptr;
                isGiven = isGiven && (referencesOf(side) == 0 || work.lists[side] != nullptr);
            }
            isGiven = isGiven && tasks.give(queue().nodes, SIDES, build.nodeCapacity, children);
            work.children = children;
            for (u32 side = 0; side < SIDES && !isGiven; ++side) {
                freeList(work.lists[side], referencesOf(side));
            }
            if (!isGiven) {
                // Relaxed: only ends the build sooner.
                outboard::Atomic<u32>(queue().refused).store(1, outboard::RELAXED);
            }
        }
        __syncwarp();
        return __shfl_sync(ALL, isGiven ? 1 : 0, 0) != 0;
    }

    // Puts a task for each part of a large node.
    __device__ void putParts(Large* large, Kind kind, u32 references) const {
        const u32 parts = partsOf(references);
        u32 first = 0;
        if (lane == 0) {
            first = tasks.places(parts);
        }
        first = __shfl_sync(ALL, first, 0);
        __syncwarp();
        for (u32 i = lane; i < parts; i += LANES) {
            tasks.put(first + i, kind, [&](Task& task) {
                task.subject = reinterpret_cast<u64>(large);
                task.count = i;
            });
        }
    }

    // Whether this was the last part. If so, what was done for all of them is seen.
    __device__ bool isLast(u32* ended) const {
        __syncwarp();
        u32 before = 0;
        if (lane == 0) {
            // All that the warp has done, before the number by which others hear of it; and what they did, after it.
            __threadfence();
            before = atomicAdd(ended, 1);
            __threadfence();
        }
        before = __shfl_sync(ALL, before, 0);
        __syncwarp();
        return before == partsOf(work.count) - 1;
    }

    // A part has been counted: adds it to the large node's bins. If it was the last, the bins are those of the whole.
    __device__ bool mergeBins(Large* large) {
        u32* const words = &bins.starts[0][0];
        u32* const shared = &large->bins.starts[0][0];
        for (u32 i = lane; i < BIN_WORDS; i += LANES) {
            if (words[i] != 0) {
                atomicAdd(shared + i, words[i]);
            }
        }
        if (!isLast(&large->counted)) {
            return false;
        }
        for (u32 i = lane; i < BIN_WORDS; i += LANES) {
            words[i] = __ldcg(shared + i);
        }
        __syncwarp();
        return true;
    }

    // Into the children's lists, references [from, to).
    __device__ void write(u32 from, u32 to, Large* large) const {
        u64 before = 0;
        if (large != nullptr) {
            const u64 sums = part<false>(from, to, nullptr, nullptr);
            if (lane == 0) {
                before = atomicAdd(&large->placed, sums);
            }
            before = __shfl_sync(ALL, before, 0);
        }
        part<true>(from, to, work.lists[0] + static_cast<u32>(before), work.lists[1] + (before >> 32));
    }

    // Memory for a large node, or null: if it isn't large, or if there is none, so that one warp divides it.
    __device__ Large* makeLarge(u32 references) const {
        u32 index = ~0u;
        if (lane == 0 && references > LARGE) {
            index = atomicAdd(&queue().larges, 1);
        }
        index = __shfl_sync(ALL, index, 0);
        return index < build.largeCapacity ? reinterpret_cast<Large*>(build.larges) + index : nullptr;
    }

    // What is known of a child, of the node at work or of a large one.
    __device__ void toChild(Work& child, u32 side) const {
        child.node = work.children + side;
        child.list = work.lists[side];
        child.count = referencesOf(side);
        child.depth = work.depth + 1;
        cut(child.box, side);
    }

    __device__ void cut(Box& box, u32 side) const {
        box = work.box;
        (side == 0 ? box.hi : box.lo)[work.split.axis] = work.split.plane;
    }

    __device__ void putNode(u32 side) const {
        tasks.put(tasks.places(1), NODE, [&](Task& task) {
            task.subject = reinterpret_cast<u64>(work.lists[side]);
            task.node = work.children + side;
            task.count = referencesOf(side);
            task.depth = work.depth + 1;
            cut(task.box, side);
        });
    }

    // A node that stays a leaf: copies its references to the array, and frees its list.
    __device__ void makeLeaf(u32 node, u32* list, u32 count) {
        u32 first = 0;
        u32 isGiven = 0;
        if (lane == 0) {
            isGiven = tasks.give(queue().references, count, build.referenceCapacity, first) ? 1 : 0;
            nodes()[node] = {LEAF, count, first, 0};
        }
        first = __shfl_sync(ALL, first, 0);
        isGiven = __shfl_sync(ALL, isGiven, 0);
        if (isGiven != 0) {
            for (u32 i = lane; i < count; i += LANES) {
                reinterpret_cast<u32*>(build.references)[first + i] = referenceOf(list, i);
            }
        }
        // All have read what is freed.
        __syncwarp();
        if (lane == 0) {
            freeList(list, count);
        }
    }

    // Hands the children on. True if one of them is at work now.
    __device__ bool goOn() {
        u32 waiting = 0;  // bits of sides
        for (u32 side = 0; side < SIDES; ++side) {
            if (isTask(referencesOf(side), work.depth + 1)) {
                waiting |= 1u << side;
            } else {
                makeLeaf(work.children + side, work.lists[side], referencesOf(side));
            }
        }
        if (lane == 0) {
            nodes()[work.node] = {work.split.axis, __float_as_uint(work.split.plane), work.children, 0};
            tasks.replaceBy(__popc(waiting));
        }
        // What is in memory, before tasks say so.
        __syncwarp();
        u32 mine = SIDES;
#pragma unroll
        for (u32 side = 0; side < SIDES; ++side) {
            if ((waiting >> side & 1) == 0) {
                continue;
            }
            Large* const large = makeLarge(referencesOf(side));
            if (large != nullptr) {
                if (lane == 0) {
                    toChild(large->work, side);
                }
                putParts(large, BIN, referencesOf(side));
            } else if (mine == SIDES) {
                mine = side;
            } else if (lane == 0) {
                putNode(side);
            }
        }
        __syncwarp();
        if (mine != SIDES && lane == 0) {
            toChild(work, mine);
        }
        __syncwarp();
        return mine != SIDES;
    }

    // Whether the node at work is to be divided.
    __device__ bool choosePlane() {
        const Split split = choose(bins, work.box, work.count);
        // Relaxed: only ends the build sooner.
        u32 isRefused = 0;
        if (lane == 0) {
            isRefused = outboard::Atomic<u32>(queue().refused).load(outboard::RELAXED);
            work.split = split;
        }
        __syncwarp();
        return split.axis != LEAF && __shfl_sync(ALL, isRefused, 0) == 0;
    }

    // Does a task, or goes on with the node at work. True if a child is at work then.
    __device__ bool step(u32 kind, Large* large, u32 from) {
        const u32 to = large == nullptr ? work.count : min(work.count, from + PART_REFERENCES);
        if (kind == ROOT) {
            Large* const root = makeLarge(work.count);
            if (root != nullptr) {
                store(*root);
                putParts(root, BIN, work.count);
                return false;
            }
        }
        if (kind == PART) {
            write(from, to, large);
            if (!isLast(&large->written)) {
                return false;
            }
        } else {
            countIntoBins(from, to);
            if (kind == BIN && !mergeBins(large)) {
                return false;
            }
            if (!choosePlane() || !allocate()) {
                makeLeaf(work.node, work.list, work.count);
                if (lane == 0) {
                    tasks.replaceBy(0);
                }
                return false;
            }
            if (kind == BIN) {
                store(*large);
                putParts(large, PART, work.count);
                return false;
            }
            write(0, work.count, nullptr);
        }
        // All have read the list, and what goOn changes.
        __syncwarp();
        if (lane == 0) {
            freeList(work.list, work.count);
        }
        return goOn();
    }

  public:
    __device__ Builder(const Build& theBuild, WarpMemory& memory)
        : build(theBuild),
          tasks(theBuild.queue, theBuild.tasks, theBuild.taskCapacity),
          work(memory.work),
          bins(memory.bins),
          lists(theBuild) {}

    // Until the build has ended.
    __device__ void run() {
        bool isAtWork = false;
        while (true) {
            u32 kind = NODE;
            Large* large = nullptr;
            u32 from = 0;
            if (!isAtWork) {
                const Task* const task = tasks.take();
                if (task == nullptr) {
                    break;
                }
                kind = task->kind;
                if (kind == BIN || kind == PART) {
                    large = reinterpret_cast<Large*>(task->subject);
                    from = startOf(task->count);
                    load(*large);
                } else {
                    load(*task);
                }
            }
            isAtWork = step(kind, large, from);
        }
        lists.end();
    }
};

template <bool COUNTED>
__device__ void buildTree(const Build& build) {
    __shared__ WarpMemory memory[WARPS];
    Builder<COUNTED>(build, memory[threadIdx.x / LANES]).run();
}

}  // namespace

extern "C" {

// One thread, after the queue, the tasks and the large nodes have been zeroed. Then it waits, until the host has launched what is
// timed.
__global__ void begin(const __grid_constant__ Build build) {
    auto& queue = *reinterpret_cast<Queue*>(build.queue);
    queue.tail = 1;
    queue.pending = 1;
    queue.nodes = 1;
    Tasks(build.queue, build.tasks, build.taskCapacity).put(0, ROOT, [&](Task& task) {
        task.count = static_cast<u32>(build.triangles);
        task.box = build.box;
    });
    const long long end = clock64() + static_cast<long long>(build.cycles);
    while (clock64() < end) {
    }
}

// As many blocks as the device has room for at a time. Each of WARPS warps.
__global__ void __launch_bounds__(WARPS* LANES, BLOCKS) build(const __grid_constant__ Build build) { buildTree<false>(build); }

// The same, and counts.
__global__ void __launch_bounds__(WARPS* LANES, BLOCKS) buildCounted(const __grid_constant__ Build build) {
    buildTree<true>(build);
}

// Asks for what there can't be, so that buffers give all that they keep to the allocator behind.
__global__ void drain(const __grid_constant__ Build build) {
    Allocator allocator = MakeAllocator<Allocator>::of(&build.heap);
    allocator.free(allocator.malloc(1ull << 50));
}

}
