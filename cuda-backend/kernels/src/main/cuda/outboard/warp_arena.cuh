// WarpArena: scratch memory of a warp, all of it freed by one call. The idea of FDGMalloc (Widmer et al. 2013) as Vinkler and
// Havran 2014, section 4.4, have it: a counter is advanced in the newest of some chunks, which nobody else uses. With these
// differences:
//
// - Chunks come from any allocator, not from CUDA's own malloc. They are a list, so there may be any number of them.
// - The threads of a warp needn't come together: a chunk's counter is an atomic. Those that do are served by one add.
// - Each chunk has four times the bytes of the one before, or as often as it needs for a request, up to 64 KiB: a warp that asks
//   for much takes few, one that asks for little holds little.
// - Each thread remembers the newest chunk that it knows of: mostly, a request is one add.
// - A request that is larger than that gets a chunk of its own, which freeAll frees as well.
//
// - WarpArena<Allocator, false> joins nothing, as the uncoalesced form that the paper measures: each thread has an arena of its own.
//
// What is left of a chunk when a request doesn't fit is lost until freeAll. Each chunk has 32 bytes of its own.
//
// Bounds: nobody waits for another thread, and nothing repeats: a call takes one chunk of the allocator at most, or two if
// its threads can't be served together; for each it asks once more, for no more than it needs, if there is none of the usual size.
#pragma once

#include "heap.cuh"

namespace outboard {

namespace detail {

struct alignas(16) ArenaChunk {
    u64 older;   // the one before in the list; of the first chunk, the list itself
    u64 newest;  // of the first chunk: where the next request is tried
    u64 used;    // bytes, with these; more than there are once one didn't fit
    u64 bytes;
};

}  // namespace detail

// For the threads of one warp: each makes its own, and those that come together with the same heap behind share one. Copies are
// the same arena; one of a thread's is for freeAll.
template <class Allocator, bool JOINS = true>
class WarpArena {
    using Chunk = detail::ArenaChunk;
    // The sum of a warp's fits in 32 bits.
    static constexpr u32 LIMIT_BYTES = 1u << 26;
    static constexpr size_t GROWN_BYTES = 1u << 16;

    // The newest chunk that a thread knows of, so that a request needn't read where it is: others may have gone on.
    struct Known {
        Chunk* chunk;
        size_t bytes;
    };

    struct Taken {
        unsigned char* memory;
        Known known;
    };

    Allocator allocator;
    size_t chunkBytes;
    Chunk* first;
    Known known;
    bool owns;  // this thread is the one that frees it

    // Advances the counter of a chunk, if it can have as much; whether all of what begins at `at` is the caller's by that.
    static OUTBOARD_DEVICE bool advance(const Known& known, size_t bytes, u64& at) {
        at = 0;
        if (sizeof(Chunk) + bytes > known.bytes) {
            return false;
        }
        at = Atomic<u64>(known.chunk->used).fetch_add(bytes, RELAXED);
        return at + bytes <= known.bytes;
    }

    // A chunk whose first bytes, so many, are in use: with the most bytes that there are, of two numbers.
    static OUTBOARD_SELDOM Chunk* makeChunk(Allocator allocator, size_t used, size_t least, size_t most) {
        Chunk* chunk = nullptr;
        OUTBOARD_ROLLED
        for (size_t bytes = most; chunk == nullptr; bytes = least) {
            chunk = static_cast<Chunk*>(allocator.malloc(bytes));
            if (chunk != nullptr) {
                *chunk = {0, reinterpret_cast<u64>(chunk), used, bytes};
            } else if (bytes == least) {
                break;
            }
        }
        return chunk;
    }

    // Bytes of a chunk for so many, after one of others: not fewer.
    static OUTBOARD_DEVICE size_t bytesAfter(size_t bytes, size_t chunkBytes, size_t needed) {
        size_t usual = chunkBytes;
        if (chunkBytes < GROWN_BYTES) {
            do {
                bytes *= 4;
            } while (bytes <= needed && bytes < GROWN_BYTES);
            usual = bytes < GROWN_BYTES ? bytes : GROWN_BYTES;
        }
        return usual > needed ? usual : needed;
    }

    // What didn't fit into the chunk that the thread knows, where it was advanced to `at`, or can't fit: of the newest, or of
    // another.
    static OUTBOARD_SELDOM Taken grow(Allocator allocator, size_t chunkBytes, Chunk* first, Known known, u64 at, size_t bytes) {
        const Atomic<u64> newest(first->newest);
        Chunk* const shared = reinterpret_cast<Chunk*>(newest.load(ACQUIRE));
        if (shared != known.chunk) {
            known = {shared, shared->bytes};
            if (advance(known, bytes, at)) {
                return {reinterpret_cast<unsigned char*>(shared) + at, known};
            }
        }
        const size_t needed = sizeof(Chunk) + bytes;
        Chunk* const chunk = makeChunk(allocator, needed, needed, bytesAfter(known.bytes, chunkBytes, needed));
        if (chunk == nullptr) {
            // Less may fit into the one before, if nobody else has found that he doesn't.
            u64 after = at + bytes;
            if (at != 0) {
                Atomic<u64>(known.chunk->used).compare_exchange_strong(after, at, RELAXED, RELAXED);
            }
            return {nullptr, known};
        }
        // freeAll comes after all calls, so the list may be broken until this one ends.
        Atomic<u64>(chunk->older).store(Atomic<u64>(first->older).exchange(reinterpret_cast<u64>(chunk), RELAXED), RELAXED);
        if (chunk->bytes > needed) {
            known = {chunk, chunk->bytes};
            newest.store(reinterpret_cast<u64>(chunk), RELEASE);
        }
        return {reinterpret_cast<unsigned char*>(chunk + 1), known};
    }

