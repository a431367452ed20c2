// CMalloc and its variants: the heap as a circular list of chunks, divided when they are allocated and joined when they
// are needed. After algorithm 3 of Vinkler and Havran 2014, with these differences, each for a fault of it:
//
// - No headers. Starts, flags and ends stand in tables outside the memory that is handed out (heap.cuh), so a start
//   offset that is out of date is a place to look from and no more: no user's data is ever locked or followed.
// - malloc reads sizes before it claims, claims only what fits, and joins free neighbours as it goes, so that a request
//   never fails because of how the free memory is divided. free is one atomic operation and joins nothing.
// - The list is singly linked, as the paper's, which tried a doubly linked one and found it slower (section 5.2). That is
//   here, too, for comparison (BACK): who writes a chunk's end writes its start in the entry of "ends" of the last word
//   that lies wholly within it, which nothing else uses. By that, free finds the chunk before, and joins both if it is
//   free; what is free after the freed chunk in the same word comes with it. It has no checked build.
// - free releases, claims acquire.
// - A search goes from the start offset to the heap's end and then once over all of the heap, and again over all of it
//   if another thread held or changed a chunk on its way, joined chunks, or changed the upper levels. Memory that is
//   freed behind a search while as much is taken before it may be missed.
// - Several levels of bits above the list skip what is used; the paper visits every chunk.
// - A thread that loses a chunk to another goes on somewhere else, and divides what it doesn't need of the chunk that
//   it gets in two, so that there are soon enough chunks for all threads that allocate at once.
//
// Bounds: none for malloc beside threads that allocate and free for ever. Each chunk that it loses to another thread,
// and each change that another makes while it searches, may send it through the heap once more. And while one thread is
// stalled that holds a chunk to divide it, or that changes the upper levels, others that find nothing else search on
// until it goes on: a heap that is full, or nearly so, is searched by all of them. When nobody else is in a call, a
// malloc goes through the heap three times at most: the third time since it has closed what it came by itself. A free
// searches for nothing, but in a word of the upper levels that others change at the same time, it may have to try again
// each time that they do.
#pragma once

#include "levels.cuh"
#include "state.cuh"

namespace outboard::detail {

// CMalloc, CFMalloc: one start offset.
struct SharedStart {
    static OUTBOARD_DEVICE u32* mine(const Heap* heap) {
        return heap->starts;
    }
};

// CMMalloc, CFMMalloc: start offsets for each multiprocessor.
struct StartPerMultiprocessor {
    static OUTBOARD_DEVICE u32* mine(const Heap* heap) {
        const u32 thread = multiprocessor() * STARTS_PER_MULTIPROCESSOR + threadOfMultiprocessor();
        return heap->starts + thread % heap->startCount * START_STRIDE;
    }
};

template <class State, class Start, bool BACK = false>
struct CircularMalloc {
    static constexpr bool CAN_FREE = true;
#ifdef OUTBOARD_CHECKED
    static_assert(!BACK, "a second free looks like a claim for a moment, and then nothing may be joined");
#endif

    const Heap* heap;

    // Threads for which this is the same pointer are served together.
    OUTBOARD_DEVICE const void* shared() const {
        return heap->counters;
    }

    // Memory for a number of bytes, 16-byte aligned, or nullptr if no chunk is large enough (or bytes is 0).
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        requireLayout();
        const u32 units = heap->unitsFor(bytes);
        if (units == 0) {
            return nullptr;
        }
        const Chunk chunk = take(units);
        if (chunk.unit == NO_UNIT) {
            return nullptr;
        }
        track(chunk.unit, chunk.end, bytes);
        return heap->address(chunk.unit);
    }

    // Gives back what malloc gave. Nothing for nullptr. A second free, or one of what is no chunk, is counted and
    // changes nothing; a second free that other threads' calls come between is told apart only with OUTBOARD_CHECKED,
    // and not even then once the block was handed out again.
    OUTBOARD_DEVICE void free(void* pointer) {
        requireLayout();
        if (pointer == nullptr) {
            return;
        }
        const u32 unit = heap->unitAt(pointer);
        u64 seen;
        if (unit != NO_UNIT && isUsed(unit, seen) && State::release(heap, wordOf(unit), bitOf(unit), seen)) {
            opened(heap, wordOf(unit), seen);
            if constexpr (BACK) {
                joinBefore(unit);
            }
        } else {
            heap->countMisuse();
        }
    }

