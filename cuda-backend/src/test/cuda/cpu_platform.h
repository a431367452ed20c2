// The machine under the allocators, when that is a CPU: one host thread for each GPU thread, and a stall, long now and
// then, before every access to shared memory, so that threads meet in states that a GPU shows once in a month.
#pragma once

#include <condition_variable>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bits.h"
#include "turns.h"

#define OUTBOARD_DEVICE inline

namespace outboard {

constexpr int RELAXED = __ATOMIC_RELAXED;
constexpr int ACQUIRE = __ATOMIC_ACQUIRE;
constexpr int RELEASE = __ATOMIC_RELEASE;
constexpr int ACQ_REL = __ATOMIC_ACQ_REL;
constexpr int SEARCH = ACQUIRE;
constexpr int AFTER_RESULT = ACQ_REL;

class Warp;

// The calling thread's place and its source of chance.
struct Self {
    uint64_t random = 1;
    u32 multiprocessor = 0;
    Warp* warp = nullptr;
    // Of 65536 accesses so many yield the processor, and a 64th of these sleep.
    u32 stalls = 0;
    // Or one thread runs at a time, and may lose its turn at any access.
    Turns* turns = nullptr;
    u32 place = 0;

    u32 next() {
        random += 0x9E3779B97F4A7C15ull;
        uint64_t z = random;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<u32>(z >> 32);
    }
};

inline thread_local Self self;

inline void stall() {
    if (self.turns != nullptr) {
        self.turns->access(self.place);
        return;
    }
    if (self.stalls == 0) {
        return;
    }
    const u32 chance = self.next();
    if ((chance & 0xFFFF) < self.stalls) {
        if ((chance >> 16 & 63) == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(chance >> 22 & 255));
        } else {
            std::this_thread::yield();
        }
    }
}

template <class T>
class Atomic {
    T& word;

  public:
    explicit Atomic(T& shared) : word(shared) {}

    T load(int order) const {
        stall();
        return __atomic_load_n(&word, order);
    }

    void store(T value, int order) const {
        stall();
        __atomic_store_n(&word, value, order);
    }

    T fetch_add(T value, int order) const {
        stall();
        return __atomic_fetch_add(&word, value, order);
    }

    T fetch_sub(T value, int order) const {
        stall();
        return __atomic_fetch_sub(&word, value, order);
    }

    T fetch_and(T value, int order) const {
        stall();
        return __atomic_fetch_and(&word, value, order);
    }

    T fetch_or(T value, int order) const {
        stall();
        return __atomic_fetch_or(&word, value, order);
    }

    T fetch_xor(T value, int order) const {
        stall();
        return __atomic_fetch_xor(&word, value, order);
    }

    bool compare_exchange_strong(T& expected, T desired, int success, int failure) const {
        stall();
        return __atomic_compare_exchange_n(&word, &expected, desired, false, success, failure);
    }

    bool compare_exchange_weak(T& expected, T desired, int success, int failure) const {
        stall();
        // Fails for nothing now and then, as it may.
        if ((self.stalls != 0 || self.turns != nullptr) && (self.next() & 15) == 0) {
            expected = __atomic_load_n(&word, failure);
            return false;
        }
        return __atomic_compare_exchange_n(&word, &expected, desired, true, success, failure);
    }
};

inline u32 fenceWord = 0;

// As an exchange of one word by all, since the thread sanitizer doesn't know fences.
inline void fullFence() {
    __atomic_fetch_add(&fenceWord, 1, __ATOMIC_SEQ_CST);
}

inline u32 multiprocessor() {
    return self.multiprocessor;
}

inline u32 threadOfMultiprocessor() {
    return self.next() & 31;
}

inline u64 addTogether(u64& word, u64 value) {
    stall();
    return __atomic_fetch_add(&word, value, RELAXED);
}

inline u32 scatter() {
    return self.next();
}

template <class Condition>
void await(std::unique_lock<std::mutex>& guard, std::condition_variable& changed, const Condition& condition) {
    if (self.turns == nullptr) {
        changed.wait(guard, condition);
        return;
    }
    while (!condition()) {
        guard.unlock();
        self.turns->pass(self.place);
        guard.lock();
    }
}

// Threads that meet: those that come while the first one waits, a random time. So groups are any part of a warp, as
// they may be on a GPU.
class Meeting {
    std::mutex lock;
    std::condition_variable changed;
    u32 waiting = 0;
    u64 round = 0;

  public:
    bool open = true;
    u32 members = 0;
    uint64_t values[32] = {};

    u32 join() {
        return members++;
    }

    void barrier() {
        std::unique_lock<std::mutex> guard(lock);
        const u64 mine = round;
        if (++waiting == members) {
            waiting = 0;
            ++round;
            changed.notify_all();
        } else {
            await(guard, changed, [&] { return round != mine; });
        }
    }
};

class Warp {
    std::mutex lock;
    std::condition_variable closed;
    std::shared_ptr<Meeting> meeting;

  public:
    std::shared_ptr<Meeting> meet(u32& rank) {
        std::unique_lock<std::mutex> guard(lock);
        if (meeting == nullptr) {
            const auto mine = std::make_shared<Meeting>();
            meeting = mine;
            rank = mine->join();
            guard.unlock();
            if (self.turns == nullptr) {
                std::this_thread::sleep_for(std::chrono::microseconds(self.next() & 127));
            } else {
                for (u32 i = self.next() & 15; i != 0; --i) {
                    self.turns->pass(self.place);
                }
            }
            guard.lock();
            mine->open = false;
            meeting = nullptr;
            closed.notify_all();
            return mine;
        }
        const auto theirs = meeting;
        rank = theirs->join();
        await(guard, closed, [&] { return !theirs->open; });
        return theirs;
    }
};

class Group {
    std::shared_ptr<Meeting> meeting;
    u32 mine = 0;

    template <class T>
    T exchange(T value, bool sum, u32 rank) const {
        meeting->values[mine] = static_cast<uint64_t>(value);
        meeting->barrier();
        uint64_t result = 0;
        if (sum) {
            for (u32 i = 0; i < mine; ++i) {
                result += meeting->values[i];
            }
        } else {
            result = meeting->values[rank];
        }
        meeting->barrier();
        return static_cast<T>(result);
    }

  public:
    Group() {
        if (self.warp != nullptr) {
            meeting = self.warp->meet(mine);
        } else {
            meeting = std::make_shared<Meeting>();
            meeting->join();
        }
    }

    u32 rank() const {
        return mine;
    }

    u32 size() const {
        return meeting->members;
    }

    u32 sumOfLowerRanks(u32 value) const {
        return exchange(value, true, 0);
    }

    u32 fromFirst(u32 value) const {
        return exchange(value, false, 0);
    }

    u32 fromLast(u32 value) const {
        return exchange(value, false, size() - 1);
    }

    void sync() const {
        meeting->barrier();
    }
};

}  // namespace outboard
