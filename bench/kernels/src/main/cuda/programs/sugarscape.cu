// Sugarscape (Epstein and Axtell 1996, chapters II and III, as Springer 2019 has it): men and women on a torus of cells on which
// sugar grows. In each step they move to the free cell in sight that has most sugar, eat, starve or die of age; and have children
// with those beside them.
//
// What many want goes to one of them: a cell lets in whoever has the least of numbers that differ between places and change from
// step to step, and a woman chooses among the men who ask. So the order of threads doesn't matter: SugarscapeReference computes the
// same.
#include "torus.cuh"

namespace {

enum Kind { NOBODY, MAN, WOMAN };

// present: the kind of the agent. suggestions: a bit for each side from which a man asks the woman here. guest and child: the least
// number of those that want to move here, and to have a child here.
struct Cell {
    OUTBOARD_FIELDS((Id, agent)(u32, present)(u32, sugar)(u32, mostSugar)(u32, place)(u32, suggestions)(u32, guest)
                    (u32, child)(Id, left)(Id, right)(Id, above)(Id, below))
    static constexpr bool ENDS = false;
};

// target: the cell to move to, and then the one for a child.
struct Agent {
    OUTBOARD_FIELDS((Id, home)(Id, target)(u32, state)(u32, wealth)(u32, age)(u32, mostAge)(u32, sight)
                    (u32, metabolism))
};

struct Man : outboard::Extends<Agent> {
    static constexpr Kind KIND_OF = MAN;
    static constexpr bool ENDS = true;
};

// A woman's father is the man she chose.
struct Woman : outboard::Extends<Agent> {
    OUTBOARD_FIELDS((Id, father))
    static constexpr Kind KIND_OF = WOMAN;
    static constexpr bool ENDS = true;
};

using Land = Store<Cell, Man, Woman>;

constexpr u32 RICHEST = 4;       // a cell's sugar
constexpr u32 FARTHEST = 6;      // sight
constexpr u32 HUNGRIEST = 4;     // metabolism
constexpr u32 OLDEST = 100;      // and 40 less
constexpr u32 FERTILE_FROM = 12;
constexpr u32 FERTILE_TO = 50;
constexpr u32 ENDOWMENT = 40;    // of a child, from both parents; each must have as much
constexpr u32 WANTED_BY_NONE = ~0u;

// A word of the run.
enum { STEP = OWN_OF_TORUS };

// Differs between places, and is in another order in each step.
__device__ u32 priority(const Run& run, u32 place) {
    return (place + static_cast<u32>(run.words[STEP]) * 0x9E3779B9u) * 0x85EBCA6Bu;
}

// How much sugar grows at a place: in rings around two hills.
__device__ u32 mostSugar(u32 width, u32 place) {
    const u32 column = place % width;
    const u32 row = place / width;
    const auto away = [width](u32 at, u32 hill) {
        const u32 distance = at > hill ? at - hill : hill - at;
        const u32 shorter = distance < width - distance ? distance : width - distance;
        return static_cast<u64>(shorter) * shorter;
    };
    const u64 first = away(column, width / 4) + away(row, width / 4 * 3);
    const u64 second = away(column, width / 4 * 3) + away(row, width / 4);
    const u64 rings = (first < second ? first : second) * (4 * RICHEST) / (static_cast<u64>(width) * width);
    return RICHEST - static_cast<u32>(rings < RICHEST ? rings : RICHEST);
}

template <class Agent>
__device__ void settle(const Land::Object<Cell>& cell, const Land::Object<Agent>& agent) {
    cell.agent() = agent.id();
    cell.present() = Agent::KIND_OF;
    agent.home() = cell.id();
}

__device__ void leave(const Land::Object<Cell>& cell) {
    cell.agent() = NONE;
    cell.present() = NOBODY;
}

struct Traits {
    u32 state;
    u32 wealth;
    u32 age;
    u32 sight;
    u32 metabolism;
};

template <class Agent>
__device__ void make(const Run& run, const Land& land, const Land::Object<Cell>& cell, Traits traits) {
    const auto agent = land.make<Agent>(cell.place());
    if (!agent) {
        count(run, REFUSED);
        return;
    }
    agent.target() = NONE;
    agent.wealth() = traits.wealth;
    agent.age() = traits.age;
    agent.mostAge() = OLDEST - randomBelow(traits.state, 40);
    agent.sight() = traits.sight;
    agent.metabolism() = traits.metabolism;
    agent.state() = traits.state;
    settle(cell, agent);
}

// Of the one or the other sex by chance.
__device__ void makeAny(const Run& run, const Land& land, const Land::Object<Cell>& cell, Traits traits) {
    if (random(traits.state) >> 31 == 0) {
        make<Man>(run, land, cell, traits);
    } else {
        make<Woman>(run, land, cell, traits);
    }
}

// The cell in sight with most sugar, if that is more than here: the nearest one; of several, that which comes first from a side that
// is chosen by chance.
template <class Agent>
__device__ void look(const Run& run, const Land& land, const Land::Object<Agent>& agent) {
    const auto home = land.at<Cell>(agent.home());
    const u32 sight = agent.sight();
    const u32 first = random(agent.state()) >> 30;
    u32 most = home.sugar();
    u32 nearest = 0;
    Id target = NONE;
    for (u32 i = 0; i < SIDES; ++i) {
        Id id = home.id();
        for (u32 distance = 1; distance <= sight; ++distance) {
            id = sideOf(land.at<Cell>(id), (first + i) % SIDES);
            const auto cell = land.at<Cell>(id);
            const u32 sugar = cell.sugar();
            if (cell.present() == NOBODY && (sugar > most || (sugar == most && distance < nearest))) {
                most = sugar;
                nearest = distance;
                target = id;
            }
        }
    }
    agent.target() = target;
    if (target != NONE) {
        atomicMin(&land.at<Cell>(target).guest(), priority(run, home.place()));
    }
}

// Moves if the target lets this one in, eats, and dies if it is time.
template <class Agent>
__device__ void live(const Run& run, const Land& land, Land::Object<Agent> agent) {
    auto cell = land.at<Cell>(agent.home());
    if (agent.target() != NONE) {
        const auto target = land.at<Cell>(agent.target());
        if (target.guest() == priority(run, cell.place())) {
            leave(cell);
            agent = land.move(agent, target.place());
            settle(target, agent);
            cell = target;
        }
    }
    const u32 wealth = agent.wealth() + cell.sugar();
    const u32 metabolism = agent.metabolism();
    cell.sugar() = 0;
    if (wealth < metabolism || ++agent.age() > agent.mostAge()) {
        leave(cell);
        land.destroy(agent);
        return;
    }
    agent.wealth() = wealth - metabolism;
}

template <class Agent>
__device__ bool isFertile(const Land::Object<Agent>& agent) {
    const u32 age = agent.age();
    return age >= FERTILE_FROM && age < FERTILE_TO && agent.wealth() >= ENDOWMENT;
}

}  // namespace