    OUTBOARD_DEVICE void requireLayout() const {
        heap->requireLayout(State::LAYOUT);
    }

    // Bytes of the chunk that malloc gave for this pointer: the request rounded up, or more (maximum fragmentation).
    OUTBOARD_DEVICE size_t chunkBytes(const void* pointer) const {
        const u32 unit = heap->unitAt(pointer);
        return static_cast<size_t>(endOf(unit, state(wordOf(unit))) - unit) << UNIT_LOG2;
    }

    // Claims, divides and uses a chunk of at least so many units, or NO_UNIT. LOOKS: gives up after it has come as
    // often to a chunk that is too small, or to the heap's end; or never before it is sure that there is none (0).
    template <u32 LOOKS = 0>
    OUTBOARD_DEVICE Chunk take(u32 units) {
        // Relaxed, as where it is stored: any place will do.
        u32 at = Atomic<u32>(*Start::mine(heap)).load(RELAXED);
        u32 looks = LOOKS;
        u32 changes = 0;
        // Whether what was passed since the heap's begin may hold more than was seen there.
        bool disturbed = true;
        // Whether a chunk was lost to another thread.
        bool lost = false;
        while (true) {
            Sight sight = nextOpen(heap, at);
            if (sight.unit == NO_UNIT) {
                if (LOOKS != 0 ? --looks == 0 : !disturbed && !mayHaveMissed(heap, changes)) {
                    return none();
                }
                // Once more, from the begin: what others leave of a chunk lies after its start, so a search upwards
                // that comes to it while they hold it meets that.
                if (LOOKS == 0) {
                    changes = changesSoFar(heap);
                    disturbed = false;
                }
                at = 0;
                continue;
            }
            at = endOfFree(sight.unit, units, sight.state, disturbed);
            if (at - sight.unit < units && at != sight.unit) {
                if (LOOKS != 0 && --looks == 0) {
                    return none();
                }
                continue;
            }
            disturbed = true;
            if (at == sight.unit || State::claim(heap, wordOf(sight.unit), bitOf(sight.unit), sight.state) == 0) {
                // Another thread holds it. Elsewhere there are fewer: at a multiple of the request's power of two, so
                // that requests of round sizes leave no gaps.
                lost = true;
                at = scaled(scatter(), heap->units) & (~0u << highestBit(units));
                continue;
            }
            Chunk chunk = {sight.unit, endOf(sight.unit, sight.state)};
            if (chunk.end - chunk.unit < units) {
                // Release; pairs with changesSoFar: a search that needn't look again because of this join sees the
                // chunk claimed.
                Atomic<u64>(heap->counters->joins).fetch_add(1, RELEASE);
                while (chunk.end - chunk.unit < units && join(chunk)) {
                }
            }
            if (chunk.end - chunk.unit >= units) {
                // Within the loop: after it, threads of a warp may wait for one another, and one that still searches
                // may wait for this chunk.
                divide(chunk, units, lost);
                return chunk;
            }
            // Another thread took what seemed free.
            setEnd(chunk.unit, chunk.end, RELAXED);
            State::giveBack(heap, wordOf(chunk.unit), bitOf(chunk.unit));
            at = chunk.end;
        }
    }

    // Makes a used chunk of a part of one that the caller's warp has taken.
    OUTBOARD_DEVICE void useSlice(u32 unit, u32 end) {
        setEnd(unit, end, RELEASE);
        State::useSlice(heap, wordOf(unit), bitOf(unit));
    }

    OUTBOARD_DEVICE void track(u32 unit, u32 end, size_t bytes) {
        if (heap->slack != nullptr) {
            const u64 slack = (static_cast<u64>(end - unit) << UNIT_LOG2) - bytes;
            heap->slack[unit] = slack > ~0u ? ~0u : static_cast<u32>(slack);
        }
    }

  private:
    // One in eight of these chunks at most leaves a word of level 1.
    static constexpr u32 SMALL_UNITS = WORD_UNITS * WORD_UNITS / 8;

