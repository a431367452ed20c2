// Fracture by finite elements (Springer 2019: structure, figure 3): a plate of nodes with springs between neighbours, held at its
// upper edge and pulled at its lower one. A spring that becomes too long breaks. Now and then all nodes are looked for that springs
// still join to one of these edges, and what has come off is taken away.
//
// In the paper's figure the nodes that are held and pulled are subclasses of the others; here they have a kind. The paper doesn't
// describe its mesh.
//
// Each node adds up its springs' forces in the order of directions, by the rounded operations of IEEE 754, none contracted; and
// what springs join doesn't depend on the order in which it is found. So StructureReference computes the same, bit by bit.
#include "stores.cuh"

namespace {

constexpr u32 DIRECTIONS = 4;  // to the right, down to the left, down, down to the right

enum Kind { FREE, HELD, PULLED };

// Of the search for what springs join to an edge. JUST_REACHED: what lies beyond hasn't been looked at.
enum { UNREACHED, JUST_REACHED, REACHED };

// after0 and so on: the springs to the next nodes by direction; before0 and so on: those from nodes before. number: row by row.
struct Node {
    OUTBOARD_FIELDS((float, x)(float, y)(float, speedX)(float, speedY)(u32, number)(u32, kind)(u32, state)(Id, after0)
                    (Id, after1)(Id, after2)(Id, after3)(Id, before0)(Id, before1)(Id, before2)(Id, before3))
    static constexpr bool ENDS = true;
};

// It breaks when it is longer than longest.
struct Spring {
    OUTBOARD_FIELDS((Id, first)(Id, second)(u32, direction)(float, rest)(float, longest)(float, forceX)(float, forceY))
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

// Calls a function with the number of each direction.
template <u32 NUMBER = 0, class Function>
__device__ void eachDirection(const Function& function) {
    if constexpr (NUMBER < DIRECTIONS) {
        function(NUMBER);
        eachDirection<NUMBER + 1>(function);
    }
}

__device__ Id& afterOf(const Plate::Object<Node>& node, u32 direction) {
    switch (direction) {
        case 0: return node.after0();
        case 1: return node.after1();
        case 2: return node.after2();
        default: return node.after3();
    }
}

__device__ Id& beforeOf(const Plate::Object<Node>& node, u32 direction) {
    switch (direction) {
        case 0: return node.before0();
        case 1: return node.before1();
        case 2: return node.before2();
        default: return node.before3();
    }
}

__device__ void addTo(float& sum, float force) { sum = __fadd_rn(sum, force); }

// Goes on over springs of one direction, those after or those before each node, as long as nobody has been there, and whether that
// was anywhere.
template <bool IS_AFTER>
__device__ bool reachAlong(const Plate& plate, Plate::Object<Node> node, u32 direction) {
    const auto next = [&] { return IS_AFTER ? afterOf(node, direction) : beforeOf(node, direction); };
    bool isNew = false;
    for (Id id = next(); id != NONE; id = next()) {
        const auto spring = plate.at<Spring>(id);
        node = plate.at<Node>(IS_AFTER ? spring.second() : spring.first());
        if (atomicCAS(&node.state(), static_cast<u32>(UNREACHED), static_cast<u32>(JUST_REACHED)) != UNREACHED) {
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
        node.x() = __fmul_rn(static_cast<float>(number % columns), STRETCH);
        node.y() = __fmul_rn(static_cast<float>(row), STRETCH);
        node.speedX() = 0;
        node.speedY() = 0;
        node.number() = number;
        node.kind() = row == 0 ? HELD : row == rows - 1 ? PULLED : FREE;
        eachDirection([&](u32 direction) {
            afterOf(node, direction) = NONE;
            beforeOf(node, direction) = NONE;
        });
    }
}

// Each node makes the springs to those after it.
__global__ OUTBOARD_MAKES void makeSprings(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        const u32 columns = static_cast<u32>(run.words[COLUMNS]);
        const u32 number = node.number();
        eachDirection([&](u32 direction) {
            const u32 column = number % columns + (direction == 0 || direction == 3 ? 1 : direction == 1 ? ~0u : 0);
            const u32 row = number / columns + (direction == 0 ? 0 : 1);
            if (column >= columns || row >= run.words[ROWS]) {
                return;
            }
            const auto spring = plate.make<Spring>(number * DIRECTIONS + direction);
            if (!spring) {
                count(run, REFUSED);
                return;
            }
            const auto other = plate.template at<Node>(idAt(run, row * columns + column));
            const float rest = direction % 2 == 0 ? 1.0f : DIAGONAL;
            u32 state = seedOf(number * DIRECTIONS + direction);
            const float more = __fmul_rn(static_cast<float>(random(state) >> 8), MORE_STRETCH / (1 << 24));
            spring.first() = node.id();
            spring.second() = other.id();
            spring.direction() = direction;
            spring.rest() = rest;
            spring.longest() = __fmul_rn(rest, __fadd_rn(LEAST_STRETCH, more));
            afterOf(node, direction) = spring.id();
            beforeOf(other, direction) = spring.id();
        });
    });
}

// Takes a spring off its nodes, and ends it.
__device__ void part(const Plate& plate, const Plate::Object<Spring>& spring) {
    eachDirection([&](u32 direction) {
        if (spring.direction() == direction) {
            afterOf(plate.at<Node>(spring.first()), direction) = NONE;
            beforeOf(plate.at<Node>(spring.second()), direction) = NONE;
        }
    });
    plate.destroy(spring);
}

__global__ void stretch(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Spring>([&](auto spring) {
        const auto first = plate.at<Node>(spring.first());
        const auto second = plate.at<Node>(spring.second());
        const float dx = __fadd_rn(second.x(), -first.x());
        const float dy = __fadd_rn(second.y(), -first.y());
        const float length = __fsqrt_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)));
        if (length > spring.longest()) {
            part(plate, spring);
            return;
        }
        // For each unit along it.
        const float force = __fdiv_rn(__fmul_rn(__fadd_rn(length, -spring.rest()), STIFFNESS), length);
        spring.forceX() = __fmul_rn(force, dx);
        spring.forceY() = __fmul_rn(force, dy);
    });
}