extern "C" {

OUTBOARD_LIST

__global__ void makeCells(const __grid_constant__ Run run) {
    const Land land(run);
    for (u32 place = stores::thread(); place < run.words[CELLS]; place += stores::threads()) {
        const auto cell = land.make<Cell>(place);
        idAt(run, place) = cell.id();
        if (!cell) {
            count(run, REFUSED);
            continue;
        }
        const u32 most = mostSugar(static_cast<u32>(run.words[WIDTH]), place);
        cell.sugar() = most;
        cell.mostSugar() = most;
        cell.place() = place;
        leave(cell);
    }
}

// An agent for one cell in four, of any age up to that at which they are fertile no longer.
__global__ OUTBOARD_MAKES void populate(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Cell>([&](auto cell) {
        setSides(run, cell);
        u32 state = seedOf(cell.place());
        if (random(state) >> 30 == 0) {
            Traits traits;
            traits.wealth = ENDOWMENT / 2 + randomBelow(state, ENDOWMENT);
            traits.age = randomBelow(state, FERTILE_TO);
            traits.sight = 1 + randomBelow(state, FARTHEST);
            traits.metabolism = 1 + randomBelow(state, HUNGRIEST);
            traits.state = random(state);
            makeAny(run, land, cell, traits);
        }
    });
}

__global__ void grow(const __grid_constant__ Run run) {
    Land(run).forEach<Cell>([&](auto cell) {
        const u32 sugar = cell.sugar();
        cell.sugar() = sugar + (sugar < cell.mostSugar() ? 1 : 0);
        cell.suggestions() = 0;
        cell.guest() = WANTED_BY_NONE;
        cell.child() = WANTED_BY_NONE;
    });
}

__global__ void menLook(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Man>([&](auto man) { look<Man>(run, land, man); });
}

__global__ void womenLook(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Woman>([&](auto woman) { look<Woman>(run, land, woman); });
}

__global__ void menLive(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Man>([&](auto man) { live<Man>(run, land, man); });
}

__global__ void womenLive(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Woman>([&](auto woman) { live<Woman>(run, land, woman); });
}

// A man asks one of the women beside him.
__global__ void menAsk(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Man>([&](auto man) {
        if (!isFertile<Man>(man)) {
            return;
        }
        const auto home = land.at<Cell>(man.home());
        u32 women = 0;
        for (u32 side = 0; side < SIDES; ++side) {
            women |= land.at<Cell>(sideOf(home, side)).present() == WOMAN ? 1u << side : 0;
        }
        if (women != 0) {
            const u32 side = nth(women, randomBelow(man.state(), __popc(women)));
            // From there, this is the opposite side.
            atomicOr(&land.at<Cell>(sideOf(home, side)).suggestions(), 1u << (side ^ 1));
        }
    });
}

// A woman chooses one of the men who ask, and a free cell beside her.
__global__ void womenChoose(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Woman>([&](auto woman) {
        woman.target() = NONE;
        const auto home = land.at<Cell>(woman.home());
        const u32 men = home.suggestions();
        if (men == 0 || !isFertile<Woman>(woman)) {
            return;
        }
        u32 room = 0;
        for (u32 side = 0; side < SIDES; ++side) {
            room |= land.at<Cell>(sideOf(home, side)).present() == NOBODY ? 1u << side : 0;
        }
        if (room != 0) {
            u32 state = woman.state();
            const u32 man = nth(men, randomBelow(state, __popc(men)));
            const Id target = sideOf(home, nth(room, randomBelow(state, __popc(room))));
            woman.state() = state;
            woman.father() = land.at<Cell>(sideOf(home, man)).agent();
            woman.target() = target;
            atomicMin(&land.at<Cell>(target).child(), priority(run, home.place()));
        }
    });
}

// If the cell is hers, she has a child there. Nobody else is the father of one in this step, since he has asked her alone.
__global__ OUTBOARD_MAKES void womenBear(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Woman>([&](auto woman) {
        if (woman.target() == NONE) {
            return;
        }
        const auto cell = land.at<Cell>(woman.target());
        const auto home = land.at<Cell>(woman.home());
        if (cell.child() != priority(run, home.place())) {
            return;
        }
        const auto father = land.at<Man>(woman.father());
        woman.wealth() -= ENDOWMENT / 2;
        father.wealth() -= ENDOWMENT / 2;
        u32 state = woman.state();
        const u32 chance = random(state);
        woman.state() = state;
        Traits traits;
        traits.state = chance;
        traits.wealth = ENDOWMENT;
        traits.age = 0;
        traits.sight = (chance & 1) != 0 ? woman.sight() : father.sight();
        traits.metabolism = (chance & 2) != 0 ? woman.metabolism() : father.metabolism();
        makeAny(run, land, cell, traits);
    });
}

// What is in each place: the kind of whoever is there, the sugar, age and wealth. A cell and its agent that don't know each other
// are a fault.
__global__ void draw(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Cell>([&](auto cell) {
        const u32 kind = cell.present();
        const Id id = cell.agent();
        u32 seen = kind | cell.sugar() << 4;
        const auto see = [&](const auto& agent) {
            seen |= agent.age() << 8 | (agent.wealth() & 0xffff) << 16;
            if (agent.home() != cell.id()) {
                count(run, FAULTS);
            }
        };
        if (kind == MAN) {
            see(land.at<Man>(id));
        } else if (kind == WOMAN) {
            see(land.at<Woman>(id));
        }
        reinterpret_cast<u32*>(run.words[PICTURE])[cell.place()] = seen;
    });
}

}

namespace {

// Visits by the lists of agents what `draw` found by the cells.
template <class Agent>
__device__ void drawAgents(const Run& run) {
    const Land land(run);
    land.forEach<Agent>([&](auto agent) {
        const auto home = land.at<Cell>(agent.home());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + home.place(), 1u << 2);
    });
}

}  // namespace

extern "C" {

__global__ void drawMen(const __grid_constant__ Run run) { drawAgents<Man>(run); }

__global__ void drawWomen(const __grid_constant__ Run run) { drawAgents<Woman>(run); }

__global__ void endCell(const __grid_constant__ Run run) { stores::endAll<Cell>(Land(run)); }

__global__ void endMan(const __grid_constant__ Run run) { stores::endAll<Man>(Land(run)); }

__global__ void endWoman(const __grid_constant__ Run run) { stores::endAll<Woman>(Land(run)); }

}