    // Acquire; pairs with whatever changed the word, as in nextOpen.
    OUTBOARD_DEVICE u64 state(u32 word) const {
        return Atomic<u64>(heap->level[0][word]).load(ACQUIRE);
    }

    OUTBOARD_DEVICE bool isUsed(u32 unit, u64& seen) const {
        // Relaxed: who has the pointer knows what happened to the chunk until then, and nobody else changes it.
        seen = Atomic<u64>(heap->level[0][wordOf(unit)]).load(RELAXED);
        return (State::starts(heap, wordOf(unit), seen) & ~low(seen) & bitOf(unit)) != 0;
    }

    // Of a chunk that ends earlier than before: release; pairs with endOfFree. A search that comes by the new end sees
    // what starts there. Relaxed if it ends where it did, or later, or wasn't there: released with the chunk.
    template <class Order>
    OUTBOARD_DEVICE void setEnd(u32 unit, u32 end, Order order) {
        if (wordOf(unit) != wordOf(end)) {
            Atomic<u32>(heap->ends[wordOf(unit)]).store(end, order);
        }
        if constexpr (BACK) {
            if (wordOf(end) > wordOf(unit) + 1) {
                // Relaxed: a guess for who frees what comes after.
                Atomic<u32>(heap->ends[wordOf(end) - 1]).store(unit, RELAXED);
            }
        }
    }

    // Where the chunk before starts, or NO_UNIT. A guess: others change what is read here.
    OUTBOARD_DEVICE u32 startBefore(u32 unit) const {
        u32 word = wordOf(unit);
        u32 before = State::starts(heap, word, state(word)) & (bitOf(unit) - 1);
        if (before == 0) {
            if (word == 0) {
                return NO_UNIT;
            }
            --word;
            before = State::starts(heap, word, state(word));
        }
        if (before != 0) {
            return (word << WORD_LOG2) + highestBit(before);
        }
        const u32 start = Atomic<u32>(heap->ends[word]).load(RELAXED);
        return start < unit ? start : NO_UNIT;
    }

    // Joins the chunk before a freed one with what is free at its end: as malloc does, which claims a chunk, finds after it
    // has joined others that it isn't enough, and gives it back.
    OUTBOARD_DEVICE void joinBefore(u32 unit) {
        const u32 start = startBefore(unit);
        if (start == NO_UNIT) {
            return;
        }
        u64 seen = state(wordOf(start));
        if ((low(seen) & high(seen) & bitOf(start)) == 0
            || State::claim(heap, wordOf(start), bitOf(start), seen) == 0) {
            return;
        }
        Chunk chunk = {start, endOf(start, seen)};
        // It may have been freed just now, by a thread that hasn't told level 1 yet: then what is joined to it, which is in
        // sight, would be so no longer.
        openAbove(heap, 1, wordOf(start));
        // Release; pairs with changesSoFar, as in take.
        Atomic<u64>(heap->counters->joins).fetch_add(1, RELEASE);
        join(chunk);
        setEnd(chunk.unit, chunk.end, RELAXED);
        State::giveBack(heap, wordOf(chunk.unit), bitOf(chunk.unit));
    }

    // Uses as much of a claimed chunk as is wanted, and makes the rest free. `lost`: a chunk was lost to another
    // thread.
    OUTBOARD_DEVICE void divide(Chunk& chunk, u32 units, bool lost) {
        const u32 rest = chunk.unit + units;
        if (rest != chunk.end
            && static_cast<u64>(units) * heap->maxFragmentation <= static_cast<u64>(chunk.end - chunk.unit) * 256) {
            const u32 half = (chunk.end - rest) / 2;
            if (lost && half >= WORD_UNITS && half / 2 >= units) {
                // Too few chunks for so many threads. At a multiple of a power of two near the middle, one not smaller
                // than the request's, so that requests of round sizes still leave no gaps.
                const u32 middle = (rest + half) & (~0u << (highestBit(half) - 1));
                opened(heap, wordOf(middle), publish(middle, chunk));
            }
            openedInstead(heap, chunk.unit, wordOf(rest), publish(rest, chunk));
            // After what is left has been published.
            setEnd(chunk.unit, rest, RELEASE);
        } else {
            setEnd(chunk.unit, chunk.end, RELAXED);
        }
        State::use(heap, wordOf(chunk.unit), bitOf(chunk.unit));
        // The next search begins after it; or with it, where it leaves a word of level 1: so what is used up there is
        // closed now and then, not by one search for all of it. The start offset is found again, which costs no two
        // registers during the search.
        const bool leaves =
                wordOf(wordOf(chunk.unit)) != wordOf(wordOf(chunk.end)) && chunk.end - chunk.unit <= SMALL_UNITS;
        Atomic<u32>(*Start::mine(heap)).store(leaves ? chunk.unit : chunk.end, RELAXED);
    }

