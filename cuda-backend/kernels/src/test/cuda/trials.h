// What the programs on fibers share: a trial for each seed, and how it is said what is wrong.
#pragma once

#include <sys/mman.h>

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

// Far more than any seed of most scenarios needs.
constexpr uint64_t MOST_ACCESSES = 50000000;

inline void together(const std::vector<std::function<void()>>& bodies, uint64_t mostAccesses = MOST_ACCESSES) {
    require(fibers.run(bodies, mostAccesses), "a call never ends");
}

// By so many threads, each with its number.
inline void together(u32 threads, const std::function<void(u32)>& body) {
    std::vector<std::function<void()>> bodies;
    for (u32 i = 0; i < threads; ++i) {
        bodies.push_back([&body, i] { body(i); });
    }
    together(bodies);
}

// One thread, of any warp, while no other is there. A weak memory makes no difference then, but for the time.
inline void alone(const std::function<void()>& body) {
    std::vector<std::function<void()>> bodies(chance.below(8), [] {});
    bodies.push_back(body);
    const bool weak = fibers.weak;
    fibers.weak = false;
    together(bodies);
    fibers.weak = weak;
}

// Memory for heaps, of which only what is used is there.
inline unsigned char* reserved(u64 bytes) {
    void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(mapping != MAP_FAILED, "no address space");
    return static_cast<unsigned char*>(mapping);
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
