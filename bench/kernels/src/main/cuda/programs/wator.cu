// Wa-Tor: fish and sharks on a torus (Dewdney 1984), as Springer 2019 measures it: cells, fish and sharks are objects, and each
// step is eight parallel do-alls. Fish swim to free cells beside them, sharks to fish beside them, or else to free cells; each
// asks its target, and the target chooses. After some steps an animal leaves a young one where it was. A shark that doesn't eat
// starves.
//
// What is random depends on states of cells and animals alone, and not on where they lie in memory or on the order of threads:
// WatorReference computes the same.
#include "stores.cuh"

namespace {

enum Kind { WATER, FISH, SHARK };

// Of a cell. Sides: left, right, above, below.
enum { AGENT, KIND, REQUESTS, WINNER, RANDOM, PLACE, SIDE };
constexpr u32 SIDES = 4;

struct Cell : Fields<Id, u32, u32, Id, u32, u32, Id, Id, Id, Id> {
    static constexpr bool ENDS = false;
};

// Of an animal.
enum { HOME, TARGET, STATE, AGE, ENERGY };

struct Fish : Fields<Id, Id, u32, u32> {
    static constexpr bool ENDS = true;
    static constexpr Kind KIND_OF = FISH;
    static constexpr u32 LITTER_AGE = 4;  // steps until there is a young one
};

struct Shark : Fields<Id, Id, u32, u32, u32> {
    static constexpr bool ENDS = true;
    static constexpr Kind KIND_OF = SHARK;
    static constexpr u32 LITTER_AGE = 5;
};

using Sea = Store<Cell, Fish, Shark>;

constexpr u32 ENERGY_AT_FIRST = 2;
constexpr u32 ENERGY_OF_FISH = 4;

// Words of the run.
enum { WIDTH = OWN, CELLS, IDS };

__device__ Id& idAt(const Run& run, u32 place) { return reinterpret_cast<Id*>(run.words[IDS])[place]; }

template <u32 NUMBER = 0, class Function>
__device__ void eachSide(const Sea::Object<Cell>& cell, const Function& function) {
    if constexpr (NUMBER < SIDES) {
        function(NUMBER, cell.get<SIDE + NUMBER>());
        eachSide<NUMBER + 1>(cell, function);
    }
}

// The set bit with so many before it.
__device__ u32 nth(u32 bits, u32 before) {
    for (; before != 0; --before) {
        bits &= bits - 1;
    }
    return __ffs(static_cast<int>(bits)) - 1;
}

__device__ Id sideOf(const Sea::Object<Cell>& cell, u32 number) {
    switch (number) {
        case 0: return cell.get<SIDE>();
        case 1: return cell.get<SIDE + 1>();
        case 2: return cell.get<SIDE + 2>();
        default: return cell.get<SIDE + 3>();
    }
}

template <class Animal>
__device__ void settle(const Sea::Object<Cell>& cell, const Sea::Object<Animal>& animal) {
    cell.get<AGENT>() = animal.id();
    cell.get<KIND>() = Animal::KIND_OF;
    animal.template get<HOME>() = cell.id();
    animal.template get<TARGET>() = NONE;
}

__device__ void empty(const Sea::Object<Cell>& cell) {
    cell.get<AGENT>() = NONE;
    cell.get<KIND>() = WATER;
}

// An animal asks one of the cells beside it that are of a kind, or else of another.
template <class Animal>
__device__ void ask(const Sea& sea, const Sea::Object<Animal>& animal, Kind best, Kind other) {
    const auto home = sea.at<Cell>(animal.template get<HOME>());
    u32 wanted = 0;
    u32 possible = 0;
    eachSide(home, [&](u32 number, Id id) {
        const u32 kind = sea.at<Cell>(id).template get<KIND>();
        wanted |= (kind == best ? 1u : 0u) << number;
        possible |= (kind == other ? 1u : 0u) << number;
    });
    const u32 sides = wanted != 0 ? wanted : possible;
    Id target = NONE;
    if (sides != 0) {
        const u32 number = nth(sides, randomBelow(animal.template get<STATE>(), __popc(sides)));
        target = sideOf(home, number);
        // From there, this is the opposite side.
        atomicOr(&sea.at<Cell>(target).template get<REQUESTS>(), 1u << (number ^ 1));
    }
    animal.template get<TARGET>() = target;
}

// A new animal.
template <class Animal>
__device__ void bear(const Run& run, const Sea& sea, const Sea::Object<Cell>& cell, u32 state) {
    const auto young = sea.make<Animal>(cell.get<PLACE>());
    if (!young) {
        count(run, REFUSED);
        return;
    }
    young.template get<STATE>() = state;
    young.template get<AGE>() = 0;
    if constexpr (Animal::KIND_OF == SHARK) {
        young.template get<ENERGY>() = ENERGY_AT_FIRST;
    }
    settle(cell, young);
}

// If its target chose it, an animal moves there, and leaves a young one when it is time.
template <class Animal>
__device__ void move(const Run& run, const Sea& sea, const Sea::Object<Animal>& animal) {
    const auto home = sea.at<Cell>(animal.template get<HOME>());
    const auto target = sea.at<Cell>(animal.template get<TARGET>());
    const auto moved = sea.move(animal, target.template get<PLACE>());
    settle(target, moved);
    empty(home);
    if (moved.template get<AGE>() >= Animal::LITTER_AGE) {
        moved.template get<AGE>() = 0;
        bear<Animal>(run, sea, home, random(moved.template get<STATE>()));
    }
}

template <class Animal>
__device__ bool isChosen(const Sea& sea, const Sea::Object<Animal>& animal) {
    const Id target = animal.template get<TARGET>();
    return target != NONE && sea.at<Cell>(target).template get<WINNER>() == animal.id();
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
        cell.get<PLACE>() = place;
        cell.get<RANDOM>() = seedOf(place);
        empty(cell);
    }
}

