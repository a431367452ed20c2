// The build of a k-d tree over triangles, in one kernel, as Vinkler and Havran 2014 measure allocators by it (section 7, "Data
// structure build"): a warp is the unit of computation, takes nodes from a pool of tasks, and has the lists of references to
// triangles, which are in both children where they reach over the plane, allocated as it goes. How a node is divided the paper
// doesn't say: see kd_split.cuh. It ends as a leaf if it has few references, is deep, or no plane is worth it.
//
//     request of the root      its list: 4 bytes a triangle; and a pair of nodes, of which one is used
//     requests of a division   the list of each child that isn't empty; the pair of child nodes, 32 bytes; for each child
//                              that is large, what many warps need to divide it, about 900 bytes
//     frees of a division      the node's list; what a large one had
//
// All requests of a division are made together, each by a lane of its own; so are its frees. Leaves keep their lists.
//
// A node with more than LARGE references is divided by many warps. Its list is cut into parts, each a task: they are counted
// into bins (BIN); who ends the last of these chooses the plane and allocates the children's lists; then the parts are
// written there (PART), and who ends the last of those goes on with the children. Smaller nodes are divided by one warp, which
// goes on with one of the children at once and puts the other into the pool.
//
// A request that gets nothing ends the build: each warp ends what it has begun, or takes at most one more task that becomes ready
// before it looks whether the build goes on. What is there stays a tree: a node that couldn't be divided, or wasn't yet, is a leaf
// that keeps its list. What the division that was refused had been given is freed at once. Memory of large nodes whose parts weren't
// all done is in no tree: each is found by the first of its tasks, if that has a place, as long as it hasn't been freed (endLarge). So all can be freed after a build that was refused, too.
//
// Compiled for each store by cuda-backend/ptx.sh, with -DOUTBOARD_ALLOCATOR='...' and -fmad=false.
#include "allocator_of.cuh"
#include "kd_nodes.cuh"
#include "kd_tasks.cuh"

using Allocator = OUTBOARD_ALLOCATOR;

namespace {

using namespace kd;

constexpr u32 WARPS = 4;   // of a block
constexpr u32 BLOCKS = 7;  // of a multiprocessor at least, so that no store takes more than 72 registers
__device__ inline Allocator allocatorOf(const Build& build) { return MakeAllocator<Allocator>::of(&build.heap); }

// One warp of a build. Where `work` changes, its lanes wait for each other before and after.
template <bool COUNTED>
class Builder {
    const Build& build;
    const Tasks tasks;
    Work& work;
    Bins& bins;
    const u32 lane = threadIdx.x % LANES;

    __device__ Tally* tally() const { return reinterpret_cast<Tally*>(build.tally); }

    __device__ bool isTask(u32 references, u32 depth) const {
        return references > build.leafReferences && depth < build.mostDepth;
    }

    __device__ bool isLarge(u32 references, u32 depth) const { return references > LARGE && isTask(references, depth); }

    __device__ static u32 partsOf(u32 references) { return (references + PART_REFERENCES - 1) / PART_REFERENCES; }

    __device__ static u32 startOf(u32 part) { return part * PART_REFERENCES; }

