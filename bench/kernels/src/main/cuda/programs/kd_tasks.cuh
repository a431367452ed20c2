// The pool of tasks of a k-d tree's build: an array in which each task has a place of its own.
//
//     head   places that warps have come for
//     tail   places that have been given to tasks
//
// put    takes the place at the tail by one addition, writes the task there, and then says that it is ready.
// take   takes the place at the head by one addition, and waits until its task is ready, or until the build has ended.
//
// A place is used once, so nothing waits for it to become free: a build that needs more of anything than the host's arrays have
// ends as one that has failed. A warp waits in `take` only, where it has no task that others could wait for: so, however many warps
// run and in which order they come, the task at each place is done by the one that came for it.
//
// A build ends when no node is left to be divided, which `pending` counts, or when an array is too small. `refused` says that the
// heap has refused a request: then nodes aren't divided any more, so that the build ends soon, as a tree, and with all lists freed.
//
// Memory order, by the PTX memory model: all lanes of the warp that puts write what the task is about before __syncwarp and
// the release of `ready` by one of them; one lane of the warp that takes acquires it before its __syncwarp. So all lanes see
// what was done before, in memory too that had other contents, or another owner, earlier in the same kernel.
#pragma once

#include "kd_split.cuh"
#include "outboard/platform.cuh"

namespace kd {

enum State : u32 { RUNNING, DONE, TOO_SMALL };

enum Kind : u32 {
    ROOT,  // to be divided, or begun to be
    NODE,  // to be divided
    BIN,   // a part of a large node's list, to be counted
    PART   // a part of such a list, to be written to the children's
};

struct alignas(64) Task {
    u64 subject;  // of a part, its Large; else the list
    u32 count;    // of its references; or the part's number
    u32 depth;
    Box box;
    u32 node;
    u32 kind;
    u32 ready;
};

static_assert(sizeof(Task) == 64, "the host allocates them");

// Each in a line of its own, but what changes seldom. The host reads some; KdDevice.
struct Queue {
    alignas(128) u32 head;
    alignas(128) u32 tail;
    alignas(128) u32 pending;
    alignas(128) u32 nodes;       // so many have numbers
    alignas(128) u32 references;  // of leaves so far
    alignas(128) u32 state;
    u32 refused;
    u32 listReferences;  // of memory for long lists, given away
    u32 larges;
};

static_assert(sizeof(Queue) == 768, "the host allocates it");

class Tasks {
    static constexpr u32 LOOKS_A_STATE = 4;

    Queue* const queue;
    Task* const tasks;
    const u32 capacity;

    __device__ bool isReady(u32 place) const {
        // Relaxed: only says whether to go on.
        const outboard::Atomic<u32> state(queue->state);
        // Acquire; pairs with the release in put.
        const outboard::Atomic<u32> ready(tasks[place].ready);
        // All warps that wait look at the state, so they look at it less often than each at its own place.
        u32 pause = 32;
        for (u32 looks = 0; looks % LOOKS_A_STATE != 0 || state.load(outboard::RELAXED) == RUNNING; ++looks) {
            if (ready.load(outboard::ACQUIRE) != 0) {
                return true;
            }
            __nanosleep(pause);
            pause = pause < 512 ? pause * 2 : pause;
        }
        return false;
    }

  public:
    __device__ Tasks(u64 theQueue, u64 theTasks, u64 theCapacity)
        : queue(reinterpret_cast<Queue*>(theQueue)),
          tasks(reinterpret_cast<Task*>(theTasks)),
          capacity(static_cast<u32>(theCapacity)) {}

    // By one lane. So many of one of the queue's counts; fail if the array has too few.
    __device__ bool give(u32& count, u32 number, u64 most, u32& first) const {
        first = atomicAdd(&count, number);
        if (first + static_cast<u64>(number) <= most) {
            return true;
        }
        end(TOO_SMALL);
        return false;
    }

    // By one lane, at most one with success in a build.
    __device__ void end(State state) const { atomicCAS(&queue->state, RUNNING, state); }

    // By one lane, for a node that has become this many, before these are put.
    __device__ void replaceBy(u32 nodes) const {
        if (nodes == 0) {
            if (atomicSub(&queue->pending, 1) == 1) {
                end(DONE);
            }
        } else if (nodes > 1) {
            atomicAdd(&queue->pending, nodes - 1);
        }
    }

    // So many places in a row, by one lane.
    __device__ u32 places(u32 number) const { return atomicAdd(&queue->tail, number); }

    // By one lane, after __syncwarp: the function writes the task, where what isn't written is zero.
    template <class Function>
    __device__ void put(u32 place, Kind kind, const Function& write) const {
        if (place >= capacity) {
            end(TOO_SMALL);
            return;
        }
        Task& task = tasks[place];
        write(task);
        task.kind = kind;
        // Pairs with the acquire in isReady.
        outboard::Atomic<u32>(task.ready).store(1, outboard::RELEASE);
    }

    // By all lanes of a warp: null when the build has ended.
    __device__ const Task* take() const {
        u32 place = capacity;
        // Others may have tasks to put: the one that is waited for, perhaps.
        __syncwarp();
        if (threadIdx.x % LANES == 0) {
            place = atomicAdd(&queue->head, 1);
            // Where there is no place, there won't be a task either.
            if (place < capacity && !isReady(place)) {
                place = capacity;
            }
        }
        place = __shfl_sync(ALL, place, 0);
        __syncwarp();
        return place < capacity ? tasks + place : nullptr;
    }
};

}  // namespace kd
