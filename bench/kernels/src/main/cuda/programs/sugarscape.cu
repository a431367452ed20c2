// Sugarscape (Epstein and Axtell 1996, chapters II and III, as Springer 2019 has it): men and women on a torus of cells on which
// sugar grows. In each step they move to the free cell in sight that has most sugar, eat, starve or die of age; and have children
// with those beside them.
//
// What many want goes to one of them: a cell lets in whoever has the least of numbers that differ between places and change from
// step to step, and a woman chooses among the men who ask. So the order of threads doesn't matter: SugarscapeReference computes the
// same.
#include "stores.cuh"

namespace {

enum Kind { NOBODY, MAN, WOMAN };

// Of a cell. PRESENT: its kind. SUGGESTIONS: a bit for each side from which a man asks the woman here. GUEST and CHILD: the least
// number of those that want to move here, and to have a child here. Sides: left, right, above, below.
enum { AGENT, PRESENT, SUGAR, MOST_SUGAR, PLACE, SUGGESTIONS, GUEST, CHILD, SIDE };
constexpr u32 SIDES = 4;

struct Cell : Fields<Id, u32, u32, u32, u32, u32, u32, u32, Id, Id, Id, Id> {
    static constexpr bool ENDS = false;
};

// Of both kinds. TARGET: the cell to move to, and then the one for a child. A woman's FATHER is the man she chose.
enum { HOME, TARGET, STATE, WEALTH, AGE, MOST_AGE, SIGHT, METABOLISM, FATHER };

struct Man : Fields<Id, Id, u32, u32, u32, u32, u32, u32> {
    static constexpr Kind KIND_OF = MAN;
    static constexpr bool ENDS = true;
};

struct Woman : Fields<Id, Id, u32, u32, u32, u32, u32, u32, Id> {
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

// Words of the run. IDS: of all cells by place.
enum { WIDTH = OWN, CELLS, IDS, STEP };

__device__ Id& idAt(const Run& run, u32 place) { return reinterpret_cast<Id*>(run.words[IDS])[place]; }

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

__device__ Id sideOf(const Land::Object<Cell>& cell, u32 number) {
    switch (number) {
        case 0: return cell.get<SIDE>();
        case 1: return cell.get<SIDE + 1>();
        case 2: return cell.get<SIDE + 2>();
        default: return cell.get<SIDE + 3>();
    }
}

// The set bit with so many before it.
__device__ u32 nth(u32 bits, u32 before) {
    for (; before != 0; --before) {
        bits &= bits - 1;
    }
    return __ffs(static_cast<int>(bits)) - 1;
}

template <class Agent>
__device__ void settle(const Land::Object<Cell>& cell, const Land::Object<Agent>& agent) {
    cell.get<AGENT>() = agent.id();
    cell.get<PRESENT>() = Agent::KIND_OF;
    agent.template get<HOME>() = cell.id();
}

__device__ void leave(const Land::Object<Cell>& cell) {
    cell.get<AGENT>() = NONE;
    cell.get<PRESENT>() = NOBODY;
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
    const auto agent = land.make<Agent>(cell.get<PLACE>());
    if (!agent) {
        count(run, REFUSED);
        return;
    }
    agent.template get<TARGET>() = NONE;
    agent.template get<WEALTH>() = traits.wealth;
    agent.template get<AGE>() = traits.age;
    agent.template get<MOST_AGE>() = OLDEST - randomBelow(traits.state, 40);
    agent.template get<SIGHT>() = traits.sight;
    agent.template get<METABOLISM>() = traits.metabolism;
    agent.template get<STATE>() = traits.state;
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
    const auto home = land.at<Cell>(agent.template get<HOME>());
    const u32 sight = agent.template get<SIGHT>();
    const u32 first = random(agent.template get<STATE>()) >> 30;
    u32 most = home.template get<SUGAR>();
    u32 nearest = 0;
    Id target = NONE;
    for (u32 i = 0; i < SIDES; ++i) {
        Id id = home.id();
        for (u32 distance = 1; distance <= sight; ++distance) {
            id = sideOf(land.at<Cell>(id), (first + i) % SIDES);
            const auto cell = land.at<Cell>(id);
            const u32 sugar = cell.template get<SUGAR>();
            if (cell.template get<PRESENT>() == NOBODY && (sugar > most || (sugar == most && distance < nearest))) {
                most = sugar;
                nearest = distance;
                target = id;
            }
        }
    }
    agent.template get<TARGET>() = target;
    if (target != NONE) {
        atomicMin(&land.at<Cell>(target).template get<GUEST>(), priority(run, home.template get<PLACE>()));
    }
}

// Moves if the target lets this one in, eats, and dies if it is time.
template <class Agent>
__device__ void live(const Run& run, const Land& land, Land::Object<Agent> agent) {
    auto cell = land.at<Cell>(agent.template get<HOME>());
    if (agent.template get<TARGET>() != NONE) {
        const auto target = land.at<Cell>(agent.template get<TARGET>());
        if (target.template get<GUEST>() == priority(run, cell.template get<PLACE>())) {
            leave(cell);
            agent = land.move(agent, target.template get<PLACE>());
            settle(target, agent);
            cell = target;
        }
    }
    const u32 wealth = agent.template get<WEALTH>() + cell.template get<SUGAR>();
    const u32 metabolism = agent.template get<METABOLISM>();
    cell.template get<SUGAR>() = 0;
    if (wealth < metabolism || ++agent.template get<AGE>() > agent.template get<MOST_AGE>()) {
        leave(cell);
        land.destroy(agent);
        return;
    }
    agent.template get<WEALTH>() = wealth - metabolism;
}

template <class Agent>
__device__ bool isFertile(const Land::Object<Agent>& agent) {
    const u32 age = agent.template get<AGE>();
    return age >= FERTILE_FROM && age < FERTILE_TO && agent.template get<WEALTH>() >= ENDOWMENT;
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
        cell.get<SUGAR>() = most;
        cell.get<MOST_SUGAR>() = most;
        cell.get<PLACE>() = place;
        leave(cell);
    }
}

// An agent for one cell in four, of any age up to that at which they are fertile no longer.
__global__ OUTBOARD_MAKES void populate(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Cell>([&](auto cell) {
        const u32 width = static_cast<u32>(run.words[WIDTH]);
        const u32 cells = static_cast<u32>(run.words[CELLS]);
        const u32 place = cell.template get<PLACE>();
        const u32 column = place % width;
        const u32 row = place - column;
        cell.template get<SIDE>() = idAt(run, row + (column + width - 1) % width);
        cell.template get<SIDE + 1>() = idAt(run, row + (column + 1) % width);
        cell.template get<SIDE + 2>() = idAt(run, (place + cells - width) % cells);
        cell.template get<SIDE + 3>() = idAt(run, (place + width) % cells);
        u32 state = seedOf(place);
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
        const u32 sugar = cell.template get<SUGAR>();
        cell.template get<SUGAR>() = sugar + (sugar < cell.template get<MOST_SUGAR>() ? 1 : 0);
        cell.template get<SUGGESTIONS>() = 0;
        cell.template get<GUEST>() = WANTED_BY_NONE;
        cell.template get<CHILD>() = WANTED_BY_NONE;
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
        const auto home = land.at<Cell>(man.template get<HOME>());
        u32 women = 0;
        for (u32 side = 0; side < SIDES; ++side) {
            women |= land.at<Cell>(sideOf(home, side)).template get<PRESENT>() == WOMAN ? 1u << side : 0;
        }
        if (women != 0) {
            const u32 side = nth(women, randomBelow(man.template get<STATE>(), __popc(women)));
            // From there, this is the opposite side.
            atomicOr(&land.at<Cell>(sideOf(home, side)).template get<SUGGESTIONS>(), 1u << (side ^ 1));
        }
    });
}

// A woman chooses one of the men who ask, and a free cell beside her.
__global__ void womenChoose(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Woman>([&](auto woman) {
        woman.template get<TARGET>() = NONE;
        const auto home = land.at<Cell>(woman.template get<HOME>());
        const u32 men = home.template get<SUGGESTIONS>();
        if (men == 0 || !isFertile<Woman>(woman)) {
            return;
        }
        u32 room = 0;
        for (u32 side = 0; side < SIDES; ++side) {
            room |= land.at<Cell>(sideOf(home, side)).template get<PRESENT>() == NOBODY ? 1u << side : 0;
        }
        if (room != 0) {
            u32 state = woman.template get<STATE>();
            const u32 man = nth(men, randomBelow(state, __popc(men)));
            const Id target = sideOf(home, nth(room, randomBelow(state, __popc(room))));
            woman.template get<STATE>() = state;
            woman.template get<FATHER>() = land.at<Cell>(sideOf(home, man)).template get<AGENT>();
            woman.template get<TARGET>() = target;
            atomicMin(&land.at<Cell>(target).template get<CHILD>(), priority(run, home.template get<PLACE>()));
        }
    });
}

// If the cell is hers, she has a child there. Nobody else is the father of one in this step, since he has asked her alone.
__global__ OUTBOARD_MAKES void womenBear(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Woman>([&](auto woman) {
        if (woman.template get<TARGET>() == NONE) {
            return;
        }
        const auto cell = land.at<Cell>(woman.template get<TARGET>());
        const auto home = land.at<Cell>(woman.template get<HOME>());
        if (cell.template get<CHILD>() != priority(run, home.template get<PLACE>())) {
            return;
        }
        const auto father = land.at<Man>(woman.template get<FATHER>());
        woman.template get<WEALTH>() -= ENDOWMENT / 2;
        father.template get<WEALTH>() -= ENDOWMENT / 2;
        u32 state = woman.template get<STATE>();
        const u32 chance = random(state);
        woman.template get<STATE>() = state;
        Traits traits;
        traits.state = chance;
        traits.wealth = ENDOWMENT;
        traits.age = 0;
        traits.sight = (chance & 1) != 0 ? woman.template get<SIGHT>() : father.template get<SIGHT>();
        traits.metabolism = (chance & 2) != 0 ? woman.template get<METABOLISM>() : father.template get<METABOLISM>();
        makeAny(run, land, cell, traits);
    });
}

// What is in each place: the kind of whoever is there, the sugar, age and wealth. A cell and its agent that don't know each other
// are a fault.
__global__ void draw(const __grid_constant__ Run run) {
    const Land land(run);
    land.forEach<Cell>([&](auto cell) {
        const u32 kind = cell.template get<PRESENT>();
        const Id id = cell.template get<AGENT>();
        u32 seen = kind | cell.template get<SUGAR>() << 4;
        const auto see = [&](const auto& agent) {
            seen |= agent.template get<AGE>() << 8 | (agent.template get<WEALTH>() & 0xffff) << 16;
            if (agent.template get<HOME>() != cell.id()) {
                count(run, FAULTS);
            }
        };
        if (kind == MAN) {
            see(land.at<Man>(id));
        } else if (kind == WOMAN) {
            see(land.at<Woman>(id));
        }
        reinterpret_cast<u32*>(run.words[PICTURE])[cell.template get<PLACE>()] = seen;
    });
}

}

namespace {

// Visits by the lists of agents what `draw` found by the cells.
template <class Agent>
__device__ void drawAgents(const Run& run) {
    const Land land(run);
    land.forEach<Agent>([&](auto agent) {
        const auto home = land.at<Cell>(agent.template get<HOME>());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + home.template get<PLACE>(), 1u << 2);
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
