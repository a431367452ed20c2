// Conway's game of life, as Springer 2019 has it: of the places, only those that are alive and their neighbours, which may become
// so, have objects. Each step is four do-alls. LifeReference computes the same.
//
// With OUTBOARD_GENERATIONS, what would end grows old first, and isn't counted as alive meanwhile (generation). The paper doesn't say
// by which rule: here it is "Star Wars", which goes on for ever.
#include "stores.cuh"

namespace {

enum Kind { EMPTY, CANDIDATE, ALIVE, OLD };
enum Action { STAY, CHANGE, LEAVE };

// Ages of what is alive. One that is new hasn't made its neighbours candidates yet; one that is grown up stays so while it has enough
// neighbours; later ages count the steps since.
enum { NEW, GROWN_UP };

struct Candidate {
    OUTBOARD_FIELDS((u32, place)(u32, action))
    static constexpr bool ENDS = true;
    static constexpr bool HAS_AGE = false;
};

struct Alive {
    OUTBOARD_FIELDS((u32, place)(u32, action)(u32, age))
    static constexpr bool ENDS = true;
    static constexpr bool HAS_AGE = true;
};

using World = Store<Candidate, Alive>;

// Bits for the numbers of neighbours with which one that is alive stays so, and with which a candidate becomes so; and the age at
// which an object ends.
#ifdef OUTBOARD_GENERATIONS
constexpr u32 STAYS = 1u << 3 | 1u << 4 | 1u << 5;
constexpr u32 BECOMES = 1u << 2;
constexpr u32 END = GROWN_UP + 3;
#else
constexpr u32 STAYS = 1u << 2 | 1u << 3;
constexpr u32 BECOMES = 1u << 3;
constexpr u32 END = GROWN_UP + 1;
#endif
constexpr bool GROWS_OLD = END > GROWN_UP + 1;

// Words of the run. KINDS: of each place, a byte. The width is a power of two.
enum { WIDTH = OWN, PLACES, KINDS };

// In a kernel that changes none.
__device__ u32 kindOf(const Run& run, u32 place) { return reinterpret_cast<const unsigned char*>(run.words[KINDS])[place]; }

// Four places side by side. Where threads change kinds, all accesses are to the same words.
__device__ u32* kindsAround(const Run& run, u32 place) { return reinterpret_cast<u32*>(run.words[KINDS]) + place / 4; }

__device__ u32 inWord(u32 kind, u32 place) { return kind << place % 4 * 8; }

// By the one thread that may, who knows what it was.
__device__ void change(const Run& run, u32 place, Kind from, Kind to) {
    atomicXor(kindsAround(run, place), inWord(from ^ to, place));
}

constexpr u32 NEIGHBOURS = 8;

// One of the places around another, on a torus: row by row.
__device__ u32 neighbour(const Run& run, u32 place, u32 number) {
    const u32 width = static_cast<u32>(run.words[WIDTH]);
    const u32 places = static_cast<u32>(run.words[PLACES]);
    const u32 ninth = number < NEIGHBOURS / 2 ? number : number + 1;
    const u32 column = (place + ninth % 3 - 1) & (width - 1);
    const u32 row = place & ~(width - 1);  // its first place
    const u32 above = (row != 0 ? row : places) - width;
    const u32 below = row + width != places ? row + width : 0;
    return (ninth / 3 == 0 ? above : ninth / 3 == 1 ? row : below) | column;
}

// The neighbours that became candidates by this thread. No place becomes alive meanwhile.
__device__ u32 becomeCandidates(const Run& run, u32 place) {
    u32 empty = 0;
    for (u32 i = 0; i < NEIGHBOURS; ++i) {
        const u32 other = neighbour(run, place, i);
        const u32 kinds = *const_cast<const volatile u32*>(kindsAround(run, other));
        empty |= (kinds & inWord(255, other)) == EMPTY ? 1u << i : 0;
    }
    u32 become = 0;
    for (; empty != 0; empty &= empty - 1) {
        const u32 i = __ffs(static_cast<int>(empty)) - 1;
        const u32 other = neighbour(run, place, i);
        const u32 before = atomicOr(kindsAround(run, other), inWord(CANDIDATE, other));
        become |= (before & inWord(255, other)) == EMPTY ? 1u << i : 0;
    }
    return become;
}

__device__ u32 aliveAround(const Run& run, u32 place) {
    u32 count = 0;
    for (u32 i = 0; i < NEIGHBOURS; ++i) {
        count += kindOf(run, neighbour(run, place, i)) == ALIVE;
    }
    return count;
}

template <class Type>
__device__ void make(const Run& run, const World& world, u32 place) {
    const auto made = world.make<Type>(place);
    if (!made) {
        count(run, REFUSED);
        return;
    }
    made.place() = place;
    made.action() = STAY;
    if constexpr (Type::HAS_AGE) {
        made.age() = NEW;
    }
}

}  // namespace

