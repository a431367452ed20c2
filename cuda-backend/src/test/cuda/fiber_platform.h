// The machine under the allocators, when that is one host thread, which plays all GPU threads in turn (fibers) and may
// go on with another one before every access to shared memory. Against threads that really run at once
// (cpu_platform.h):
//
// - What happens depends on the seed alone, so what was found once can be shown again.
// - A fiber may sleep for as long as the others need for many calls, and on waking act on what it saw before. Threads
//   that are held up at every access don't get anywhere; fibers do.
// - The oracle needs no lock, and what it notes down between two accesses is exact.
// - Each fiber sees all that happened before at once, so memory orders are not tried. The other platform does that.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "bits.h"

#define OUTBOARD_DEVICE inline

namespace outboard {

constexpr int RELAXED = 0;
constexpr int ACQUIRE = 0;
constexpr int RELEASE = 0;
constexpr int ACQ_REL = 0;
constexpr int SEARCH = 0;
constexpr int AFTER_RESULT = 0;

// Where all chance comes from (SplitMix64: Steele, Lea and Flood 2014).
class Chance {
    uint64_t state = 0;

  public:
    void seed(uint64_t seed) {
        state = seed * 0xD1B54A32D192ED03ull;
    }

    u32 next() {
        state += 0x9E3779B97F4A7C15ull;
        uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<u32>(z >> 32);
    }

    u32 below(u32 limit) {
        return static_cast<u32>((static_cast<uint64_t>(next()) * limit) >> 32);
    }
};

inline Chance chance;

class Fibers {
    static constexpr size_t STACK_BYTES = 1 << 16;

    struct Fiber {
        ucontext_t context;
        std::function<void()> body;
        std::unique_ptr<char[]> stack{new char[STACK_BYTES]};
        u32 number = 0;
        uint64_t wakes = 0;
        bool done = true;
    };

    std::deque<Fiber> all;  // a ucontext_t points into itself, so it must stay where it is
    std::vector<Fiber*> awake;
    ucontext_t scheduler;
    Fiber* current = nullptr;
    uint64_t time = 0;  // in accesses, and on to the next waking while all sleep
    uint64_t accessesLeft = 0;

    static void enter();

    void begin(Fiber& fiber) {
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = STACK_BYTES;
        fiber.context.uc_link = &scheduler;
        fiber.wakes = 0;
        fiber.done = false;
        makecontext(&fiber.context, enter, 0);
    }

    // One of those that are awake; the time is later if all sleep. Null if all have ended.
    Fiber* choose() {
        uint64_t next = ~0ull;
        for (const Fiber& fiber : all) {
            if (!fiber.done && fiber.wakes < next) {
                next = fiber.wakes;
            }
        }
        if (next == ~0ull) {
            return nullptr;
        }
        time = next > time ? next : time;
        awake.clear();
        for (Fiber& fiber : all) {
            if (!fiber.done && fiber.wakes <= time) {
                awake.push_back(&fiber);
            }
        }
        return awake[chance.below(static_cast<u32>(awake.size()))];
    }

  public:
    u32 sleeps = 0;       // of 256 accesses, so many wait for a sleep
    u32 changes = 0;      // of 256 accesses, so many let another fiber go first
    u32 longestLog2 = 0;  // the longest sleep, in accesses of the others

    // Runs all to their ends. False if that needs more accesses than this; they can't go on then.
    bool run(const std::vector<std::function<void()>>& bodies, uint64_t mostAccesses) {
        while (all.size() < bodies.size()) {
            all.emplace_back();
            all.back().number = static_cast<u32>(all.size()) - 1;
        }
        for (size_t i = 0; i < bodies.size(); ++i) {
            all[i].body = bodies[i];
            begin(all[i]);
        }
        time = 0;
        accessesLeft = mostAccesses;
        while (accessesLeft != 0 && (current = choose()) != nullptr) {
            swapcontext(&scheduler, &current->context);
        }
        current = nullptr;
        return accessesLeft != 0;
    }

    // Before every access to shared memory.
    void pause() {
        if (current == nullptr) {
            return;
        }
        ++time;
        Fiber* const self = current;
        if (--accessesLeft == 0) {
            swapcontext(&self->context, &scheduler);  // for good
        }
        const u32 dice = chance.next();
        if ((dice & 255) < sleeps) {
            // As many short sleeps as long ones: some bugs need a few accesses between, some many calls.
            self->wakes = time + chance.below(1u << chance.below(longestLog2 + 1));
        } else if ((dice >> 8 & 255) >= changes) {
            return;
        }
        current = choose();
        if (current != self) {
            swapcontext(&self->context, &current->context);
        }
    }

    u32 number() const {
        return current == nullptr ? 0 : current->number;
    }
};

inline Fibers fibers;

inline void Fibers::enter() {
    fibers.current->body();
    fibers.current->done = true;
}

template <class T>
class Atomic {
    T& word;

    T exchange(T value) const {
        const T before = word;
        word = value;
        return before;
    }

  public:
    explicit Atomic(T& shared) : word(shared) {}

    T load(int) const {
        fibers.pause();
        return word;
    }

    void store(T value, int) const {
        fibers.pause();
        word = value;
    }

    T fetch_add(T value, int) const {
        fibers.pause();
        return exchange(word + value);
    }

    T fetch_sub(T value, int) const {
        fibers.pause();
        return exchange(word - value);
    }

    T fetch_and(T value, int) const {
        fibers.pause();
        return exchange(word & value);
    }

    T fetch_or(T value, int) const {
        fibers.pause();
        return exchange(word | value);
    }

    T fetch_xor(T value, int) const {
        fibers.pause();
        return exchange(word ^ value);
    }

    bool compare_exchange_strong(T& expected, T desired, int, int) const {
        fibers.pause();
        const T before = word;
        if (before == expected) {
            word = desired;
            return true;
        }
        expected = before;
        return false;
    }

    bool compare_exchange_weak(T& expected, T desired, int success, int failure) const {
        // Fails for nothing now and then, as it may.
        if (chance.below(16) == 0) {
            expected = load(failure);
            return false;
        }
        return compare_exchange_strong(expected, desired, success, failure);
    }
};

inline void fullFence() {}

inline u32 multiprocessor() {
    return fibers.number();
}

inline u32 threadOfMultiprocessor() {
    return chance.below(32);
}

inline u64 addTogether(u64& word, u64 value) {
    return Atomic<u64>(word).fetch_add(value, RELAXED);
}

inline u32 scatter() {
    return chance.next();
}

// Each thread is a warp of its own.
class Group {
  public:
    u32 rank() const {
        return 0;
    }

    u32 size() const {
        return 1;
    }

    u32 sumOfLowerRanks(u32) const {
        return 0;
    }

    u32 fromFirst(u32 value) const {
        return value;
    }

    u32 fromLast(u32 value) const {
        return value;
    }

    void sync() const {}
};

}  // namespace outboard
