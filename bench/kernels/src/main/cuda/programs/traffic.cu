// Traffic (Nagel and Schreckenberg 1992; Springer 2019): a torus of crossings with one-way streets to the right and downwards
// between them. Streets and crossings are cells, each of which has room for one car. In a step each car accelerates, looks for its
// way, slows down before what is in the way, sometimes dawdles, and drives. Sources make cars, cells that are drains end them.
//
// No two cars drive to one cell: a cell of a street has one cell before it, and what stands in between stops the car behind; and a
// crossing lets in one of two streets in a step. So the order of cars doesn't matter: TrafficReference computes the same.
#include "stores.cuh"

namespace {

constexpr u32 MOST_SPEED = 5;

// nextDown is none but at crossings. downwards: whether a street's cell leads downwards. limit: greatest speed.
struct Cell {
    OUTBOARD_FIELDS((Id, car)(Id, next)(Id, nextDown)(u32, place)(u32, limit)(u32, isDrain)(u32, downwards))
    static constexpr bool ENDS = false;
};

// path0 and so on: the cells that it is about to drive over, as many as its greatest speed.
struct Car {
    OUTBOARD_FIELDS((Id, cell)(u32, state)(u32, speed)(Id, path0)(Id, path1)(Id, path2)(Id, path3)(Id, path4))
    static constexpr bool ENDS = true;
};

using City = Store<Cell, Car>;

// Words of the run. WIDTH: crossings in a row. LENGTH: cells of a street. IDS: of all cells by place: for each crossing, itself,
// its street to the right, its street downwards.
// Sources never end: they are no objects, but an array of the cells where they are and one of their states; so many are in a word.
enum { WIDTH = OWN, LENGTH, IDS, STEP, SOURCES, SOURCE_CELLS, SOURCE_STATES };

__device__ u32& sources(const Run& run) { return *reinterpret_cast<u32*>(run.words[SOURCES]); }

constexpr u32 LIGHTS = 8;  // steps until a crossing lets in the other street

__device__ Id& idAt(const Run& run, u32 place) { return reinterpret_cast<Id*>(run.words[IDS])[place]; }

__device__ u32 placesOfCrossing(const Run& run) { return 1 + 2 * static_cast<u32>(run.words[LENGTH]); }

__device__ u32 places(const Run& run) {
    return static_cast<u32>(run.words[WIDTH] * run.words[WIDTH]) * placesOfCrossing(run);
}

__device__ u32 placeOf(const Run& run, u32 column, u32 row) {
    const u32 width = static_cast<u32>(run.words[WIDTH]);
    return (row % width * width + column % width) * placesOfCrossing(run);
}

// Whether a crossing lets in cars from above in this step; else from the left.
__device__ bool isOpenDownwards(const Run& run, u32 place) {
    return ((run.words[STEP] / LIGHTS + seedOf(place)) & 1) != 0;
}

__device__ void setPath(const City::Object<Car>& car, u32 number, Id id) {
    switch (number) {
        case 0: car.path0() = id; break;
        case 1: car.path1() = id; break;
        case 2: car.path2() = id; break;
        case 3: car.path3() = id; break;
        default: car.path4() = id;
    }
}

__device__ Id pathOf(const City::Object<Car>& car, u32 number) {
    switch (number) {
        case 0: return car.path0();
        case 1: return car.path1();
        case 2: return car.path2();
        case 3: return car.path3();
        default: return car.path4();
    }
}

}  // namespace

