// One thread at a time, in an order that a seed decides: what one run shows, each run with that seed shows again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace outboard {

class Turns {
    struct Place {
        std::condition_variable called;
        bool ended = false;
    };

    std::mutex lock;
    std::vector<Place> places;
    size_t current = 0;
    size_t running;
    uint64_t random;

    size_t below(size_t limit) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<size_t>(random >> 33) % limit;
    }

    void callAny() {
        size_t other = below(running);
        size_t place = 0;
        while (places[place].ended || other-- != 0) {
            ++place;
        }
        current = place;
        places[place].called.notify_one();
    }

    void await(std::unique_lock<std::mutex>& guard, size_t me) {
        places[me].called.wait(guard, [&] { return current == me; });
    }

  public:
    Turns(size_t threads, uint64_t seed) : places(threads), running(threads), random(seed) {}

    void begin(size_t me) {
        std::unique_lock<std::mutex> guard(lock);
        await(guard, me);
    }

    // Another thread goes on, or this one.
    void pass(size_t me) {
        std::unique_lock<std::mutex> guard(lock);
        callAny();
        await(guard, me);
    }

    // Before an access to what all share: one in four times the turn goes on.
    void access(size_t me) {
        if (below(4) == 0) {
            pass(me);
        }
    }

    void end(size_t me) {
        const std::unique_lock<std::mutex> guard(lock);
        places[me].ended = true;
        if (--running != 0) {
            callAny();
        }
    }
};

}  // namespace outboard
