// Fracture by finite elements (Springer 2019: structure, figure 3): a plate of nodes with springs between neighbours, held at its
// upper edge and pulled at its lower one. A spring that becomes too long breaks. Now and then all nodes are looked for that springs
// still join to one of these edges, and what has come off is taken away.
//
// In the paper's figure the nodes that are held and pulled are subclasses of the others; here they have a kind.
//
// Each node adds up its springs' forces in the order of directions, by the rounded operations of IEEE 754, none contracted; and
// what springs join doesn't depend on the order in which it is found. So StructureReference computes the same, bit by bit.
#include "stores.cuh"

namespace {

constexpr u32 DIRECTIONS = 4;  // to the right, down to the left, down, down to the right

enum Kind { FREE, HELD, PULLED };

// Of the search for what springs join to an edge. JUST_REACHED: what lies beyond hasn't been looked at.
enum { UNREACHED, JUST_REACHED, REACHED };

// Of a node. SPRING: those to the next nodes by direction, then those from nodes before. NUMBER: row by row.
enum { X, Y, SPEED_X, SPEED_Y, NUMBER, KIND, STATE, SPRING };
// Of a spring. It breaks when it is longer than LONGEST.
enum { FIRST, SECOND, DIRECTION, REST, LONGEST, FORCE_X, FORCE_Y };

struct Node : Fields<float, float, float, float, u32, u32, u32, Id, Id, Id, Id, Id, Id, Id, Id> {
    static constexpr bool ENDS = true;
};
struct Spring : Fields<Id, Id, u32, float, float, float, float> {
    static constexpr bool ENDS = true;
};

using Plate = Store<Node, Spring>;

constexpr float DIAGONAL = 1.4142135f;
constexpr float STRETCH = 1.06f;        // of the plate at first
constexpr float LEAST_STRETCH = 1.02f;  // that the weakest spring bears, and how much more the strongest one does
constexpr float MORE_STRETCH = 0.1f;
constexpr float STIFFNESS = 0.5f;
constexpr float STEP = 0.25f;
constexpr float DAMPING = 0.995f;
constexpr float PULL = 0.05f;  // a step

// Words of the run. IDS: of all nodes by number. FOUND: counts nodes that are reached.
enum { COLUMNS = OWN, ROWS, IDS, FOUND };

__device__ Id& idAt(const Run& run, u32 number) { return reinterpret_cast<Id*>(run.words[IDS])[number]; }

// Calls a function with the number of each direction, as a constant.
template <u32 NUMBER = 0, class Function>
__device__ void eachDirection(const Function& function) {
    if constexpr (NUMBER < DIRECTIONS) {
        function(std::integral_constant<u32, NUMBER>());
        eachDirection<NUMBER + 1>(function);
    }
}

__device__ void addTo(float& sum, float force) { sum = __fadd_rn(sum, force); }

// Goes on over springs of one direction as long as nobody has been there, and whether that was anywhere.
template <u32 PLACE, u32 END>
__device__ bool reachAlong(const Plate& plate, Plate::Object<Node> node) {
    bool isNew = false;
    for (Id id = node.get<PLACE>(); id != NONE; id = node.get<PLACE>()) {
        node = plate.at<Node>(plate.at<Spring>(id).template get<END>());
        if (atomicCAS(&node.get<STATE>(), static_cast<u32>(UNREACHED), static_cast<u32>(JUST_REACHED)) != UNREACHED) {
            break;
        }
        isNew = true;
    }
    return isNew;
}

}  // namespace

