// The machine under the allocators, when that is a CPU: one host thread for each GPU thread, and a stall, long now and
// then, before every access to shared memory, so that threads meet in states that a GPU shows once in a month.
#pragma once

#include <condition_variable>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bits.h"
#include "turns.h"

#define OUTBOARD_DEVICE inline
#define OUTBOARD_SELDOM
#define OUTBOARD_ROLLED

namespace outboard {

constexpr int RELAXED = __ATOMIC_RELAXED;
constexpr int ACQUIRE = __ATOMIC_ACQUIRE;
constexpr int RELEASE = __ATOMIC_RELEASE;
constexpr int ACQ_REL = __ATOMIC_ACQ_REL;

constexpr u32 WARP_LANES = 4;

class Warp;
class Meeting;

// The calling thread's place and its source of chance.
struct Self {
    uint64_t random = 1;
    u32 multiprocessor = 0;
    Warp* warp = nullptr;
    u32 lane = 0;
    Meeting* meeting = nullptr;
    // A fence was executed since the thread last saw what others did: what it changes now releases.
    bool fenced = false;
    // Of 65536 accesses so many yield the processor, and a 64th of these sleep.
    u32 stalls = 0;
    // Or one thread runs at a time, and may lose its turn at any access.
    Turns* turns = nullptr;
    u32 place = 0;
    // To shared memory, so far.
    uint64_t accesses = 0;