// Of the cells a third get a fish, and one in sixteen a shark.
__global__ void populate(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Cell>([&](auto cell) {
        const u32 width = static_cast<u32>(run.words[WIDTH]);
        const u32 cells = static_cast<u32>(run.words[CELLS]);
        const u32 place = cell.template get<PLACE>();
        const u32 column = place % width;
        const u32 row = place - column;
        cell.template get<SIDE>() = idAt(run, row + (column + width - 1) % width);
        cell.template get<SIDE + 1>() = idAt(run, row + (column + 1) % width);
        cell.template get<SIDE + 2>() = idAt(run, (place + cells - width) % cells);
        cell.template get<SIDE + 3>() = idAt(run, (place + width) % cells);
        u32 state = cell.template get<RANDOM>();
        const u32 chance = randomBelow(state, 48);
        cell.template get<RANDOM>() = state;
        if (chance < 16) {
            bear<Fish>(run, sea, cell, random(state));
        } else if (chance < 19) {
            bear<Shark>(run, sea, cell, random(state));
        }
    });
}

__global__ void clearRequests(const __grid_constant__ Run run) {
    Sea(run).forEach<Cell>([&](auto cell) {
        cell.template get<REQUESTS>() = 0;
        cell.template get<WINNER>() = NONE;
    });
}

__global__ void fishAsk(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Fish>([&](auto fish) {
        ++fish.template get<AGE>();
        ask<Fish>(sea, fish, WATER, WATER);
    });
}

__global__ void sharksAsk(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Shark>([&](auto shark) {
        ++shark.template get<AGE>();
        if (--shark.template get<ENERGY>() == 0) {
            shark.template get<TARGET>() = NONE;
        } else {
            ask<Shark>(sea, shark, FISH, WATER);
        }
    });
}

__global__ void decide(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Cell>([&](auto cell) {
        const u32 requests = cell.template get<REQUESTS>();
        if (requests != 0) {
            const u32 side = nth(requests, randomBelow(cell.template get<RANDOM>(), __popc(requests)));
            cell.template get<WINNER>() = sea.at<Cell>(sideOf(cell, side)).template get<AGENT>();
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
        if (shark.template get<ENERGY>() == 0) {
            empty(sea.at<Cell>(shark.template get<HOME>()));
            sea.destroy(shark);
        } else if (isChosen<Shark>(sea, shark)) {
            const auto target = sea.at<Cell>(shark.template get<TARGET>());
            if (target.template get<KIND>() == FISH) {
                sea.destroy(sea.at<Fish>(target.template get<AGENT>()));
                shark.template get<ENERGY>() += ENERGY_OF_FISH;
            }
            move<Shark>(run, sea, shark);
        }
    });
}

// What is in each place: kind, age and energy. A cell and its animal that don't know each other are a fault.
__global__ void draw(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Cell>([&](auto cell) {
        const u32 kind = cell.template get<KIND>();
        const Id id = cell.template get<AGENT>();
        u32 seen = kind;
        Id home = cell.id();
        if (kind == FISH) {
            const auto fish = sea.at<Fish>(id);
            home = fish.template get<HOME>();
            seen |= fish.template get<AGE>() << 2;
        } else if (kind == SHARK) {
            const auto shark = sea.at<Shark>(id);
            home = shark.template get<HOME>();
            seen |= shark.template get<AGE>() << 2 | shark.template get<ENERGY>() << 16;
        }
        if (home != cell.id()) {
            count(run, FAULTS);
        }
        reinterpret_cast<u32*>(run.words[PICTURE])[cell.template get<PLACE>()] = seen;
    });
}

// Visits by the lists of animals what `draw` found by the cells.
__global__ void drawFish(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Fish>([&](auto fish) {
        const auto home = sea.at<Cell>(fish.template get<HOME>());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + home.template get<PLACE>(), 1u << 30);
    });
}

__global__ void drawSharks(const __grid_constant__ Run run) {
    const Sea sea(run);
    sea.forEach<Shark>([&](auto shark) {
        const auto home = sea.at<Cell>(shark.template get<HOME>());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + home.template get<PLACE>(), 1u << 31);
    });
}

__global__ void endCell(const __grid_constant__ Run run) { stores::endAll<Cell>(Sea(run)); }

__global__ void endFish(const __grid_constant__ Run run) { stores::endAll<Fish>(Sea(run)); }

__global__ void endShark(const __grid_constant__ Run run) { stores::endAll<Shark>(Sea(run)); }

}
