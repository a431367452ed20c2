// WarpArena: scratch memory of a warp, all of it freed by one call. The idea of FDGMalloc (Widmer et al. 2013) as Vinkler and
// Havran 2014, section 4.4, have it: a counter is advanced in the newest of some chunks, which nobody else uses. With these
// differences:
//
// - Chunks come from any allocator, not from CUDA's own malloc. They are a list, so there may be any number of them.
// - The threads of a warp needn't come together: a chunk's counter is an atomic. Those that do are served by one add.
// - Each chunk has twice the bytes of the one before, or as often as it needs for a request, up to 64 KiB: a warp that asks for
//   much takes few, one that asks for little holds little.
// - A request that is larger than that gets a chunk of its own, which freeAll frees as well.
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

// For the threads of one warp: each makes its own, and those that come together share one. Copies are the same arena; one of a
// thread's is for freeAll.
template <class Allocator>
class WarpArena {
    using Chunk = detail::ArenaChunk;
    // The sum of a warp's fits in 32 bits.
    static constexpr u32 LIMIT_BYTES = 1u << 26;
    static constexpr size_t GROWN_BYTES = 1u << 16;

    Allocator allocator;
    size_t chunkBytes;
    Chunk* first;
    bool owns;  // this thread is the one that frees it

    // Bytes of a chunk for so many, after one of others; not enough if they are to have one of their own.
    OUTBOARD_DEVICE size_t usualAfter(size_t bytes, size_t needed) const {
        if (chunkBytes >= GROWN_BYTES) {
            return chunkBytes;
        }
        do {
            bytes *= 2;
        } while (bytes <= needed && bytes < GROWN_BYTES);
        return bytes < GROWN_BYTES ? bytes : GROWN_BYTES;
    }

    // A chunk whose first bytes, so many, are in use.
    OUTBOARD_DEVICE Chunk* makeChunk(size_t used, size_t usual) {
        const size_t bytes = used > usual ? used : usual;
        Chunk* const chunk = static_cast<Chunk*>(allocator.malloc(bytes));
        if (chunk != nullptr) {
            *chunk = {0, reinterpret_cast<u64>(chunk), used, bytes};
        }
        return chunk;
    }

    // By one thread. nullptr if the allocator has nothing more.
    OUTBOARD_DEVICE unsigned char* take(size_t bytes) {
        const Atomic<u64> newest(first->newest);
        Chunk* chunk = reinterpret_cast<Chunk*>(newest.load(ACQUIRE));
        const bool isSmall = sizeof(Chunk) + bytes <= chunk->bytes;
        const Atomic<u64> used(chunk->used);
        u64 at = 0;
        if (isSmall) {
            at = used.fetch_add(bytes, RELAXED);
            if (at + bytes <= chunk->bytes) {
                return reinterpret_cast<unsigned char*>(chunk) + at;
            }
        }
        const size_t needed = sizeof(Chunk) + bytes;
        const size_t usual = usualAfter(chunk->bytes, needed);
        chunk = makeChunk(needed, usual);
        if (chunk == nullptr && needed < usual) {
            chunk = makeChunk(needed, 0);
        }
        if (chunk == nullptr) {
            // Less may fit into the one before, if nobody else has found that he doesn't.
            u64 after = at + bytes;
            if (isSmall) {
                used.compare_exchange_strong(after, at, RELAXED, RELAXED);
            }
            return nullptr;
        }
        const bool isShared = chunk->bytes > needed;
        // freeAll comes after all calls, so the list may be broken until this one ends.
        Atomic<u64>(chunk->older).store(Atomic<u64>(first->older).exchange(reinterpret_cast<u64>(chunk), RELAXED), RELAXED);
        if (isShared) {
            newest.store(reinterpret_cast<u64>(chunk), RELEASE);
        }
        return reinterpret_cast<unsigned char*>(chunk + 1);
    }

  public:
    static constexpr size_t DEFAULT_CHUNK_BYTES = 4096;

    // Takes the first chunk, of so many bytes: 64 or more; later ones grow to 64 KiB, or have as many if that is more.
    OUTBOARD_DEVICE explicit WarpArena(const Allocator& behind, size_t bytesOfChunk = DEFAULT_CHUNK_BYTES)
        : allocator(behind), chunkBytes(bytesOfChunk < 2 * sizeof(Chunk) ? 2 * sizeof(Chunk) : bytesOfChunk), first(nullptr), owns(false) {
        const Group group;
        owns = group.rank() == 0;
        if (owns) {
            first = makeChunk(sizeof(Chunk), chunkBytes);
        }
        first = detail::fromFirst(group, first);
        group.sync();
    }

    // So many bytes, aligned to 16; nullptr for 0 bytes, or if the allocator has nothing more. One add serves the threads
    // that come together and share the arena.
    OUTBOARD_DEVICE void* malloc(size_t bytes) {
        const Group group;
        const size_t size = (bytes + UNIT_BYTES - 1) & ~static_cast<size_t>(UNIT_BYTES - 1);
        const bool joins = detail::fromFirst(group, first) == first && size <= LIMIT_BYTES && bytes <= LIMIT_BYTES;
        const u32 joined = joins ? static_cast<u32>(size) : 0;
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
        const bool possible = first != nullptr && bytes != 0 && bytes <= ~static_cast<size_t>(0) - 2 * sizeof(Chunk);
        return possible ? take(size) : nullptr;
    }

    // Frees what all threads got that share it. Once by each of them, when all are done with it (__syncwarp): the one that
    // made its first chunk does it. There is nothing to have of it then.
    OUTBOARD_DEVICE void freeAll() {
        if (owns && first != nullptr) {
            for (u64 address = first->older; address != 0;) {
                Chunk* const chunk = reinterpret_cast<Chunk*>(address);
                address = chunk->older;
                allocator.free(chunk);
            }
            allocator.free(first);
        }
        first = nullptr;
        owns = false;
    }
};

}  // namespace outboard