extern "C" {

OUTBOARD_LIST

// One place in four is alive at first.
__global__ void populate(const __grid_constant__ Run run) {
    const World world(run);
    for (u32 place = stores::thread(); place < run.words[PLACES]; place += stores::threads()) {
        if (seedOf(place) >> 30 == 0) {
            change(run, place, EMPTY, ALIVE);
            make<Alive>(run, world, place);
        }
    }
}

// New ones make candidates of empty places around them: whoever is first there. What ends leaves a candidate, since there may be
// some alive around it.
__global__ OUTBOARD_MAKES void spread(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Alive>([&](auto alive) {
        const u32 mine = alive.place();
        if (alive.action() == CHANGE) {
            if constexpr (GROWS_OLD) {
                const u32 age = ++alive.age();
                if (age == GROWN_UP + 1) {
                    change(run, mine, ALIVE, OLD);
                }
                if (age != END) {
                    return;
                }
            }
            change(run, mine, GROWS_OLD ? OLD : ALIVE, CANDIDATE);
            world.destroy(alive);
            make<Candidate>(run, world, mine);
        } else if (alive.age() == NEW) {
            alive.age() = GROWN_UP;
            // Apart, so that the threads of a warp make theirs together.
            for (u32 left = becomeCandidates(run, mine); left != 0; left &= left - 1) {
                make<Candidate>(run, world, neighbour(run, mine, __ffs(static_cast<int>(left)) - 1));
            }
        }
    });
}

__global__ void judgeCandidates(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Candidate>([&](auto candidate) {
        const u32 count = aliveAround(run, candidate.place());
        candidate.action() = (BECOMES >> count & 1) != 0 ? CHANGE : count == 0 ? LEAVE : STAY;
    });
}

__global__ void judgeAlive(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Alive>([&](auto alive) {
        const u32 count = aliveAround(run, alive.place());
        const bool isOld = GROWS_OLD && alive.age() > GROWN_UP;
        alive.action() = !isOld && (STAYS >> count & 1) != 0 ? STAY : CHANGE;
    });
}

__global__ OUTBOARD_MAKES void changeCandidates(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Candidate>([&](auto candidate) {
        const u32 place = candidate.place();
        const u32 action = candidate.action();
        if (action == STAY) {
            return;
        }
        world.destroy(candidate);
        change(run, place, CANDIDATE, action == CHANGE ? ALIVE : EMPTY);
        if (action == CHANGE) {
            make<Alive>(run, world, place);
        }
    });
}

// What is in each place, by the grid; then by the objects.
__global__ void draw(const __grid_constant__ Run run) {
    for (u32 place = stores::thread(); place < run.words[PLACES]; place += stores::threads()) {
        reinterpret_cast<u32*>(run.words[PICTURE])[place] = kindOf(run, place);
    }
}

__global__ void drawCandidates(const __grid_constant__ Run run) {
    World(run).forEach<Candidate>([&](auto candidate) {
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + candidate.place(), 1u << 8);
    });
}

__global__ void drawAlive(const __grid_constant__ Run run) {
    World(run).forEach<Alive>([&](auto alive) {
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + alive.place(),
                  1u << 16 | alive.age() << 17);
    });
}

__global__ void endCandidate(const __grid_constant__ Run run) { stores::endAll<Candidate>(World(run)); }

__global__ void endAlive(const __grid_constant__ Run run) { stores::endAll<Alive>(World(run)); }

}
