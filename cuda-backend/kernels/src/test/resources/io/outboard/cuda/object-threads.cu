// Kernels that try a heap of objects out. Each object has a number that says who it is, and fields made from it, so that
// objects that overlap are found. Made into PTX by cuda-backend/ptx.sh.
#include "outboard/object_heap.cuh"

namespace {

using outboard::Fields;
using outboard::Objects;
using outboard::u32;
using outboard::u64;

struct Fish : Fields<u64, float, u32> {};
struct Shark : Fields<u32, double, unsigned char, u64, u64> {};
using Sea = outboard::ObjectHeap<Fish, Shark>;

// What went wrong and what went well, in the order of the test's names for it.
struct Counts {
    u64 made;
    u64 nulls;
    u64 visited;
    u64 sum;  // of the numbers of those visited
    u64 overwritten;
    u64 destroyed;
};

__device__ u64 thread() {
    return blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x;
}

__device__ u32 mixed(u64 number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ull;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBull;
    return static_cast<u32>(number >> 32);
}

__device__ void write(const Sea::Object<Fish>& fish, u64 number) {
    fish.get<0>() = number;
    fish.get<1>() = static_cast<float>(number & 0xFFFF);
    fish.get<2>() = mixed(number);
}

__device__ bool isRight(const Sea::Object<Fish>& fish) {
    const u64 number = fish.get<0>();
    return fish.get<1>() == static_cast<float>(number & 0xFFFF) && fish.get<2>() == mixed(number);
}

__device__ void write(const Sea::Object<Shark>& shark, u64 number) {
    shark.get<0>() = mixed(number);
    shark.get<1>() = static_cast<double>(number);
    shark.get<2>() = static_cast<unsigned char>(number);
    shark.get<3>() = number;
    shark.get<4>() = ~number;
}

__device__ bool isRight(const Sea::Object<Shark>& shark) {
    const u64 number = shark.get<3>();
    return shark.get<0>() == mixed(number) && shark.get<1>() == static_cast<double>(number)
            && shark.get<2>() == static_cast<unsigned char>(number) && shark.get<4>() == ~number;
}

__device__ u64 numberOf(const Sea::Object<Fish>& fish) {
    return fish.get<0>();
}

__device__ u64 numberOf(const Sea::Object<Shark>& shark) {
    return shark.get<3>();
}

template <class Type>
__device__ bool make(const Sea& sea, u64 number, Counts* counts) {
    const auto object = sea.make<Type>();
    atomicAdd(object ? &counts->made : &counts->nulls, 1);
    if (object) {
        write(object, number);
    }
    return static_cast<bool>(object);
}

template <class Type>
__device__ void visit(const Sea& sea, const Sea::Object<Type>& object, Counts* counts) {
    atomicAdd(&counts->visited, 1);
    atomicAdd(&counts->sum, numberOf(object));
    if (!isRight(object)) {
        atomicAdd(&counts->overwritten, 1);
    }
}

}  // namespace

extern "C" {

// Each thread makes so many, of either type.
__global__ void makeObjects(const __grid_constant__ Objects objects, u32 threads, u32 each, Counts* counts) {
    const Sea sea(&objects);
    for (u32 i = 0; thread() < threads && i < each; ++i) {
        const u64 number = thread() * each + i;
        if (mixed(number) % 4 == 0) {
            make<Shark>(sea, number, counts);
        } else {
            make<Fish>(sea, number, counts);
        }
    }
}

// Until there is no more.
__global__ void makeAll(const __grid_constant__ Objects objects, Counts* counts) {
    const Sea sea(&objects);
    for (u64 number = thread(); make<Fish>(sea, number, counts);) {
        number += gridDim.x * static_cast<u64>(blockDim.x);
    }
}

__global__ void visitFish(const __grid_constant__ Objects objects, Counts* counts) {
    const Sea sea(&objects);
    sea.forEach<Fish>([&](auto fish) { visit<Fish>(sea, fish, counts); });
}

__global__ void visitSharks(const __grid_constant__ Objects objects, Counts* counts) {
    const Sea sea(&objects);
    sea.forEach<Shark>([&](auto shark) { visit<Shark>(sea, shark, counts); });
}

// Of the fish some end, some have young ones, and some become sharks, as `round` has it. They become more until the heap is full.
__global__ void live(const __grid_constant__ Objects objects, u32 round, Counts* counts) {
    const Sea sea(&objects);
    sea.forEach<Fish>([&](auto fish) {
        visit<Fish>(sea, fish, counts);
        const u64 number = numberOf(fish);
        const u32 dice = mixed(number * 64 + round) % 8;
        if (dice < 3) {
            sea.destroy(fish);
            atomicAdd(&counts->destroyed, 1);
        }
        if (dice == 2) {
            make<Shark>(sea, number, counts);
        } else if (dice > 3) {
            make<Fish>(sea, number + dice, counts);
        }
    });
}

__global__ void hunt(const __grid_constant__ Objects objects, u32 round, Counts* counts) {
    const Sea sea(&objects);
    sea.forEach<Shark>([&](auto shark) {
        visit<Shark>(sea, shark, counts);
        if (mixed(numberOf(shark) * 64 + round) % 3 == 0) {
            sea.destroy(shark);
            atomicAdd(&counts->destroyed, 1);
        }
    });
}

__global__ void endFish(const __grid_constant__ Objects objects) {
    const Sea sea(&objects);
    sea.forEach<Fish>([&](auto fish) { sea.destroy(fish); });
}

__global__ void endSharks(const __grid_constant__ Objects objects) {
    const Sea sea(&objects);
    sea.forEach<Shark>([&](auto shark) { sea.destroy(shark); });
}

}