extern "C" {

OUTBOARD_LIST

__global__ void makeNodes(const __grid_constant__ Run run) {
    const Plate plate(run);
    const u32 columns = static_cast<u32>(run.words[COLUMNS]);
    const u32 rows = static_cast<u32>(run.words[ROWS]);
    for (u32 number = stores::thread(); number < columns * rows; number += stores::threads()) {
        const auto node = plate.make<Node>(number);
        idAt(run, number) = node.id();
        if (!node) {
            count(run, REFUSED);
            continue;
        }
        const u32 row = number / columns;
        node.get<X>() = __fmul_rn(static_cast<float>(number % columns), STRETCH);
        node.get<Y>() = __fmul_rn(static_cast<float>(row), STRETCH);
        node.get<SPEED_X>() = 0;
        node.get<SPEED_Y>() = 0;
        node.get<NUMBER>() = number;
        node.get<KIND>() = row == 0 ? HELD : row == rows - 1 ? PULLED : FREE;
        eachDirection([&](auto direction) {
            node.template get<SPRING + direction.value>() = NONE;
            node.template get<SPRING + DIRECTIONS + direction.value>() = NONE;
        });
    }
}

// Each node makes the springs to those after it.
__global__ OUTBOARD_MAKES void makeSprings(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        const u32 columns = static_cast<u32>(run.words[COLUMNS]);
        const u32 number = node.template get<NUMBER>();
        eachDirection([&](auto direction) {
            constexpr u32 WAY = direction.value;
            const u32 column = number % columns + (WAY == 0 || WAY == 3 ? 1 : WAY == 1 ? ~0u : 0);
            const u32 row = number / columns + (WAY == 0 ? 0 : 1);
            if (column >= columns || row >= run.words[ROWS]) {
                return;
            }
            const auto spring = plate.template make<Spring>(number * DIRECTIONS + WAY);
            if (!spring) {
                count(run, REFUSED);
                return;
            }
            const auto other = plate.template at<Node>(idAt(run, row * columns + column));
            const float rest = WAY % 2 == 0 ? 1.0f : DIAGONAL;
            u32 state = seedOf(number * DIRECTIONS + WAY);
            const float more = __fmul_rn(static_cast<float>(random(state) >> 8), MORE_STRETCH / (1 << 24));
            spring.template get<FIRST>() = node.id();
            spring.template get<SECOND>() = other.id();
            spring.template get<DIRECTION>() = WAY;
            spring.template get<REST>() = rest;
            spring.template get<LONGEST>() = __fmul_rn(rest, __fadd_rn(LEAST_STRETCH, more));
            node.template get<SPRING + WAY>() = spring.id();
            other.template get<SPRING + DIRECTIONS + WAY>() = spring.id();
        });
    });
}

// Takes a spring off its nodes, and ends it.
__device__ void part(const Plate& plate, const Plate::Object<Spring>& spring) {
    eachDirection([&](auto direction) {
        if (spring.get<DIRECTION>() == direction.value) {
            plate.at<Node>(spring.get<FIRST>()).template get<SPRING + direction.value>() = NONE;
            plate.at<Node>(spring.get<SECOND>()).template get<SPRING + DIRECTIONS + direction.value>() = NONE;
        }
    });
    plate.destroy(spring);
}

__global__ void stretch(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Spring>([&](auto spring) {
        const auto first = plate.at<Node>(spring.template get<FIRST>());
        const auto second = plate.at<Node>(spring.template get<SECOND>());
        const float dx = __fadd_rn(second.template get<X>(), -first.template get<X>());
        const float dy = __fadd_rn(second.template get<Y>(), -first.template get<Y>());
        const float length = __fsqrt_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)));
        if (length > spring.template get<LONGEST>()) {
            part(plate, spring);
            return;
        }
        // For each unit along it.
        const float force = __fdiv_rn(__fmul_rn(__fadd_rn(length, -spring.template get<REST>()), STIFFNESS), length);
        spring.template get<FORCE_X>() = __fmul_rn(force, dx);
        spring.template get<FORCE_Y>() = __fmul_rn(force, dy);
    });
}

