// What the programs on fibers share: a trial for each seed, and how it is said what is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define OUTBOARD_PLATFORM "fiber_platform.h"
#include "outboard/platform.cuh"

namespace outboard {

inline std::string command;
inline uint64_t seed;

[[noreturn]] inline void fail(const std::string& what) {
    std::printf("%s\nagain with: %s %llu %llu\n", what.c_str(), command.c_str(), static_cast<u64>(seed),
                static_cast<u64>(seed));
    std::fflush(stdout);
    std::_Exit(1);  // fibers haven't ended
}

inline void require(bool condition, const char* what) {
    if (!condition) {
        fail(what);
    }
}

inline void together(const std::vector<std::function<void()>>& bodies, uint64_t mostAccesses) {
    require(fibers.run(bodies, mostAccesses), "a call never ends");
}

// One trial of a scenario for each seed. Arguments as main has them: PROGRAM WHO SCENARIO FIRST_SEED LAST_SEED.
inline void runTrials(char** arguments, void (*once)(const std::string& scenario)) {
    const std::string scenario = arguments[2];
    command = std::string(arguments[0]) + " " + arguments[1] + " " + scenario;
    const uint64_t last = std::strtoull(arguments[4], nullptr, 10);
    for (seed = std::strtoull(arguments[3], nullptr, 10); seed <= last; ++seed) {
        chance.seed(seed);
        fibers.sleeps = 1u << chance.below(6);
        fibers.changes = 1u << chance.below(8);
        fibers.longestLog2 = 5 + chance.below(7);
        once(scenario);
    }
}

}  // namespace outboard
