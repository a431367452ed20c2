// The machine under the allocators, when that is one host thread, which plays all GPU threads in turn (fibers) and may
// go on with another one before every access to shared memory. Against threads that really run at once
// (cpu_platform.h):
//
// - What happens depends on the seed alone, so what was found once can be shown again.
// - A fiber may sleep for as long as the others need for many calls, and on waking act on what it saw before. Threads
//   that are held up at every access don't get anywhere; fibers do.
// - The oracle needs no lock, and what it notes down between two accesses is exact.
// - Memory orders can be tried beyond what the CPU does with them (`fibers.weak`): a load may read what has been
//   overwritten, unless the fiber knows better by what it has acquired.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "bits.h"

#define OUTBOARD_DEVICE inline
#define OUTBOARD_SELDOM
#define OUTBOARD_ROLLED

namespace outboard {

constexpr int RELAXED = 0;
constexpr int ACQUIRE = 1;
constexpr int RELEASE = 2;
constexpr int ACQ_REL = 3;

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

// What a fiber knows of memory, or a message brings it: of each word, by number, which of its values is the oldest that
// may still be read.
class View {
    std::vector<u32> oldest;

  public:
    u32 of(u32 word) const {
        return word < oldest.size() ? oldest[word] : 0;
    }

    void note(u32 word, u32 value) {
        if (word >= oldest.size()) {
            oldest.resize(word + 1);
        }
        oldest[word] = std::max(oldest[word], value);
    }

    void add(const View& other) {
        for (u32 word = 0; word < other.oldest.size(); ++word) {
            note(word, other.oldest[word]);
        }
    }
};

// What a fiber knows, and what it will by its next fence, and what it knew at its last one.
struct Knowledge : View {
    View read;
    View fenced;

    void fence() {
        add(read);
        fenced = *this;
    }
};

// Memory as C++ and PTX allow it to be, for the most part: all values that a word had since the fibers began. With
// views after Kang et al. 2017 ("A promising semantics for relaxed-memory concurrency"), but without promises: no load
// sees what is stored later. Of fences there are those that acquire and release.
class WeakMemory {
    struct Value {
        uint64_t value;
        View released;
    };

    std::unordered_map<const void*, u32> numbers;
    std::vector<std::vector<Value>> words;
    std::unordered_map<u32, u32> plain;  // by word: the last of its values that no atomic operation wrote

  public:
    bool raced = false;  // whether one was written, or then accessed, by a fiber that hadn't acquired what it was before

    void clear() {
        numbers.clear();
        words.clear();
        plain.clear();
        raced = false;
    }

    u32 numberOf(const void* address, uint64_t value) {
        const auto found = numbers.emplace(address, static_cast<u32>(words.size()));
        if (found.second) {
            words.push_back({{value, View()}});
        }
        const u32 word = found.first->second;
        const auto written = plain.find(word);
        if (written != plain.end() && written->second + 1 == words[word].size()) {
            words[word].back().value = value;
        }
        return word;
    }

    // To be called by who is about to write a word by a plain store, before its next atomic access. What it writes is seen when
    // the word is next accessed.
    void writesPlainly(const void* address, Knowledge& view) {
        const u32 word = numberOf(address, 0);
        raced |= view.of(word) + 1 < words[word].size();
        store(word, 0, view, RELAXED, false);
        plain[word] = static_cast<u32>(words[word].size()) - 1;
    }

    // Mostly the newest value.
    uint64_t load(u32 word, Knowledge& view, int order) {
        raced |= isRace(word, view);
        std::vector<Value>& values = words[word];
        u32 value = static_cast<u32>(values.size()) - 1;
        if (chance.below(4) == 0) {
            value -= chance.below(value - view.of(word) + 1);
        }
        return read(word, value, view, order);
    }

    // What an atomic operation reads, or a store overwrites, is always the newest value.
    uint64_t newest(u32 word, Knowledge& view, int order) {
        raced |= isRace(word, view);
        return read(word, static_cast<u32>(words[word].size()) - 1, view, order);
    }

