// Bodies that attract each other, all pairs of them (Springer 2019: nbody); and the same with bodies that merge when they come
// close (collision), which end then.
//
// With OUTBOARD_MERGING, they do. In a plane the force falls with the distance. Forces are added up as whole numbers, so that their
// sum doesn't depend on the order in which bodies are visited: BodiesReference computes the same, bit by bit. Operations are the
// rounded ones of IEEE 754, none contracted, for that reason.
#pragma once

#include "stores.cuh"

namespace {

// A force is a whole number of 1 / SCALE; number tells bodies apart wherever they lie. target is what it is to merge into, suitor
// the lowest number of those that are to merge into it, merges whether it does.
struct Body {
    OUTBOARD_FIELDS((float, x)(float, y)(float, mass)(float, speedX)(float, speedY)(s64, forceX)(s64, forceY)
                    (u32, number)(Id, target)(u32, suitor)(u32, merges))
#ifdef OUTBOARD_MERGING
    static constexpr bool ENDS = true;
#else
    static constexpr bool ENDS = false;
#endif
};

using Space = Store<Body>;

constexpr float STEP = 0.005f;
constexpr float SOFTENING = 1e-4f;  // so that forces have a bound
constexpr float SCALE = 17592186044416.0f;  // 2^44
constexpr float GRAVITY = 1e-6f;
constexpr u32 NOBODY = ~0u;

// Words of the run.
enum { BODIES = OWN, RADIUS };

__device__ float unit(u32& state) { return static_cast<float>(random(state) >> 8) * (1.0f / (1 << 24)); }

// What a body of so much mass does at a distance, for each unit along it.
__device__ float pull(float distanceSquared, float mass) {
    return __fmul_rn(__fmul_rn(mass, GRAVITY), __frcp_rn(__fadd_rn(distanceSquared, SOFTENING)));
}

// More than an int holds, of heavy bodies.
__device__ s64 whole(float force) { return __float2ll_rz(__fmul_rn(force, SCALE)); }

}  // namespace

extern "C" {

OUTBOARD_LIST

__global__ void makeBodies(const __grid_constant__ Run run) {
    const Space space(run);
    for (u32 number = stores::thread(); number < run.words[BODIES]; number += stores::threads()) {
        const auto body = space.make<Body>(number);
        if (!body) {
            count(run, REFUSED);
            continue;
        }
        u32 state = seedOf(number);
        body.x() = unit(state);
        body.y() = unit(state);
        body.mass() = __fadd_rn(unit(state), 0.5f);
        body.speedX() = __fmul_rn(__fadd_rn(unit(state), -0.5f), 0.1f);
        body.speedY() = __fmul_rn(__fadd_rn(unit(state), -0.5f), 0.1f);
        body.forceX() = 0;
        body.forceY() = 0;
        body.number() = number;
        body.target() = NONE;
    }
}

__global__ void attract(const __grid_constant__ Run run) {
    const Space space(run);
    space.forEach<Body>([&](auto body) {
        const float x = body.x();
        const float y = body.y();
        s64 forceX = 0;
        s64 forceY = 0;
        space.visitAll<Body>([&](auto other) {
            const float dx = __fadd_rn(other.x(), -x);
            const float dy = __fadd_rn(other.y(), -y);
            // Of itself it is 0.
            const float force = pull(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)), other.mass());
            forceX += whole(__fmul_rn(force, dx));
            forceY += whole(__fmul_rn(force, dy));
        });
        body.forceX() = forceX;
        body.forceY() = forceY;
    });
}

// Bodies turn back at the borders.
__global__ void advance(const __grid_constant__ Run run) {
    const Space space(run);
    const auto along = [](float& at, float& speed, s64 force) {
        speed = __fadd_rn(speed, __fmul_rn(__fmul_rn(__ll2float_rn(force), 1.0f / SCALE), STEP));
        at = __fadd_rn(at, __fmul_rn(speed, STEP));
        if (at < 0 || at > 1) {
            speed = -speed;
        }
    };
    space.forEach<Body>([&](auto body) {
        along(body.x(), body.speedX(), body.forceX());
        along(body.y(), body.speedY(), body.forceY());
    });
}

#ifdef OUTBOARD_MERGING

// Each body looks for the heaviest one near that is heavier; of two as heavy, the one with the higher number is.
__global__ void seek(const __grid_constant__ Run run) {
    const Space space(run);
    const float radius = __uint_as_float(static_cast<u32>(run.words[RADIUS]));
    space.forEach<Body>([&](auto body) {
        const float x = body.x();
        const float y = body.y();
        float mass = body.mass();
        u32 number = body.number();
        Id target = NONE;
        space.visitAll<Body>([&](auto other) {
            const float dx = __fadd_rn(other.x(), -x);
            const float dy = __fadd_rn(other.y(), -y);
            const float weight = other.mass();
            if (__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)) < radius && weight >= mass
                && (weight > mass || other.number() > number)) {
                mass = weight;
                number = other.number();
                target = other.id();
            }
        });
        body.target() = target;
        body.suitor() = NOBODY;
    });
}

// A target that has none itself takes one body in this step, that with the lowest number.
__global__ void ask(const __grid_constant__ Run run) {
    const Space space(run);
    space.forEach<Body>([&](auto body) {
        const Id target = body.target();
        if (target != NONE) {
            atomicMin(&space.at<Body>(target).suitor(), body.number());
        }
    });
}

__global__ void decide(const __grid_constant__ Run run) {
    const Space space(run);
    space.forEach<Body>([&](auto body) {
        const Id id = body.target();
        bool merges = false;
        if (id != NONE) {
            const auto target = space.at<Body>(id);
            merges = target.target() == NONE && target.suitor() == body.number();
        }
        body.merges() = merges;
    });
}

__global__ void merge(const __grid_constant__ Run run) {
    const Space space(run);
    space.forEach<Body>([&](auto body) {
        if (body.merges() == 0) {
            return;
        }
        const auto target = space.at<Body>(body.target());
        const float mine = body.mass();
        const float its = target.mass();
        const float sum = __fadd_rn(mine, its);
        const auto join = [&](float& own, float other) {
            own = __fdiv_rn(__fadd_rn(__fmul_rn(own, its), __fmul_rn(other, mine)), sum);
        };
        join(target.speedX(), body.speedX());
        join(target.speedY(), body.speedY());
        target.mass() = sum;
        space.destroy(body);
    });
}

#endif

// Where each body is, and how heavy: three numbers of it.
__global__ void draw(const __grid_constant__ Run run) {
    const Space space(run);
    u32* const picture = reinterpret_cast<u32*>(run.words[PICTURE]);
    space.forEach<Body>([&](auto body) {
        u32* const mine = picture + 3 * body.number();
        mine[0] = __float_as_uint(body.x());
        mine[1] = __float_as_uint(body.y());
        mine[2] = __float_as_uint(body.mass());
    });
}

__global__ void endBody(const __grid_constant__ Run run) { stores::endAll<Body>(Space(run)); }

}