    u32 next() {
        random += 0x9E3779B97F4A7C15ull;
        uint64_t z = random;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<u32>(z >> 32);
    }
};

inline thread_local Self self;

// Nobody stalls from then on. Where other programs have the processors, a thread that yields waits for a time slice of theirs: a
// test of a second would take minutes.
inline const auto STALLS_END = std::chrono::steady_clock::now() + std::chrono::seconds(20);

inline void stall() {
    ++self.accesses;
    if (self.turns != nullptr) {
        self.turns->access(self.place);
        return;
    }
    if (self.stalls == 0) {
        return;
    }
    const u32 chance = self.next();
    if ((chance & 0xFFFF) < self.stalls && std::chrono::steady_clock::now() < STALLS_END) {
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

    T exchange(T value, int order) const {
        stall();
        return __atomic_exchange_n(&word, value, order);
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

template <class T>
class GlobalAtomic {
    T& word;

  public:
    explicit GlobalAtomic(T& shared) : word(shared) {}

    T load() const {
        stall();
        return __atomic_load_n(&word, RELAXED);
    }

    void store(T value) const {
        stall();
        __atomic_store_n(&word, value, RELAXED);
    }

    u64 fetchAndAcquire(u64 mask) const {
        stall();
        self.fenced = false;
        return __atomic_fetch_and(&word, mask, ACQUIRE);
    }

    u64 fetchOr(u64 mask) const {
        stall();
        return __atomic_fetch_or(&word, mask, self.fenced ? RELEASE : RELAXED);
    }

    u64 fetchOrAcquire(u64 mask) const {
        stall();
        return __atomic_fetch_or(&word, mask, self.fenced ? ACQ_REL : ACQUIRE);
    }

    u64 fetchXor(u64 mask) const {
        stall();
        return __atomic_fetch_xor(&word, mask, self.fenced ? RELEASE : RELAXED);
    }

    u64 compareAndSwap(u64 expected, u64 desired) const {
        stall();
        // One that fails changes nothing that a later release would be for: what was before the fence is still before it.
        if (__atomic_compare_exchange_n(&word, &expected, desired, false, ACQUIRE, ACQUIRE)) {
            self.fenced = false;
        }
        return expected;
    }

    u32 exchange(u32 value) const {
        stall();
        return __atomic_exchange_n(&word, value, RELAXED);
    }

    void setBits(u64 mask) const {
        stall();
        __atomic_fetch_or(&word, mask, RELAXED);
    }

    void clearBits(u64 mask) const {
        stall();
        __atomic_fetch_and(&word, ~mask, RELAXED);
    }

    void increment() const {
        stall();
        __atomic_fetch_add(&word, 1, RELAXED);
    }
};

struct FourWords {
    u32 a, b, c, d;
};

inline FourWords loadFour(const u32* words) {
    self.fenced = false;
    const auto load = [&](u32 i) { return GlobalAtomic<u32>(const_cast<u32&>(words[i])).load(); };
    return {load(0), load(1), load(2), load(3)};
}

inline void storeFour(u32* words, const FourWords& four) {
    const u32 values[] = {four.a, four.b, four.c, four.d};
    for (u32 i = 0; i < 4; ++i) {
        GlobalAtomic<u32>(words[i]).store(values[i]);
    }
}

// Not a fence, which the thread sanitizer doesn't know: what the thread changes next releases by itself.
inline void releaseFence() {
    self.fenced = true;
}

[[noreturn]] inline void stop() {
    std::abort();
}

inline u32 warpOfMultiprocessor() {
    return self.next() & 1;
}

inline u32 multiprocessor() {
    return self.multiprocessor;
}

inline u32 threadOfMultiprocessor() {
    return self.next() & 31;
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

// Threads that meet: those that come to the same line while the first one waits, a random time. So groups are any part of
// a warp, as they may be on a GPU.
class Meeting {
    std::mutex lock;
    std::condition_variable changed;
    u32 waiting = 0;
    u64 round = 0;

  public:
    bool open = true;
    u32 members = 0;
    u32 lanes = 0;
    uint64_t values[32] = {};

    void join(u32 lane) {
        ++members;
        lanes |= 1u << lane;
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
    std::map<std::pair<int, const void*>, std::shared_ptr<Meeting>> meetings;  // by line and what is shared

  public:
    std::shared_ptr<Meeting> meet(int line, const void* shared) {
        std::unique_lock<std::mutex> guard(lock);
        std::shared_ptr<Meeting>& meeting = meetings[{line, shared}];
        if (meeting == nullptr) {
            const auto mine = std::make_shared<Meeting>();
            meeting = mine;
            mine->join(self.lane);
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
        theirs->join(self.lane);
        await(guard, closed, [&] { return !theirs->open; });
        return theirs;
    }
};

// Of a caller.
struct Line {
    int number;
};

class Group {
    std::shared_ptr<Meeting> owned;
    Meeting* meeting;

    // What `result` makes of all members' values.
    template <class Result>
    u32 exchange(u32 value, const Result& result) const {
        meeting->values[self.lane] = value;
        meeting->barrier();
        const u32 found = result(meeting->values);
        meeting->barrier();
        return found;
    }

  public:
    explicit Group(const void* shared, Line line = {__builtin_LINE()}) {
        if (self.warp != nullptr) {
            owned = self.warp->meet(line.number, shared);
        } else {
            owned = std::make_shared<Meeting>();
            owned->join(self.lane);
        }
        meeting = owned.get();
        self.meeting = meeting;
    }

    // The thread's last one, or itself.
    explicit Group(u32 lanes) : meeting(self.meeting) {
        if (lanes != meeting->lanes) {
            owned = std::make_shared<Meeting>();
            owned->join(self.lane);
            meeting = owned.get();
        }
    }

    u32 lanes() const {
        return meeting->lanes;
    }

    u32 lane() const {
        return self.lane;
    }

    bool isFull() const {
        return meeting->members == WARP_LANES;
    }

    u32 lowerLanes() const {
        return meeting->lanes & ((1u << self.lane) - 1);
    }

    u32 rank() const {
        return countOf(lowerLanes());
    }

    u32 size() const {
        return meeting->members;
    }

    u32 sumOfLowerRanks(u32 value) const {
        return exchange(value, [&](const uint64_t* values) {
            uint64_t sum = 0;
            for (u32 left = lowerLanes(); left != 0; left &= left - 1) {
                sum += values[lowestBit(left)];
            }
            return static_cast<u32>(sum);
        });
    }

    u32 fromFirst(u32 value) const {
        return fromLane(value, lowestBit(lanes()));
    }

    u32 fromLast(u32 value) const {
        return fromLane(value, highestBit(lanes()));
    }

    u32 fromLane(u32 value, u32 lane) const {
        return exchange(value, [&](const uint64_t* values) { return static_cast<u32>(values[lane]); });
    }

    u32 fromDistance(u32 value, u32 distance) const {
        return fromLane(value, self.lane >= distance ? self.lane - distance : self.lane);
    }

    u32 lanesWhere(bool condition) const {
        return exchange(condition ? 1 : 0, [&](const uint64_t* values) {
            u32 found = 0;
            for (u32 left = lanes(); left != 0; left &= left - 1) {
                found |= static_cast<u32>(values[lowestBit(left)]) << lowestBit(left);
            }
            return found;
        });
    }

    bool any(bool condition) const {
        return lanesWhere(condition) != 0;
    }

    bool all(bool condition) const {
        return lanesWhere(condition) == lanes();
    }

    u32 unionOf(u32 word) const {
        return exchange(word, [&](const uint64_t* values) {
            u32 all = 0;
            for (u32 left = lanes(); left != 0; left &= left - 1) {
                all |= static_cast<u32>(values[lowestBit(left)]);
            }
            return all;
        });
    }

    void sync() const {
        meeting->barrier();
    }
};

}  // namespace outboard