    // `follows`: by an atomic operation, which brings what the value before it did, too.
    void store(u32 word, uint64_t value, Knowledge& view, int order, bool follows) {
        std::vector<Value>& values = words[word];
        view.note(word, static_cast<u32>(values.size()));
        View released = follows ? values.back().released : View();
        released.note(word, static_cast<u32>(values.size()));
        released.add((order & RELEASE) != 0 ? static_cast<const View&>(view) : view.fenced);
        values.push_back({value, released});
    }

  private:
    bool isRace(u32 word, const View& view) const {
        const auto written = plain.find(word);
        return written != plain.end() && view.of(word) < written->second;
    }

    uint64_t read(u32 word, u32 value, Knowledge& view, int order) {
        view.note(word, value);
        View& knows = (order & ACQUIRE) != 0 ? static_cast<View&>(view) : view.read;
        knows.add(words[word][value].released);
        return words[word][value].value;
    }
};

class Fibers {
    static constexpr size_t STACK_BYTES = 1 << 16;
    static constexpr uint64_t WHEN_ALL_OTHERS_END = 1ull << 62;

    struct Fiber {
        ucontext_t context;
        std::function<void()> body;
        std::unique_ptr<char[]> stack{new char[STACK_BYTES]};
        u32 number = 0;
        u32 branch = 0;
        uint64_t wakes = 0;
        uint64_t accesses = 0;
        Knowledge view;
        bool done = true;
    };

    std::deque<Fiber> all;  // a ucontext_t points into itself, so it must stay where it is
    std::vector<Fiber*> awake;
    ucontext_t scheduler;
    Fiber* current = nullptr;
    uint64_t time = 0;  // in accesses, and on to the next waking while all sleep
    uint64_t accessesLeft = 0;
    uint64_t outside = 0;

    static void enter();

    void begin(Fiber& fiber) {
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = STACK_BYTES;
        fiber.context.uc_link = &scheduler;
        fiber.branch = 0;
        fiber.wakes = 0;
        fiber.accesses = 0;
        fiber.view = Knowledge();
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
    bool weak = false;    // whether loads may read what was overwritten
    WeakMemory memory;
    u32 sleeps = 0;       // of 256 accesses, so many wait for a sleep
    u32 changes = 0;      // of 256 accesses, so many let another fiber go first
    u32 longestLog2 = 0;  // the longest sleep, in accesses of the others
    uint64_t stopsAt = 0;  // at this access the first fiber stops, until all others have ended
    std::function<void()> meanwhile;  // called before each access of the first fiber: what others do at once
    u32 warps = 1;        // so many fibers share a multiprocessor
    u32 apart = 1;        // from one multiprocessor that has fibers to the next

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
        memory.clear();
        time = 0;
        accessesLeft = mostAccesses;
        while (accessesLeft != 0 && (current = choose()) != nullptr) {
            swapcontext(&scheduler, &current->context);
        }
        current = nullptr;
        return accessesLeft != 0;
    }

    // Lets another fiber go on until a condition holds.
    template <class Condition>
    void await(const Condition& condition) {
        while (!condition()) {
            Fiber* const self = current;
            ++time;
            if (--accessesLeft == 0) {
                swapcontext(&self->context, &scheduler);  // for good
            }
            current = choose();
            if (current != self) {
                swapcontext(&self->context, &current->context);
            }
        }
    }