    // Makes a free chunk of the last part of one that the caller has claimed. The state before of the part's word.
    OUTBOARD_DEVICE u64 publish(u32 unit, Chunk& chunk) {
        setEnd(unit, chunk.end, RELAXED);
        chunk.end = unit;
        return State::publish(heap, wordOf(unit), bitOf(unit));
    }

    // The end of the free chunks in a row from this one on, or a unit beyond the wanted number. A guess: others change
    // what is read here; `disturbed` says that they did. The unit itself if its chunk isn't free.
    OUTBOARD_DEVICE u32 endOfFree(u32 unit, u32 units, u64 seen, bool& disturbed) const {
        u32 end = unit;
        while (true) {
            const u32 word = wordOf(end);
            const u32 others = State::starts(heap, word, seen) & ~(low(seen) & high(seen)) & bitsFrom(end);
            if (others != 0) {
                // Claimed by another, or no longer as it was: there may be more than this.
                if ((low(seen) & others & (0u - others)) != 0 || state(word) != seen) {
                    disturbed = true;
                }
                return (word << WORD_LOG2) + lowestBit(others);
            }
            // Acquire; pairs with setEnd.
            const u32 next = Atomic<u32>(heap->ends[word]).load(ACQUIRE);
            if (next <= end || next > heap->units) {
                disturbed = true;
                return end;
            }
            end = next;
            if (end - unit >= units) {
                return end;
            }
            seen = state(wordOf(end));
        }
    }

    // The end of a chunk that the caller has claimed, when its word was as seen. Relaxed: acquired with the claim.
    OUTBOARD_DEVICE u32 endOf(u32 unit, u64 seen) const {
        const u32 word = wordOf(unit);
        const u32 after = State::starts(heap, word, seen) & (bitsFrom(unit) << 1);
        return after != 0 ? (word << WORD_LOG2) + lowestBit(after) : Atomic<u32>(heap->ends[word]).load(RELAXED);
    }

    // Adds the free chunks at a claimed chunk's end that lie in one word. False if there is none.
    OUTBOARD_DEVICE bool join(Chunk& chunk) {
        const u32 word = wordOf(chunk.end);
        u64 seen = state(word);
        const u32 from = bitsFrom(chunk.end);
        const u32 free = low(seen) & high(seen) & from;
        u32 row = before(free, State::starts(heap, word, seen) & ~free & from);
        if (row == 0) {
            return false;
        }
        row = State::claim(heap, word, row, seen);
        // Since they were seen, chunks of the row may have been allocated, divided and freed again. Only now, with what
        // is left of them claimed, it is sure which follow one another: those before what else starts there.
        const u32 claimed = row;
        row = before(row, State::starts(heap, word, seen) & ~row & from);
        if (row != claimed) {
            State::giveBack(heap, word, claimed ^ row);
        }
        if (row == 0) {
            return false;
        }
        chunk.end = endOf((word << WORD_LOG2) + highestBit(row), seen);
        State::erase(heap, word, row);
        return true;
    }

    // The bits below the lowest of the others; all if there is none.
    static OUTBOARD_DEVICE u32 before(u32 bits, u32 others) {
        return bits & ((others & (0u - others)) - 1);
    }

    static OUTBOARD_DEVICE Chunk none() {
        Chunk none;
        none.unit = NO_UNIT;
        none.end = 0;
        return none;
    }
};

}  // namespace outboard::detail