__global__ void move(const __grid_constant__ Run run) {
    const Plate plate(run);
    const auto along = [](float& at, float& speed, float force) {
        speed = __fmul_rn(__fadd_rn(speed, __fmul_rn(force, STEP)), DAMPING);
        at = __fadd_rn(at, __fmul_rn(speed, STEP));
    };
    plate.forEach<Node>([&](auto node) {
        const u32 kind = node.kind();
        if (kind == PULLED) {
            addTo(node.y(), PULL);
        }
        if (kind != FREE) {
            return;
        }
        float forceX = 0;
        float forceY = 0;
        eachDirection([&](u32 direction) {
            const Id after = afterOf(node, direction);
            if (after != NONE) {
                addTo(forceX, plate.at<Spring>(after).forceX());
                addTo(forceY, plate.at<Spring>(after).forceY());
            }
            const Id before = beforeOf(node, direction);
            if (before != NONE) {
                addTo(forceX, -plate.at<Spring>(before).forceX());
                addTo(forceY, -plate.at<Spring>(before).forceY());
            }
        });
        along(node.x(), node.speedX(), forceX);
        along(node.y(), node.speedY(), forceY);
    });
}

__global__ void beginAtEdges(const __grid_constant__ Run run) {
    Plate(run).forEach<Node>([&](auto node) {
        node.state() = node.kind() == FREE ? UNREACHED : JUST_REACHED;
    });
}

// To be repeated until it finds nothing: in straight lines, so that there are few rounds.
__global__ void reach(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        // Volatile: other threads look at it meanwhile. Only this one changes it once it isn't UNREACHED.
        volatile u32& state = node.state();
        if (state != JUST_REACHED) {
            return;
        }
        state = REACHED;
        bool isNew = false;
        eachDirection([&](u32 direction) {
            isNew |= reachAlong<true>(plate, node, direction);
            isNew |= reachAlong<false>(plate, node, direction);
        });
        if (isNew) {
            count(run, FOUND);
        }
    });
}

__global__ void takeSprings(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Spring>([&](auto spring) {
        if (plate.at<Node>(spring.first()).state() == UNREACHED) {
            part(plate, spring);
        }
    });
}

__global__ void takeNodes(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        if (node.state() == UNREACHED) {
            plate.destroy(node);
        }
    });
}

// Of each node where it is, that it is, and which springs it has. A spring of another node is a fault.
__global__ void draw(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Node>([&](auto node) {
        u32* const mine = reinterpret_cast<u32*>(run.words[PICTURE]) + 3 * node.number();
        u32 seen = 1;
        const auto see = [&](u32 bit, Id id, Id owner) {
            seen |= id != NONE ? 1u << bit : 0;
            if (id != NONE && owner != node.id()) {
                count(run, FAULTS);
            }
        };
        eachDirection([&](u32 direction) {
            const Id after = afterOf(node, direction);
            const Id before = beforeOf(node, direction);
            see(1 + direction, after, after != NONE ? plate.at<Spring>(after).first() : NONE);
            see(1 + DIRECTIONS + direction, before,
                before != NONE ? plate.at<Spring>(before).second() : NONE);
        });
        mine[0] = __float_as_uint(node.x());
        mine[1] = __float_as_uint(node.y());
        atomicAdd(mine + 2, seen);
    });
}

// Visits by the list of springs what `draw` found by the nodes.
__global__ void drawSprings(const __grid_constant__ Run run) {
    const Plate plate(run);
    plate.forEach<Spring>([&](auto spring) {
        const auto first = plate.at<Node>(spring.first());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + 3 * first.number() + 2, 1u << 16);
    });
}

__global__ void endNode(const __grid_constant__ Run run) { stores::endAll<Node>(Plate(run)); }

__global__ void endSpring(const __grid_constant__ Run run) { stores::endAll<Spring>(Plate(run)); }

}