    // Before every access to shared memory.
    void pause() {
        if (current == nullptr) {
            ++outside;
            return;
        }
        ++time;
        Fiber* const self = current;
        ++self->accesses;
        if (--accessesLeft == 0) {
            swapcontext(&self->context, &scheduler);  // for good
        }
        if (self->number == 0 && meanwhile) {
            const std::function<void()> others = std::move(meanwhile);
            meanwhile = nullptr;  // not before theirs
            others();
            meanwhile = others;
        }
        const u32 dice = chance.next();
        if (self->number == 0 && self->accesses == stopsAt) {
            self->wakes = WHEN_ALL_OTHERS_END;
        } else if ((dice & 255) < sleeps) {
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

    // The fiber is about to write words by plain stores (WeakMemory).
    void writesPlainly(const u64* words, u32 count) {
        if (Knowledge* const view = viewOfWeakMemory()) {
            for (u32 i = 0; i < count; ++i) {
                memory.writesPlainly(words + i, *view);
            }
        }
    }

    // Null between the runs, when there is no other.
    Knowledge* viewOfWeakMemory() {
        return weak && current != nullptr ? &current->view : nullptr;
    }

    u32 number() const {
        return current == nullptr ? 0 : current->number;
    }

    // Where the fiber's warp is in its kernel: fibers in other branches of it come to other copies of the same lines.
    void branchTo(u32 branch) {
        current->branch = branch;
    }

    u32 branch() const {
        return current == nullptr ? 0 : current->branch;
    }

    // To shared memory: of the fiber that runs, since `run` began; else of who runs them.
    uint64_t accesses() const {
        return current == nullptr ? outside : current->accesses;
    }
};

inline Fibers fibers;

inline void Fibers::enter() {
    fibers.current->body();
    fibers.current->done = true;
}

// The newest value stands in the word itself.
template <class T>
class Atomic {
    T& word;

    template <class Change>
    T exchange(const Change& change, int order) const {
        fibers.pause();
        const T before = word;
        const T after = change(before);
        if (Knowledge* const view = fibers.viewOfWeakMemory()) {
            const u32 number = fibers.memory.numberOf(&word, before);
            fibers.memory.newest(number, *view, order);
            fibers.memory.store(number, after, *view, order, true);
        }
        word = after;
        return before;
    }

  public:
    explicit Atomic(T& shared) : word(shared) {}

    T load(int order) const {
        fibers.pause();
        if (Knowledge* const view = fibers.viewOfWeakMemory()) {
            return static_cast<T>(fibers.memory.load(fibers.memory.numberOf(&word, word), *view, order));
        }
        return word;
    }

    void store(T value, int order) const {
        fibers.pause();
        if (Knowledge* const view = fibers.viewOfWeakMemory()) {
            fibers.memory.store(fibers.memory.numberOf(&word, word), value, *view, order, false);
        }
        word = value;
    }

    T exchange(T value, int order) const {
        return exchange([&](T) { return value; }, order);
    }

    T fetch_add(T value, int order) const {
        return exchange([&](T before) { return before + value; }, order);
    }

    T fetch_sub(T value, int order) const {
        return exchange([&](T before) { return before - value; }, order);
    }

    T fetch_and(T value, int order) const {
        return exchange([&](T before) { return before & value; }, order);
    }

    T fetch_or(T value, int order) const {
        return exchange([&](T before) { return before | value; }, order);
    }

    T fetch_xor(T value, int order) const {
        return exchange([&](T before) { return before ^ value; }, order);
    }

    // Without a result: no read, so no later fence acquires by it (PTX: red).
    template <class Change>
    void reduce(const Change& change) const {
        fibers.pause();
        const T before = word;
        word = change(before);
        if (Knowledge* const view = fibers.viewOfWeakMemory()) {
            fibers.memory.store(fibers.memory.numberOf(&word, before), word, *view, RELAXED, true);
        }
    }

    bool compare_exchange_strong(T& expected, T desired, int success, int failure) const {
        fibers.pause();
        const T before = word;
        const bool equal = before == expected;
        if (Knowledge* const view = fibers.viewOfWeakMemory()) {
            const u32 number = fibers.memory.numberOf(&word, before);
            fibers.memory.newest(number, *view, equal ? success : failure);
            if (equal) {
                fibers.memory.store(number, desired, *view, success, true);
            }
        }
        if (equal) {
            word = desired;
        }
        expected = before;
        return equal;
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

template <class T>
class GlobalAtomic {
    const Atomic<T> atomic;

  public:
    explicit GlobalAtomic(T& shared) : atomic(shared) {}

    T load() const {
        return atomic.load(RELAXED);
    }

    void store(T value) const {
        atomic.store(value, RELAXED);
    }

    u64 fetchAndAcquire(u64 mask) const {
        return atomic.fetch_and(mask, ACQUIRE);
    }

    u64 fetchOr(u64 mask) const {
        return atomic.fetch_or(mask, RELAXED);
    }

    u64 fetchOrAcquire(u64 mask) const {
        return atomic.fetch_or(mask, ACQUIRE);
    }

    u64 fetchXor(u64 mask) const {
        return atomic.fetch_xor(mask, RELAXED);
    }

    u64 compareAndSwap(u64 expected, u64 desired) const {
        atomic.compare_exchange_strong(expected, desired, ACQUIRE, ACQUIRE);
        return expected;
    }

    u32 exchange(u32 value) const {
        return atomic.exchange(value, ACQ_REL);
    }

    void setBits(u64 mask) const {
        atomic.reduce([mask](u64 before) { return before | mask; });
    }

    void clearBits(u64 mask) const {
        atomic.reduce([mask](u64 before) { return before & ~mask; });
    }

    void increment() const {
        atomic.reduce([](u64 before) { return before + 1; });
    }
};

struct FourWords {
    u32 a, b, c, d;
};

// At once. The last one isn't a word of its own where it is written, so it is the newest.
inline FourWords loadFour(const u32* words) {
    fibers.pause();
    Knowledge* const view = fibers.viewOfWeakMemory();
    const auto load = [&](u32 i) {
        return view == nullptr
                ? words[i]
                : static_cast<u32>(fibers.memory.load(fibers.memory.numberOf(words + i, words[i]), *view, RELAXED));
    };
    return {load(0), load(1), load(2), load(3)};
}

inline void storeFour(u32* words, const FourWords& four) {
    const u32 values[] = {four.a, four.b, four.c, four.d};
    for (u32 i = 0; i < 4; ++i) {
        GlobalAtomic<u32>(words[i]).store(values[i]);
    }
}

inline void releaseFence() {
    if (Knowledge* const view = fibers.viewOfWeakMemory()) {
        view->fence();
    }
}

[[noreturn]] inline void stop() {
    std::abort();
}

constexpr u32 WARP_LANES = 4;

// Fibers side by side are a warp, of so many lanes; 1: each is a warp of its own.
inline u32 lanesOfWarp = 1;

inline u32 multiprocessor() {
    return fibers.number() / lanesOfWarp / fibers.warps * fibers.apart;
}

inline u32 threadOfMultiprocessor() {
    return fibers.warps == 1 ? chance.below(32) : fibers.number() % fibers.warps;
}

inline u32 warpOfMultiprocessor() {
    return fibers.number() / lanesOfWarp / 3 + chance.below(2);
}

inline u32 scatter() {
    return chance.next();
}

// Threads of a warp that wait for each other.
class Barrier {
    u32 waiting = 0;
    u64 round = 0;
    View known;   // to those that wait
    View agreed;  // of the last round

  public:
    // `orders`: what each knew, all know then (__syncwarp); a shuffle only waits.
    void wait(u32 size, bool orders) {
        Knowledge* const view = orders ? fibers.viewOfWeakMemory() : nullptr;
        if (view != nullptr) {
            known.add(*view);
        }
        const u64 mine = round;
        if (++waiting == size) {
            waiting = 0;
            agreed = known;
            ++round;
        } else {
            fibers.await([&] { return round != mine; });
        }
        if (view != nullptr) {
            view->add(agreed);
        }
    }
};

// Fibers of a warp that come to the same line while the first one waits, a random time. So groups are any part of a warp,
// as they may be on a GPU.
struct Meeting {
    bool open = true;
    u32 lanes = 0;
    Barrier barrier;
    u32 values[32] = {};
};

// Of a caller.
struct Line {
    int number;
};

class Group {
    static inline std::map<std::array<u64, 4>, std::shared_ptr<Meeting>> gathering;  // by warp, line, branch and what is shared
    static inline std::vector<std::shared_ptr<Meeting>> latest;                        // by fiber
    std::shared_ptr<Meeting> meeting;
    u32 mine = fibers.number() % lanesOfWarp;

    template <class Result>
    u32 exchange(u32 value, const Result& result) const {
        if (size() == 1) {
            meeting->values[mine] = value;
            return result(meeting->values);
        }
        meeting->values[mine] = value;
        meeting->barrier.wait(size(), false);
        const u32 found = result(meeting->values);
        meeting->barrier.wait(size(), false);
        return found;
    }

  public:
    explicit Group(const void* shared, Line line = {__builtin_LINE()}) {
        const std::array<u64, 4> place = {
                fibers.number() / lanesOfWarp, static_cast<u32>(line.number), fibers.branch(), reinterpret_cast<u64>(shared)};
        latest.resize(std::max<size_t>(latest.size(), fibers.number() + 1));
        if (lanesOfWarp == 1) {
            meeting = std::make_shared<Meeting>();
            meeting->lanes = 1;
        } else if (gathering[place] == nullptr) {
            meeting = std::make_shared<Meeting>();
            meeting->lanes = 1u << mine;
            gathering[place] = meeting;
            u32 patience = chance.below(8);
            fibers.await([&] { return patience-- == 0; });
            meeting->open = false;
            gathering[place] = nullptr;
        } else {
            meeting = gathering[place];
            meeting->lanes |= 1u << mine;
            fibers.await([&] { return !meeting->open; });
        }
        latest[fibers.number()] = meeting;
    }

    // The fiber's last one, or itself.
    explicit Group(u32 lanes) : meeting(latest[fibers.number()]) {
        if (lanes != meeting->lanes) {
            meeting = std::make_shared<Meeting>();
            meeting->lanes = lanes;
        }
    }

    static void forgetAll() {
        gathering.clear();
        latest.clear();
    }

    u32 lanes() const {
        return meeting->lanes;
    }

    u32 lane() const {
        return mine;
    }

    bool isFull() const {
        return size() == WARP_LANES;
    }

    u32 lowerLanes() const {
        return meeting->lanes & ((1u << mine) - 1);
    }

    u32 rank() const {
        return countOf(lowerLanes());
    }

    u32 size() const {
        return countOf(meeting->lanes);
    }

    u32 sumOfLowerRanks(u32 value) const {
        return exchange(value, [&](const u32* values) {
            u32 sum = 0;
            for (u32 left = lowerLanes(); left != 0; left &= left - 1) {
                sum += values[lowestBit(left)];
            }
            return sum;
        });
    }

    u32 fromFirst(u32 value) const {
        return fromLane(value, lowestBit(lanes()));
    }

    u32 fromLast(u32 value) const {
        return fromLane(value, highestBit(static_cast<u64>(lanes())));
    }

    u32 fromLane(u32 value, u32 lane) const {
        return exchange(value, [&](const u32* values) { return values[lane]; });
    }

    u32 fromDistance(u32 value, u32 distance) const {
        return fromLane(value, mine >= distance ? mine - distance : mine);
    }

    u32 lanesWhere(bool condition) const {
        return exchange(condition ? 1 : 0, [&](const u32* values) {
            u32 found = 0;
            for (u32 left = lanes(); left != 0; left &= left - 1) {
                found |= values[lowestBit(left)] << lowestBit(left);
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
        return exchange(word, [&](const u32* values) {
            u32 all = 0;
            for (u32 left = lanes(); left != 0; left &= left - 1) {
                all |= values[lowestBit(left)];
            }
            return all;
        });
    }

    void sync() const {
        if (size() > 1) {
            meeting->barrier.wait(size(), true);
        }
    }
};

}  // namespace outboard
