// Wa-Tor: fish and sharks on a torus (Dewdney 1984), as Springer 2019 measures it: cells, fish and sharks are objects, and each
// step is eight parallel do-alls. Fish swim to free cells beside them, sharks to fish beside them, or else to free cells; each
// asks its target, and the target chooses. After some steps an animal leaves a young one where it was. A shark that doesn't eat
// starves.
//
// What is random depends on states of cells and animals alone, and not on where they lie in memory or on the order of threads:
// WatorReference computes the same.
#include "torus.cuh"

namespace {

enum Kind { WATER, FISH, SHARK };

struct Cell {
    OUTBOARD_FIELDS((Id, agent)(u32, kind)(u32, requests)(Id, winner)(u32, random)(u32, place)(Id, left)(Id, right)
                    (Id, above)(Id, below))
    static constexpr bool ENDS = false;
};

struct Fish {
    OUTBOARD_FIELDS((Id, home)(Id, target)(u32, state)(u32, age))
    static constexpr bool ENDS = true;
    static constexpr Kind KIND_OF = FISH;
    static constexpr u32 LITTER_AGE = 4;  // steps until there is a young one
};

struct Shark {
    OUTBOARD_FIELDS((Id, home)(Id, target)(u32, state)(u32, age)(u32, energy))
    static constexpr bool ENDS = true;
    static constexpr Kind KIND_OF = SHARK;
    static constexpr u32 LITTER_AGE = 5;
};

using Sea = Store<Cell, Fish, Shark>;

constexpr u32 ENERGY_AT_FIRST = 2;
constexpr u32 ENERGY_OF_FISH = 4;

template <class Function>
__device__ void eachSide(const Sea::Object<Cell>& cell, const Function& function) {
    function(0, cell.left());
    function(1, cell.right());
    function(2, cell.above());
    function(3, cell.below());
}

template <class Animal>
__device__ void settle(const Sea::Object<Cell>& cell, const Sea::Object<Animal>& animal) {
    cell.agent() = animal.id();
    cell.kind() = Animal::KIND_OF;
    animal.home() = cell.id();
    animal.target() = NONE;
}

__device__ void empty(const Sea::Object<Cell>& cell) {
    cell.agent() = NONE;
    cell.kind() = WATER;
}

// An animal asks one of the cells beside it that are of a kind, or else of another.
template <class Animal>
__device__ void ask(const Sea& sea, const Sea::Object<Animal>& animal, Kind best, Kind other) {
    const auto home = sea.at<Cell>(animal.home());
    u32 wanted = 0;
    u32 possible = 0;
    eachSide(home, [&](u32 number, Id id) {
        const u32 kind = sea.at<Cell>(id).kind();
        wanted |= (kind == best ? 1u : 0u) << number;
        possible |= (kind == other ? 1u : 0u) << number;
    });
    const u32 sides = wanted != 0 ? wanted : possible;
    Id target = NONE;
    if (sides != 0) {
        const u32 number = nth(sides, randomBelow(animal.state(), __popc(sides)));
        target = sideOf(home, number);
        // From there, this is the opposite side.
        atomicOr(&sea.at<Cell>(target).requests(), 1u << (number ^ 1));
    }
    animal.target() = target;
}

// A new animal.
template <class Animal>
__device__ void bear(const Run& run, const Sea& sea, const Sea::Object<Cell>& cell, u32 state) {
    const auto young = sea.make<Animal>(cell.place());
    if (!young) {
        count(run, REFUSED);
        return;
    }
    young.state() = state;
    young.age() = 0;
    if constexpr (Animal::KIND_OF == SHARK) {
        young.energy() = ENERGY_AT_FIRST;
    }
    settle(cell, young);
}

// If its target chose it, an animal moves there, and leaves a young one when it is time.
template <class Animal>
__device__ void move(const Run& run, const Sea& sea, const Sea::Object<Animal>& animal) {
    const auto home = sea.at<Cell>(animal.home());
    const auto target = sea.at<Cell>(animal.target());
    const auto moved = sea.move(animal, target.place());
    settle(target, moved);
    empty(home);
    if (moved.age() >= Animal::LITTER_AGE) {
        moved.age() = 0;
        bear<Animal>(run, sea, home, random(moved.state()));
    }
}

template <class Animal>
__device__ bool isChosen(const Sea& sea, const Sea::Object<Animal>& animal) {
    const Id target = animal.target();
    return target != NONE && sea.at<Cell>(target).winner() == animal.id();
}

}  // namespace

