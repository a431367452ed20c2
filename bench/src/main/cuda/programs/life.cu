// Conway's game of life, as Springer 2019 has it: of the places, only those that are alive and their neighbours, which may become
// so, have objects. Each step is four do-alls. LifeReference computes the same.
#include "stores.cuh"

namespace {

enum Kind { EMPTY, CANDIDATE, ALIVE };
enum Action { STAY, CHANGE, LEAVE };

// Of both types. NEW: that it hasn't made its neighbours candidates yet.
enum { PLACE, ACTION, NEW };

struct Candidate : Fields<u32, u32> {};
struct Alive : Fields<u32, u32, u32> {};

using World = Store<Candidate, Alive>;

// Words of the run. KINDS: of each place. Width and height are powers of two.
enum { WIDTH = OWN, PLACES, KINDS };

__device__ u32* kinds(const Run& run) { return reinterpret_cast<u32*>(run.words[KINDS]); }

// Calls a function with each of the eight places around one, on a torus.
template <class Function>
__device__ void around(const Run& run, u32 place, const Function& function) {
    const u32 width = static_cast<u32>(run.words[WIDTH]);
    const u32 last = static_cast<u32>(run.words[PLACES]) - 1;
    const u32 row = place & ~(width - 1);
    for (const u32 beside : {row + width, row, row - width}) {
        for (u32 column = place - 1; column != place + 2; ++column) {
            const u32 other = ((beside & last) | (column & (width - 1)));
            if (other != place) {
                function(other);
            }
        }
    }
}

__device__ u32 aliveAround(const Run& run, u32 place) {
    u32 count = 0;
    around(run, place, [&](u32 other) { count += kinds(run)[other] == ALIVE; });
    return count;
}

template <class Type>
__device__ void make(const Run& run, const World& world, u32 place) {
    const auto made = world.make<Type>();
    if (!made) {
        count(run, REFUSED);
        return;
    }
    made.template get<PLACE>() = place;
    made.template get<ACTION>() = STAY;
    if constexpr (outboard::detail::FieldsOf<Type>::COUNT > NEW) {
        made.template get<NEW>() = 1;
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
            kinds(run)[place] = ALIVE;
            make<Alive>(run, world, place);
        }
    }
}

// New ones make candidates of empty places around them: whoever is first there.
__global__ void spread(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Alive>([&](auto alive) {
        const u32 mine = alive.template get<PLACE>();
        if (alive.template get<ACTION>() == CHANGE) {
            kinds(run)[mine] = CANDIDATE;
            world.destroy(alive);
            make<Candidate>(run, world, mine);
        } else if (alive.template get<NEW>() != 0) {
            alive.template get<NEW>() = 0;
            around(run, mine, [&](u32 place) {
                if (kinds(run)[place] == EMPTY && atomicCAS(&kinds(run)[place], EMPTY, CANDIDATE) == EMPTY) {
                    make<Candidate>(run, world, place);
                }
            });
        }
    });
}

__global__ void judgeCandidates(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Candidate>([&](auto candidate) {
        const u32 count = aliveAround(run, candidate.template get<PLACE>());
        candidate.template get<ACTION>() = count == 3 ? CHANGE : count == 0 ? LEAVE : STAY;
    });
}

__global__ void judgeAlive(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Alive>([&](auto alive) {
        const u32 count = aliveAround(run, alive.template get<PLACE>());
        alive.template get<ACTION>() = count == 2 || count == 3 ? STAY : CHANGE;
    });
}

__global__ void changeCandidates(const __grid_constant__ Run run) {
    const World world(run);
    world.forEach<Candidate>([&](auto candidate) {
        const u32 place = candidate.template get<PLACE>();
        const u32 action = candidate.template get<ACTION>();
        if (action == STAY) {
            return;
        }
        world.destroy(candidate);
        kinds(run)[place] = action == CHANGE ? ALIVE : EMPTY;
        if (action == CHANGE) {
            make<Alive>(run, world, place);
        }
    });
}

// What is in each place, by the grid; then by the objects.
__global__ void draw(const __grid_constant__ Run run) {
    for (u32 place = stores::thread(); place < run.words[PLACES]; place += stores::threads()) {
        reinterpret_cast<u32*>(run.words[PICTURE])[place] = kinds(run)[place];
    }
}

__global__ void drawCandidates(const __grid_constant__ Run run) {
    World(run).forEach<Candidate>([&](auto candidate) {
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + candidate.template get<PLACE>(), 1u << 8);
    });
}

__global__ void drawAlive(const __grid_constant__ Run run) {
    World(run).forEach<Alive>([&](auto alive) {
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + alive.template get<PLACE>(), 1u << 16);
    });
}

__global__ void endCandidate(const __grid_constant__ Run run) { stores::endAll<Candidate>(World(run)); }

__global__ void endAlive(const __grid_constant__ Run run) { stores::endAll<Alive>(World(run)); }

}
