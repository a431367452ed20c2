// Kernels that try a heap of objects out. Each object has a number that says who it is, and fields made from it, so that
// objects that overlap are found. Made into PTX by cuda-backend/ptx.sh.
#include "outboard/object_heap.cuh"

namespace {

using outboard::Any;
using outboard::Extends;
using outboard::Objects;
using outboard::u32;
using outboard::u64;

struct Fish { OUTBOARD_FIELDS((u64, number)(float, part)(u32, mix)) };
struct Shark { OUTBOARD_FIELDS((u32, mix)(double, real)(unsigned char, low)(u64, number)(u64, inverse)) };
using Sea = outboard::ObjectHeap<Fish, Shark>;

// Of another heap. Animals are what extends them alone.
struct Grass { OUTBOARD_FIELDS((u32, height)) };
struct Animal { OUTBOARD_FIELDS((u64, number)(u32, mix)) };
struct Sheep : Extends<Animal> {};
struct Lion : Extends<Animal> { OUTBOARD_FIELDS((double, meals)) };
struct Cub : Extends<Lion> { OUTBOARD_FIELDS((unsigned char, age)(u64, inverse)) };
using Plain = outboard::ObjectHeap<Grass, Sheep, Lion, Cub>;

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
    fish.number() = number;
    fish.part() = static_cast<float>(number & 0xFFFF);
    fish.mix() = mixed(number);
}

__device__ bool isRight(const Sea::Object<Fish>& fish) {
    const u64 number = fish.number();
    return fish.part() == static_cast<float>(number & 0xFFFF) && fish.mix() == mixed(number);
}

__device__ void write(const Sea::Object<Shark>& shark, u64 number) {
    shark.mix() = mixed(number);
    shark.real() = static_cast<double>(number);
    shark.low() = static_cast<unsigned char>(number);
    shark.number() = number;
    shark.inverse() = ~number;
}

__device__ bool isRight(const Sea::Object<Shark>& shark) {
    const u64 number = shark.number();
    return shark.mix() == mixed(number) && shark.real() == static_cast<double>(number)
            && shark.low() == static_cast<unsigned char>(number) && shark.inverse() == ~number;
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
    atomicAdd(&counts->sum, object.number());
    if (!isRight(object)) {
        atomicAdd(&counts->overwritten, 1);
    }
}

// Some lines of a kernel are for all animals.
template <class Animal>
__device__ void writeAnimal(const Animal& animal, u64 number) {
    animal.number() = number;
    animal.mix() = mixed(number);
}

// Whether an animal is what its number says: a sheep, a lion or a cub.
__device__ bool isRightAnimal(const Plain::Object<Any<Animal>>& animal) {
    const u64 number = animal.number();
    const auto lion = animal.as<Lion>();
    const auto cub = animal.as<Cub>();
    const auto anyLion = animal.as<Any<Lion>>();
    const u32 kind = mixed(number) % 3;
    return animal.mix() == mixed(number) && animal.is<Sheep>() == (kind == 0) && static_cast<bool>(lion) == (kind == 1)
            && static_cast<bool>(cub) == (kind == 2) && static_cast<bool>(anyLion) == (kind != 0)
            && (!lion || lion.meals() == static_cast<double>(number)) && (!anyLion || anyLion.meals() == static_cast<double>(number))
            && (!cub || (cub.age() == static_cast<unsigned char>(number) && cub.inverse() == ~number && cub.number() == number));
}

template <class Animal>
__device__ void visitAnimal(const Animal& animal, Counts* counts) {
    atomicAdd(&counts->visited, 1);
    atomicAdd(&counts->sum, animal.number());
    if (!isRightAnimal(animal)) {
        atomicAdd(&counts->overwritten, 1);
    }
}

}  // namespace

extern "C" {

// Each thread makes an animal and some grass, and leaves the animal's id.
__global__ void makeAnimals(const __grid_constant__ Objects objects, u32 threads, u32* ids, Counts* counts) {
    const Plain plain(&objects);
    const u64 number = thread();
    if (number >= threads) {
        return;
    }
    const u32 kind = mixed(number) % 3;
    u32 id = outboard::NO_OBJECT;
    if (kind == 0) {
        const auto sheep = plain.make<Sheep>();
        writeAnimal(sheep, number);
        id = sheep.id();
    } else if (kind == 1) {
        const auto lion = plain.make<Lion>();
        writeAnimal(lion, number);
        lion.meals() = static_cast<double>(number);
        id = lion.id();
    } else {
        const auto cub = plain.make<Cub>();
        writeAnimal(cub, number);
        cub.meals() = static_cast<double>(number);
        cub.age() = static_cast<unsigned char>(number);
        cub.inverse() = ~number;
        id = cub.id();
    }
    plain.make<Grass>().height() = 1;
    ids[number] = id;
    atomicAdd(&counts->made, 1);
}

__global__ void visitAnimals(const __grid_constant__ Objects objects, Counts* counts) {
    Plain(&objects).forEach<Any<Animal>>([&](auto animal) { visitAnimal(animal, counts); });
}

__global__ void visitLions(const __grid_constant__ Objects objects, Counts* counts) {
    Plain(&objects).forEach<Lion>([&](auto lion) { visitAnimal(lion, counts); });
}

// By their ids, so that a warp ends animals of several types at once.
__global__ void endAnimals(const __grid_constant__ Objects objects, u32 threads, const u32* ids, Counts* counts) {
    const Plain plain(&objects);
    if (thread() < threads) {
        const auto animal = plain.at<Any<Animal>>(ids[thread()]);
        if (!isRightAnimal(animal) || animal.number() != thread()) {
            atomicAdd(&counts->overwritten, 1);
        }
        plain.destroy(animal);
        atomicAdd(&counts->destroyed, 1);
    }
}

__global__ void endGrass(const __grid_constant__ Objects objects) {
    const Plain plain(&objects);
    plain.forEach<Grass>([&](auto grass) { plain.destroy(grass); });
}

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
        const u64 number = fish.number();
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
        if (mixed(shark.number() * 64 + round) % 3 == 0) {
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