extern "C" {

OUTBOARD_LIST

// One thread a place.
__global__ void makeCells(const __grid_constant__ Run run) {
    const Sea sea(run);
    for (u32 place = stores::thread(); place < run.words[CELLS]; place += stores::threads()) {
        const auto cell = sea.make<Cell>(place);
        idAt(run, place) = cell.id();
        if (!cell) {
            count(run, REFUSED);
            continue;
        }
        cell.place() = place;
        cell.random() = seedOf(place);
        empty(cell);
    }
}

// Of the cells a third get a fish, and one in sixteen a shark.
__global__ void populate(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Cell>([&](auto cell) {
        setSides(run, cell);
        u32 state = cell.random();
        const u32 chance = randomBelow(state, 48);
        cell.random() = state;
        if (chance < 16) {
            bear<Fish>(run, sea, cell, random(state));
        } else if (chance < 19) {
            bear<Shark>(run, sea, cell, random(state));
        }
    });
}

__global__ void clearRequests(const __grid_constant__ Run run) {
    Sea(run).forEach<Cell>([&](auto cell) {
        cell.requests() = 0;
        cell.winner() = NONE;
    });
}

__global__ void fishAsk(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Fish>([&](auto fish) {
        ++fish.age();
        ask<Fish>(sea, fish, WATER, WATER);
    });
}

__global__ void sharksAsk(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Shark>([&](auto shark) {
        ++shark.age();
        if (--shark.energy() == 0) {
            shark.target() = NONE;
        } else {
            ask<Shark>(sea, shark, FISH, WATER);
        }
    });
}

__global__ void decide(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Cell>([&](auto cell) {
        const u32 requests = cell.requests();
        if (requests != 0) {
            const u32 side = nth(requests, randomBelow(cell.random(), __popc(requests)));
            cell.winner() = sea.at<Cell>(sideOf(cell, side)).agent();
        }
    });
}

__global__ OUTBOARD_MAKES void fishMove(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Fish>([&](auto fish) {
        if (isChosen<Fish>(sea, fish)) {
            move<Fish>(run, sea, fish);
        }
    });
}

__global__ OUTBOARD_MAKES void sharksMove(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Shark>([&](auto shark) {
        if (shark.energy() == 0) {
            empty(sea.at<Cell>(shark.home()));
            sea.destroy(shark);
        } else if (isChosen<Shark>(sea, shark)) {
            const auto target = sea.at<Cell>(shark.target());
            if (target.kind() == FISH) {
                sea.destroy(sea.at<Fish>(target.agent()));
                shark.energy() += ENERGY_OF_FISH;
            }
            move<Shark>(run, sea, shark);
        }
    });
}

// What is in each place: kind, age and energy. A cell and its animal that don't know each other are a fault.
__global__ void draw(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Cell>([&](auto cell) {
        const u32 kind = cell.kind();
        const Id id = cell.agent();
        u32 seen = kind;
        Id home = cell.id();
        if (kind == FISH) {
            const auto fish = sea.at<Fish>(id);
            home = fish.home();
            seen |= fish.age() << 2;
        } else if (kind == SHARK) {
            const auto shark = sea.at<Shark>(id);
            home = shark.home();
            seen |= shark.age() << 2 | shark.energy() << 16;
        }
        if (home != cell.id()) {
            count(run, FAULTS);
        }
        reinterpret_cast<u32*>(run.words[PICTURE])[cell.place()] = seen;
    });
}

// Visits by the lists of animals what `draw` found by the cells.
__global__ void drawFish(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Fish>([&](auto fish) {
        const auto home = sea.at<Cell>(fish.home());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + home.place(), 1u << 30);
    });
}

__global__ void drawSharks(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Shark>([&](auto shark) {
        const auto home = sea.at<Cell>(shark.home());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + home.place(), 1u << 31);
    });
}

__global__ void endCell(const __grid_constant__ Run run) { stores::endAll<Cell>(Sea(run)); }

__global__ void endFish(const __grid_constant__ Run run) { stores::endAll<Fish>(Sea(run)); }

__global__ void endShark(const __grid_constant__ Run run) { stores::endAll<Shark>(Sea(run)); }

}