__global__ void move(const __grid_constant__ Run run) {
    const Plate plate(run);
    const auto along = [](float& at, float& speed, float force) {
        speed = __fmul_rn(__fadd_rn(speed, __fmul_rn(force, STEP)), DAMPING);
        at = __fadd_rn(at, __fmul_rn(speed, STEP));
    };
    plate.forEach<Node>([&](auto node) {
        const u32 kind = node.template get<KIND>();
        if (kind == PULLED) {
            addTo(node.template get<Y>(), PULL);
        }
        if (kind != FREE) {
            return;
        }
        float forceX = 0;
        float forceY = 0;
        eachDirection([&](auto direction) {
            const Id after = node.template get<SPRING + direction.value>();
            if (after != NONE) {
                addTo(forceX, plate.at<Spring>(after).template get<FORCE_X>());
                addTo(forceY, plate.at<Spring>(after).template get<FORCE_Y>());
            }
            const Id before = node.template get<SPRING + DIRECTIONS + direction.value>();
            if (before != NONE) {
                addTo(forceX, -plate.at<Spring>(before).template get<FORCE_X>());
                addTo(forceY, -plate.at<Spring>(before).template get<FORCE_Y>());
            }
        });
        along(node.template get<X>(), node.template get<SPEED_X>(), forceX);
        along(node.template get<Y>(), node.template get<SPEED_Y>(), forceY);
    });
}

__global__ void beginAtEdges(const __grid_constant__ Run run) {
    Plate(run).forEach<Node>([&](auto node) {
        node.template get<STATE>() = node.template get<KIND>() == FREE ? UNREACHED : JUST_REACHED;
    });
}

// To be repeated until it finds nothing: in straight lines, so that there are few rounds.
__global__ void reach(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        if (node.template get<STATE>() != JUST_REACHED) {
            return;
        }
        node.template get<STATE>() = REACHED;
        bool isNew = false;
        eachDirection([&](auto direction) {
            isNew |= reachAlong<SPRING + direction.value, SECOND>(plate, node);
            isNew |= reachAlong<SPRING + DIRECTIONS + direction.value, FIRST>(plate, node);
        });
        if (isNew) {
            count(run, FOUND);
        }
    });
}

__global__ void takeSprings(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Spring>([&](auto spring) {
        if (plate.at<Node>(spring.template get<FIRST>()).template get<STATE>() == UNREACHED) {
            part(plate, spring);
        }
    });
}

__global__ void takeNodes(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        if (node.template get<STATE>() == UNREACHED) {
            plate.destroy(node);
        }
    });
}

// Of each node where it is, that it is, and which springs it has. A spring of another node is a fault.
__global__ void draw(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        u32* const mine = reinterpret_cast<u32*>(run.words[PICTURE]) + 3 * node.template get<NUMBER>();
        u32 seen = 1;
        const auto see = [&](u32 bit, Id id, Id owner) {
            seen |= id != NONE ? 1u << bit : 0;
            if (id != NONE && owner != node.id()) {
                count(run, FAULTS);
            }
        };
        eachDirection([&](auto direction) {
            const Id after = node.template get<SPRING + direction.value>();
            const Id before = node.template get<SPRING + DIRECTIONS + direction.value>();
            see(1 + direction.value, after, after != NONE ? plate.at<Spring>(after).template get<FIRST>() : NONE);
            see(1 + DIRECTIONS + direction.value, before,
                before != NONE ? plate.at<Spring>(before).template get<SECOND>() : NONE);
        });
        mine[0] = __float_as_uint(node.template get<X>());
        mine[1] = __float_as_uint(node.template get<Y>());
        atomicAdd(mine + 2, seen);
    });
}

// Visits by the list of springs what `draw` found by the nodes.
__global__ void drawSprings(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Spring>([&](auto spring) {
        const auto first = plate.at<Node>(spring.template get<FIRST>());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + 3 * first.template get<NUMBER>() + 2, 1u << 16);
    });
}

__global__ void endNode(const __grid_constant__ Run run) { stores::endAll<Node>(Plate(run)); }

__global__ void endSpring(const __grid_constant__ Run run) { stores::endAll<Spring>(Plate(run)); }

}