extern "C" {

OUTBOARD_LIST

__global__ void makeCells(const __grid_constant__ Run run) {
    const City city(run);
    for (u32 place = stores::thread(); place < places(run); place += stores::threads()) {
        const auto cell = city.make<Cell>(place);
        idAt(run, place) = cell.id();
        if (!cell) {
            count(run, REFUSED);
            continue;
        }
        const u32 seed = seedOf(place);
        cell.place() = place;
        cell.car() = NONE;
        cell.limit() = 3 + seed % (MOST_SPEED - 2);
    }
}

// A drain is one cell in 64, a source as many.
__global__ void connectCells(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Cell>([&](auto cell) {
        const u32 place = cell.place();
        const u32 crossing = place / placesOfCrossing(run);
        const u32 within = place % placesOfCrossing(run);
        const u32 length = static_cast<u32>(run.words[LENGTH]);
        const u32 width = static_cast<u32>(run.words[WIDTH]);
        const u32 column = crossing % width;
        const u32 row = crossing / width;
        const u32 first = place - within;
        const bool downwards = within > length;
        cell.downwards() = downwards;
        cell.nextDown() = within == 0 ? idAt(run, first + 1 + length) : NONE;
        const bool isLast = within == length || within == 2 * length;
        cell.next() = !isLast ? idAt(run, place + 1)
                                            : idAt(run, downwards ? placeOf(run, column, row + 1) : placeOf(run, column + 1, row));
        u32 state = seedOf(~place);
        const u32 chance = randomBelow(state, 64);
        cell.isDrain() = chance == 0;
        if (chance == 1) {
            const u32 number = stores::takeOne(&sources(run));
            reinterpret_cast<Id*>(run.words[SOURCE_CELLS])[number] = cell.id();
            reinterpret_cast<u32*>(run.words[SOURCE_STATES])[number] = state;
        }
    });
}

// Where there is no car, each source makes one in a quarter of the steps.
__global__ void produce(const __grid_constant__ Run run) {
    const City city(run);
    for (u32 number = stores::thread(); number < sources(run); number += stores::threads()) {
        const u32 chance = random(reinterpret_cast<u32*>(run.words[SOURCE_STATES])[number]);
        const auto cell = city.at<Cell>(reinterpret_cast<Id*>(run.words[SOURCE_CELLS])[number]);
        if (chance >> 30 != 0 || cell.car() != NONE) {
            continue;
        }
        const auto car = city.make<Car>(cell.place());
        if (!car) {
            count(run, REFUSED);
            continue;
        }
        car.cell() = cell.id();
        car.state() = chance;
        car.speed() = 0;
        cell.car() = car.id();
    }
}

__global__ void plan(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Car>([&](auto car) {
        auto cell = city.at<Cell>(car.cell());
        u32 speed = car.speed() + 1;
        speed = speed < cell.limit() ? speed : cell.limit();
        u32 state = car.state();
        u32 way = 0;
        for (; way < speed; ++way) {
            const Id down = cell.nextDown();
            const Id next = down != NONE && random(state) >> 31 != 0 ? down : cell.next();
            const auto ahead = city.at<Cell>(next);
            const bool entersCrossing = ahead.nextDown() != NONE;
            if (ahead.car() != NONE
                || (entersCrossing
                    && isOpenDownwards(run, ahead.place()) != (cell.downwards() != 0))) {
                break;
            }
            setPath(car, way, next);
            cell = ahead;
        }
        if (way != 0 && randomBelow(state, 5) == 0) {
            --way;
        }
        car.state() = state;
        car.speed() = way;
    });
}

__global__ void drive(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Car>([&](auto car) {
        const u32 way = car.speed();
        if (way == 0) {
            return;
        }
        city.at<Cell>(car.cell()).car() = NONE;
        const auto target = city.at<Cell>(pathOf(car, way - 1));
        if (target.isDrain() != 0) {
            city.destroy(car);
            return;
        }
        const auto moved = city.move(car, target.place());
        target.car() = moved.id();
        moved.cell() = target.id();
    });
}

// What each cell has of a car, and whether both know each other; then by the list of cars.
__global__ void draw(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Cell>([&](auto cell) {
        const Id id = cell.car();
        u32 seen = 0;
        if (id != NONE) {
            const auto car = city.at<Car>(id);
            if (car.cell() != cell.id()) {
                count(run, FAULTS);
            }
            seen = 1 | car.speed() << 1 | (car.state() & 0xffffff) << 4;
        }
        reinterpret_cast<u32*>(run.words[PICTURE])[cell.place()] = seen;
    });
}

__global__ void drawCars(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Car>([&](auto car) {
        const auto cell = city.at<Cell>(car.cell());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + cell.place(), 1u << 28);
    });
}

__global__ void endCell(const __grid_constant__ Run run) { stores::endAll<Cell>(City(run)); }

__global__ void endCar(const __grid_constant__ Run run) { stores::endAll<Car>(City(run)); }

}