    OUTBOARD_DEVICE bool isPossible(size_t bytes) const {
        return first != nullptr && bytes != 0 && bytes <= ~static_cast<size_t>(0) - 2 * sizeof(Chunk);
    }

    struct Resumed {
        Chunk* chunk;
    };

    OUTBOARD_DEVICE WarpArena(const Allocator& behind, Resumed from)
        : allocator(behind), chunkBytes(DEFAULT_CHUNK_BYTES), first(from.chunk), known{from.chunk, from.chunk == nullptr ? 0 : from.chunk->bytes},
          owns(true) {}

    // By one thread. nullptr if the allocator has nothing more.
    OUTBOARD_DEVICE unsigned char* take(size_t bytes) {
        u64 at = 0;
        if (advance(known, bytes, at)) {
            return reinterpret_cast<unsigned char*>(known.chunk) + at;
        }
        const Taken taken = grow(allocator, chunkBytes, first, known, at, bytes);
        known = taken.known;
        return taken.memory;
    }

  public:
    static constexpr size_t DEFAULT_CHUNK_BYTES = 4096;

    // Of each chunk, before what is handed out.
    static constexpr size_t HEADER_BYTES = sizeof(Chunk);

    // Takes the first chunk, of so many bytes: 64 or more; later ones grow to 64 KiB, or have as many if that is more.
    OUTBOARD_DEVICE explicit WarpArena(const Allocator& behind, size_t bytesOfChunk = DEFAULT_CHUNK_BYTES)
        : allocator(behind), chunkBytes(bytesOfChunk < 2 * sizeof(Chunk) ? 2 * sizeof(Chunk) : bytesOfChunk), first(nullptr),
          known{nullptr, 0}, owns(false) {
        if constexpr (JOINS) {
            const Group group(allocator.shared());
            owns = group.rank() == 0;
            if (owns) {
                first = makeChunk(allocator, sizeof(Chunk), chunkBytes, chunkBytes);
            }
            first = detail::fromFirst(group, first);
            known = {first, detail::fromFirst(group, chunkBytes)};
            group.sync();
        } else {
            owns = true;
            first = makeChunk(allocator, sizeof(Chunk), chunkBytes, chunkBytes);
            known = {first, chunkBytes};
        }
    }

    // By one thread: the arena whose handle() was kept, in another kernel too. This thread's freeAll frees it, and no other's may.
    // Chunks that it takes from now on have the default size.
    static OUTBOARD_DEVICE WarpArena resume(const Allocator& behind, void* handle) {
        return WarpArena(behind, Resumed{static_cast<Chunk*>(handle)});
    }

    // What resume needs: the first chunk; nullptr if the allocator had none.
    OUTBOARD_DEVICE void* handle() const {
        return first;
    }

    // So many bytes, aligned to 16; nullptr for 0 bytes, or if the allocator has nothing more. One add serves the threads
    // that come together and share the arena.
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const size_t size = (bytes + UNIT_BYTES - 1) & ~static_cast<size_t>(UNIT_BYTES - 1);
        if constexpr (!JOINS) {
            return isPossible(bytes) ? take(size) : nullptr;
        }
        const Group group(first);
        const u32 joined = size <= LIMIT_BYTES && bytes <= LIMIT_BYTES ? static_cast<u32>(size) : 0;
        const u32 before = group.sumOfLowerRanks(joined);
        const u32 total = group.fromLast(before + joined);
        unsigned char* memory = nullptr;
        if (group.rank() == 0 && total != 0 && first != nullptr) {
            memory = take(total);
        }
        memory = detail::fromFirst(group, memory);
        // One thread has it of the allocator: by this, what others did with it before happens before what each writes now.
        group.sync();
        if (memory != nullptr && joined != 0) {
            return memory + before;
        }
        return isPossible(bytes) ? take(size) : nullptr;
    }

    // Frees what all threads got that share it. Once by each of them, when all are done with it (__syncwarp): the one that
    // made its first chunk does it. There is nothing to have of it then.
    OUTBOARD_DEVICE void freeAll() {
        if (owns && first != nullptr) {
            OUTBOARD_ROLLED
            for (u64 address = reinterpret_cast<u64>(first); address != 0;) {
                Chunk* const chunk = reinterpret_cast<Chunk*>(address);
                address = chunk->older;
                allocator.free(chunk);
            }
        }
        first = nullptr;
        owns = false;
    }
};

}  // namespace outboard