    __device__ void load(const Task& task) {
        __syncwarp();
        if (lane == 0) {
            work.node = reinterpret_cast<Node*>(task.subject);
            work.list = reinterpret_cast<u32*>(task.list);
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

    // Of references [from, to) of the list, into bins that are cleared first.
    __device__ void countIntoBins(u32 from, u32 to) {
        u32* const words = &bins.starts[0][0];
        for (u32 i = lane; i < BIN_WORDS; i += LANES) {
            words[i] = 0;
        }
        __syncwarp();
        const auto* const boxes = reinterpret_cast<const float4*>(build.boxes);
        u32* const list = work.list;
        const bool isRoot = work.depth == 0;
        for (u32 i = from + lane; i < to; i += LANES) {
            u32 triangle = i;
            if (isRoot) {
                // Its list isn't there yet.
                __stcg(list + i, triangle);
            } else {
                // The memory has been in other hands in this kernel: read where all multiprocessors share it.
                triangle = __ldcg(list + i);
            }
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
                triangle = __ldcg(list + i + lane);
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

    __device__ u32 wishedBytes() const {
        switch (lane) {
            case 0: return work.split.left * sizeof(u32);
            case 1: return work.split.right * sizeof(u32);
            case PAIR_WISH: return sizeof(Pair);
            case LARGE_WISH: return isLarge(work.split.left, work.depth + 1) ? sizeof(Large) : 0;
            case LARGE_WISH + 1: return isLarge(work.split.right, work.depth + 1) ? sizeof(Large) : 0;
            default: return 0;
        }
    }

    // What a division needs. False if there wasn't all of it: then the build ends.
    __device__ bool allocate() {
        const u32 bytes = wishedBytes();
        void* got = nullptr;
        if (bytes != 0) {
            got = allocatorOf(build).malloc(bytes);
        }
        const bool isRefused = bytes != 0 && got == nullptr;
        __syncwarp();
        if (lane < WISHES) {
            work.got[lane] = reinterpret_cast<u64>(got);
        }
        if (isRefused) {
            tasks.end(REFUSED);
        }
        if (COUNTED && bytes != 0) {
            const u64 wide = bytes;
            atomicAdd(&tally()->requests, 1ull);
            atomicAdd(&tally()->bytes, wide);
            atomicAdd(&tally()->squares, wide * wide);
            atomicMax(&tally()->greatest, wide);
            atomicAdd(&tally()->refused, isRefused ? 1ull : 0ull);
        }
        __syncwarp();
        return __all_sync(ALL, !isRefused);
    }

    // Puts a task for each part of a large node.
    __device__ void putParts(Large* large, Kind kind, u32 references) const {
        const u32 parts = partsOf(references);
        u32 first = 0;
        if (lane == 0) {
            first = tasks.places(parts);
            if (kind == BIN) {
                __stcg(&large->first, first);
            }
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
        part<true>(from, to, reinterpret_cast<u32*>(work.got[0]) + static_cast<u32>(before),
                   reinterpret_cast<u32*>(work.got[1]) + (before >> 32));
    }

    // Has many warps divide a child.
    __device__ void beginLarge(Large* large, u32 side, u32 references) const {
        u32* const words = reinterpret_cast<u32*>(large);
        for (u32 i = lane; i < sizeof(Large) / sizeof(u32); i += LANES) {
            __stcg(words + i, 0);
        }
        __syncwarp();
        if (lane == 0) {
            toChild(large->work, side, references);
        }
        putParts(large, BIN, references);
    }

    // What is known of a child, of the node at work or of a large one.
    __device__ void toChild(Work& child, u32 side, u32 references) const {
        child.node = pair() + side;
        child.list = reinterpret_cast<u32*>(work.got[side]);
        child.count = references;
        child.depth = work.depth + 1;
        cut(child.box, side);
    }

    __device__ void cut(Box& box, u32 side) const {
        box = work.box;
        (side == 0 ? box.hi : box.lo)[work.split.axis] = work.split.plane;
    }

    __device__ Node* pair() const { return reinterpret_cast<Node*>(work.got[PAIR_WISH]); }

    __device__ void putNode(u32 side, u32 references) const {
        tasks.put(tasks.places(1), NODE, [&](Task& task) {
            task.subject = reinterpret_cast<u64>(pair() + side);
            task.list = work.got[side];
            task.count = references;
            task.depth = work.depth + 1;
            cut(task.box, side);
        });
    }

    // The nodes of a division.
    __device__ void link() const {
        if (lane < SIDES) {
            pair()[lane] = {work.got[lane], lane == 0 ? work.split.left : work.split.right, LEAF};
        } else if (lane == SIDES && work.node != nullptr) {
            *work.node = {reinterpret_cast<u64>(pair()), __float_as_uint(work.split.plane), work.split.axis};
        } else if (lane == SIDES) {
            reinterpret_cast<Queue*>(build.queue)->root = reinterpret_cast<u64>(pair());
        }
    }

    // Hands the children on. True if one of them is at work now.
    __device__ bool goOn() {
        const u32 references[SIDES] = {work.split.left, work.split.right};
        const u32 depth = work.depth + 1;
        u32 waiting = 0;  // bits of sides
        for (u32 side = 0; side < SIDES; ++side) {
            waiting |= isTask(references[side], depth) ? 1u << side : 0;
        }
        if (lane == 0) {
            if (COUNTED) {
                atomicAdd(&tally()->pairs, 1ull);
                atomicAdd(&tally()->references,
                          static_cast<u64>((waiting & 1) != 0 ? 0 : references[0]) + ((waiting & 2) != 0 ? 0 : references[1]));
            }
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
            auto* const large = reinterpret_cast<Large*>(work.got[LARGE_WISH + side]);
            if (large != nullptr) {
                beginLarge(large, side, references[side]);
            } else if (mine == SIDES) {
                mine = side;
            } else if (lane == 0) {
                putNode(side, references[side]);
            }
        }
        __syncwarp();
        if (mine != SIDES && lane == 0) {
            toChild(work, mine, mine == 0 ? references[0] : references[1]);
        }
        __syncwarp();
        return mine != SIDES;
    }

    // As if it divided what is above the root: the first child has all triangles, the other one none.
    __device__ void chooseRoot() {
        if (lane == 0) {
            work.depth = ~0u;
            work.split = {0, work.box.hi[0], static_cast<u32>(build.triangles), 0};
        }
        __syncwarp();
    }

    // Whether the node is to be divided. Else it has ended.
    __device__ bool choosePlane() {
        const Split split = choose(bins, work.box, work.count);
        if (lane == 0) {
            work.split = split;
            if (split.axis == LEAF) {
                if (COUNTED) {
                    atomicAdd(&tally()->references, static_cast<u64>(work.count));
                }
                tasks.replaceBy(0);
            }
        }
        __syncwarp();
        return split.axis != LEAF;
    }

    // Does a task. True if a child is at work then.
    __device__ bool step(u32 kind, Large* large, u32 from) {
        const u32 to = large == nullptr ? work.count : min(work.count, from + PART_REFERENCES);
        bool isChosen = false;
        bool isWritten = false;
        if (kind == PART) {
            write(from, to, large);
            isWritten = isLast(&large->written);
        } else if (kind == ROOT) {
            chooseRoot();
            isChosen = true;
        } else {
            countIntoBins(from, to);
            if (kind == BIN && !mergeBins(large)) {
                return false;
            }
            isChosen = choosePlane();
        }
        // What this lane is to free.
        u64 spare = lane == WISHES && kind == BIN ? reinterpret_cast<u64>(large) : 0;
        if (isChosen && !allocate()) {
            spare = lane < WISHES ? work.got[lane] : spare;
        } else if (isChosen && kind == BIN) {
            store(*large);
            putParts(large, PART, work.count);
            return false;
        } else if (isChosen) {
            write(0, work.count, nullptr);
            isWritten = true;
        }
        bool isAtWork = false;
        if (isWritten) {
            if (lane == WISHES) {
                spare = reinterpret_cast<u64>(large);
            } else if (lane == 0) {
                spare = reinterpret_cast<u64>(work.list);
            }
            // All have read what goOn changes.
            __syncwarp();
            link();
            isAtWork = goOn();
        }
        // All have read what is freed.
        __syncwarp();
        if (lane == WISHES && spare != 0) {
            tasks.forget(__ldcg(&large->first));
        }
        if (spare != 0) {
            allocatorOf(build).free(reinterpret_cast<void*>(spare));
        }
        __syncwarp();
        return isAtWork;
    }

  public:
    __device__ Builder(const Build& theBuild, WarpMemory& memory)
        : build(theBuild),
          tasks(theBuild.queue, theBuild.tasks, theBuild.taskCapacity),
          work(memory.work),
          bins(memory.bins) {}

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
                    return;
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
    }
};

template <bool COUNTED>
__device__ void buildTree(const Build& build) {
    __shared__ WarpMemory memory[WARPS];
    Builder<COUNTED>(build, memory[threadIdx.x / LANES]).run();
}

}  // namespace

extern "C" {

// One thread, after the queue and the tasks have been zeroed. Then it waits, until the host has launched what is timed.
__global__ void begin(const __grid_constant__ Build build) {
    auto& queue = *reinterpret_cast<Queue*>(build.queue);
    queue.tail = 1;
    queue.pending = 1;
    queue.copiedNodes = 1;
    Tasks(build.queue, build.tasks, build.taskCapacity).put(0, ROOT, [&](Task& task) { task.box = build.box; });
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

// Copies nodes of one depth, for the host, and gives those below them their numbers.
__global__ void copy(const __grid_constant__ Build build) {
    auto& queue = *reinterpret_cast<Queue*>(build.queue);
    auto* const links = reinterpret_cast<u64*>(build.links);
    const u32 index = static_cast<u32>(build.first) + blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= build.last) {
        return;
    }
    const auto* const where = reinterpret_cast<const Node*>(index == 0 ? queue.root : links[index]);
    Flat flat = {LEAF, 0, 0, 0};
    u64 link = 0;
    if (where != nullptr) {
        const Node node = *where;
        link = node.link;
        flat.axis = node.axis;
        flat.value = node.value;
        if (node.axis == LEAF) {
            flat.first = atomicAdd(&queue.copiedReferences, node.value);
            for (u32 i = 0; i < node.value && flat.first + i < build.referenceCapacity; ++i) {
                reinterpret_cast<u32*>(build.references)[flat.first + i] = reinterpret_cast<const u32*>(node.link)[i];
            }
        } else {
            flat.first = atomicAdd(&queue.copiedNodes, SIDES);
            for (u32 side = 0; side < SIDES && flat.first + side < build.nodeCapacity; ++side) {
                links[flat.first + side] = node.link + side * sizeof(Node);
            }
        }
    }
    reinterpret_cast<Flat*>(build.flats)[index] = flat;
    links[index] = link;
}

// Frees all, after it has been copied.
__global__ void end(const __grid_constant__ Build build) {
    auto& queue = *reinterpret_cast<Queue*>(build.queue);
    const u32 index = static_cast<u32>(build.first) + blockIdx.x * blockDim.x + threadIdx.x;
    if (index < build.last) {
        const u64 link = reinterpret_cast<const u64*>(build.links)[index];
        if (link != 0) {
            allocatorOf(build).free(reinterpret_cast<void*>(link));
        }
    }
    if (index == 0 && queue.root != 0) {
        allocatorOf(build).free(reinterpret_cast<void*>(queue.root));
        queue.root = 0;
    }
}

// Asks for what there can't be, so that buffers give all that they keep to the allocator behind.
__global__ void drain(const __grid_constant__ Build build) {
    Allocator allocator = allocatorOf(build);
    allocator.free(allocator.malloc(1ull << 50));
}

// After a build that was refused, over all tasks: frees what large nodes were divided with. They are leaves of the tree, which have
// their lists still; what was to be their children's isn't theirs yet.
__global__ void endLarge(const __grid_constant__ Build build) {
    const u32 index = static_cast<u32>(build.first) + blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= build.last) {
        return;
    }
    Task& task = reinterpret_cast<Task*>(build.tasks)[index];
    if (task.kind != BIN || task.count != 0 || task.subject == 0) {
        return;
    }
    auto* const large = reinterpret_cast<Large*>(task.subject);
    task.subject = 0;
    // Zeroes until the plane has been chosen.
    for (u32 i = 0; i < WISHES; ++i) {
        if (large->work.got[i] != 0) {
            allocatorOf(build).free(reinterpret_cast<void*>(large->work.got[i]));
        }
    }
    allocatorOf(build).free(large);
}

}
