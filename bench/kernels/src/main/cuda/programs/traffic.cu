// Traffic (Nagel and Schreckenberg 1992; Springer 2019): a torus of crossings with one-way streets to the right and downwards
// between them. Streets and crossings are cells, each of which has room for one car. In a step each car accelerates, looks for its
// way, slows down before what is in the way, sometimes dawdles, and drives. Sources make cars, cells that are drains end them.
//
// No two cars drive to one cell: a cell of a street has one cell before it, and what stands in between stops the car behind; and a
// crossing lets in one of two streets in a step. So the order of cars doesn't matter: TrafficReference computes the same.
#include "stores.cuh"

namespace {

// Of a cell. NEXT_DOWN is none but at crossings. DOWNWARDS: whether a street's cell leads downwards. LIMIT: greatest speed.
enum { CAR, NEXT, NEXT_DOWN, PLACE, LIMIT, IS_DRAIN, DOWNWARDS };
// Of a car. PATH: the cells that it is about to drive over.
enum { CELL, STATE, SPEED, PATH };

constexpr u32 MOST_SPEED = 5;

struct Cell : Fields<Id, Id, Id, u32, u32, u32, u32> {
    static constexpr bool ENDS = false;
};

struct Car : Fields<Id, u32, u32, Id, Id, Id, Id, Id> {
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

template <u32 NUMBER = 0>
__device__ void setPath(const City::Object<Car>& car, u32 number, Id id) {
    if constexpr (NUMBER < MOST_SPEED) {
        if (number == NUMBER) {
            car.get<PATH + NUMBER>() = id;
        } else {
            setPath<NUMBER + 1>(car, number, id);
        }
    }
}

template <u32 NUMBER = 0>
__device__ Id pathOf(const City::Object<Car>& car, u32 number) {
    if constexpr (NUMBER + 1 < MOST_SPEED) {
        return number == NUMBER ? car.get<PATH + NUMBER>() : pathOf<NUMBER + 1>(car, number);
    } else {
        return car.get<PATH + NUMBER>();
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
        cell.get<PLACE>() = place;
        cell.get<CAR>() = NONE;
        cell.get<LIMIT>() = 3 + seed % (MOST_SPEED - 2);
    }
}

// A drain is one cell in 64, a source as many.
__global__ void connect(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Cell>([&](auto cell) {
        const u32 place = cell.template get<PLACE>();
        const u32 crossing = place / placesOfCrossing(run);
        const u32 within = place % placesOfCrossing(run);
        const u32 length = static_cast<u32>(run.words[LENGTH]);
        const u32 width = static_cast<u32>(run.words[WIDTH]);
        const u32 column = crossing % width;
        const u32 row = crossing / width;
        const u32 first = place - within;
        const bool downwards = within > length;
        cell.template get<DOWNWARDS>() = downwards;
        cell.template get<NEXT_DOWN>() = within == 0 ? idAt(run, first + 1 + length) : NONE;
        const bool isLast = within == length || within == 2 * length;
        cell.template get<NEXT>() = !isLast ? idAt(run, place + 1)
                                            : idAt(run, downwards ? placeOf(run, column, row + 1) : placeOf(run, column + 1, row));
        u32 state = seedOf(~place);
        const u32 chance = randomBelow(state, 64);
        cell.template get<IS_DRAIN>() = chance == 0;
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
        if (chance >> 30 != 0 || cell.get<CAR>() != NONE) {
            continue;
        }
        const auto car = city.make<Car>(cell.get<PLACE>());
        if (!car) {
            count(run, REFUSED);
            continue;
        }
        car.get<CELL>() = cell.id();
        car.get<STATE>() = chance;
        car.get<SPEED>() = 0;
        cell.get<CAR>() = car.id();
    }
}

__global__ void plan(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Car>([&](auto car) {
        auto cell = city.at<Cell>(car.template get<CELL>());
        u32 speed = car.template get<SPEED>() + 1;
        speed = speed < cell.template get<LIMIT>() ? speed : cell.template get<LIMIT>();
        u32 state = car.template get<STATE>();
        u32 way = 0;
        for (; way < speed; ++way) {
            const Id down = cell.template get<NEXT_DOWN>();
            const Id next = down != NONE && random(state) >> 31 != 0 ? down : cell.template get<NEXT>();
            const auto ahead = city.at<Cell>(next);
            const bool entersCrossing = ahead.template get<NEXT_DOWN>() != NONE;
            if (ahead.template get<CAR>() != NONE
                || (entersCrossing
                    && isOpenDownwards(run, ahead.template get<PLACE>()) != (cell.template get<DOWNWARDS>() != 0))) {
                break;
            }
            setPath(car, way, next);
            cell = ahead;
        }
        if (way != 0 && randomBelow(state, 5) == 0) {
            --way;
        }
        car.template get<STATE>() = state;
        car.template get<SPEED>() = way;
    });
}

__global__ void drive(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Car>([&](auto car) {
        const u32 way = car.template get<SPEED>();
        if (way == 0) {
            return;
        }
        city.at<Cell>(car.template get<CELL>()).template get<CAR>() = NONE;
        const auto target = city.at<Cell>(pathOf(car, way - 1));
        if (target.template get<IS_DRAIN>() != 0) {
            city.destroy(car);
            return;
        }
        const auto moved = city.move(car, target.template get<PLACE>());
        target.template get<CAR>() = moved.id();
        moved.template get<CELL>() = target.id();
    });
}

// What each cell has of a car, and whether both know each other; then by the list of cars.
__global__ void draw(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Cell>([&](auto cell) {
        const Id id = cell.template get<CAR>();
        u32 seen = 0;
        if (id != NONE) {
            const auto car = city.at<Car>(id);
            if (car.template get<CELL>() != cell.id()) {
                count(run, FAULTS);
            }
            seen = 1 | car.template get<SPEED>() << 1 | (car.template get<STATE>() & 0xffffff) << 4;
        }
        reinterpret_cast<u32*>(run.words[PICTURE])[cell.template get<PLACE>()] = seen;
    });
}

__global__ void drawCars(const __grid_constant__ Run run) {
    const City city(run);
    city.forEach<Car>([&](auto car) {
        const auto cell = city.at<Cell>(car.template get<CELL>());
        atomicAdd(reinterpret_cast<u32*>(run.words[PICTURE]) + cell.template get<PLACE>(), 1u << 28);
    });
}

__global__ void endCell(const __grid_constant__ Run run) { stores::endAll<Cell>(City(run)); }

__global__ void endCar(const __grid_constant__ Run run) { stores::endAll<Car>(City(run)); }

}
