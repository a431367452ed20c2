// Buffered over BitMalloc, and XMalloc, on fibers: for each seed a heap with buffers, a few threads on it, and another order of
// their accesses.
//
//   buffers alone SCENARIO FIRST_SEED LAST_SEED
//   buffers classes 0 0 0      which class each size has, without fibers
//
//   mix      Blocks of random sizes.
//   queue    Of one size, so that few queues are full and empty all the time.
//   stalled  A thread stops within a call, and others go on with its queue.
//   full     The heap has nothing left now and then, but in buffers of other sizes.
//   drained  The heap has nothing left, and a thread stops before or after another one has emptied the buffers.
//   reused   What one thread has freed it gets again, without the allocator behind.
//   parts    Warps allocate as in figure 3 of Huang et al. 2013.
//   xmalloc  Warps use XMalloc, and the driver's heap is full now and then.
//
// Each with weak- before it, too: loads may read what has been overwritten, where nothing that was acquired says otherwise.
//
// What threads get lies apart and keeps what was written, a request gets nothing only if there is none in buffers either, no
// call needs more accesses than it may, and when all is freed and drained the largest request that a fresh heap serves is
// served.
//
// Exit status 0: nothing found. 1: what is wrong is printed, with the command that shows it again. 2: wrong arguments.
#include <algorithm>
#include <cstring>
#include <map>

#include "bit_heap.h"

#include "outboard/xmalloc.cuh"

using namespace outboard;

namespace {

constexpr u64 KIB = 1 << 10;
constexpr u64 MOST_BYTES = 4 << 20;
constexpr u32 QUEUES = 2;
constexpr u32 DEPTH = 4;

using Allocator = Buffered<BitMalloc, QUEUES, DEPTH>;

Buffers<QUEUES, DEPTH> buffers;

Heap* makeHeap(u64 bytes) {
    static Heap* const heap = reinterpret_cast<Heap*>(reserved(MOST_BYTES));
    makeBitHeap(heap, bytes);
    return heap;
}

struct Block {
    unsigned char* bytes;
    size_t size;
    u64 mark;
};

class Trial {
    Heap* const heap;
    Allocator allocator;
    const u32 threads = 2 + chance.below(5);
    std::map<unsigned char*, size_t> alive;
    std::map<u64*, u64> written;  // the last mark in each place
    std::vector<std::vector<Block>> kept{threads};
    u64 marks = 0;

    static u64& markOf(const Block& block) {
        return *reinterpret_cast<u64*>(block.bytes);
    }

    Block malloc(size_t size) {
        const u64 before = fibers.accesses();
        const Block block = {static_cast<unsigned char*>(allocator.malloc(size)), size, ++marks};
        // Each block of each queue may be freed into the heap, and each of these calls searches if it must.
        require(fibers.accesses() - before < 1000000, "a call doesn't end soon");
        if (block.bytes == nullptr) {
            return block;
        }
        require(block.bytes >= heap->area && block.bytes + size <= heap->area + static_cast<u64>(heap->units) * UNIT_BYTES
                        && reinterpret_cast<uintptr_t>(block.bytes) % UNIT_BYTES == 0,
                "a block leaves the heap, or isn't aligned");
        const auto next = alive.lower_bound(block.bytes);
        require(next == alive.end() || block.bytes + size <= next->first, "two blocks overlap");
        require(next == alive.begin() || std::prev(next)->first + std::prev(next)->second <= block.bytes, "two blocks overlap");
        alive.emplace(block.bytes, size);
        const auto last = written.find(&markOf(block));
        require(last == written.end() || Atomic<u64>(markOf(block)).load(RELAXED) == last->second,
                "what was done with the block before didn't happen before");
        Atomic<u64>(markOf(block)).store(block.mark, RELAXED);
        written[&markOf(block)] = block.mark;
        written.erase(reinterpret_cast<u64*>(block.bytes - UNIT_BYTES));  // there is its header now
        return block;
    }

    void free(const Block& block) {
        require(Atomic<u64>(markOf(block)).load(RELAXED) == block.mark, "a block doesn't keep what was written");
        alive.erase(block.bytes);
        allocator.free(block.bytes);
    }

    void use(std::vector<Block>& mine, u32 calls, u32 most, const std::function<size_t()>& anySize) {
        for (u32 call = 0; call < calls; ++call) {
            if (!mine.empty() && (mine.size() >= most || chance.below(2) == 0)) {
                const u32 i = chance.below(static_cast<u32>(mine.size()));
                const Block block = mine[i];
                mine[i] = mine.back();
                mine.pop_back();
                free(block);
            } else {
                const Block block = malloc(anySize());
                if (block.bytes != nullptr) {
                    mine.push_back(block);
                }
            }
        }
    }

    // What a fresh heap serves is served: nothing is stranded in buffers.
    void requireWhole() {
        require(alive.empty(), "blocks are left");
        alone([&] {
            const size_t largest = heap->units / 4096 * static_cast<size_t>(64 * KIB) - 16;
            const Block block = malloc(largest);
            require(block.bytes != nullptr, "the largest request isn't served after all is freed");
            alive.erase(block.bytes);
            allocator.free(block.bytes);
        });
        requireQueues();
    }

    // Between calls.
    static void requireQueues() {
        for (const auto& sizeClass : buffers.queues) {
            for (const auto& queue : sizeClass) {
                require(queue.head <= queue.tail && queue.tail <= queue.head + DEPTH, "a queue has too many, or less than none");
            }
        }
    }

  public:
    explicit Trial(u64 bytes) : heap(makeHeap(bytes)), allocator(BitMalloc{heap}, &buffers) {
        lanesOfWarp = 1;
        buffers = Buffers<QUEUES, DEPTH>{};
        // As if they had been used for long: some counts are about to come round.
        if (chance.below(2) == 0) {
            const u64 rounds = 65534 + chance.below(4);
            for (auto& sizeClass : buffers.queues) {
                for (auto& queue : sizeClass) {
                    queue.head = queue.tail = rounds * DEPTH;
                    std::fill(queue.places, queue.places + DEPTH, rounds & 0xFFFF);
                }
            }
        }
    }

    void run(const std::string& scenario) {
        const size_t one = 8 + chance.below(2000);
        const u32 most = scenario == "full" ? 200 : 1 + chance.below(scenario == "queue" ? 12 : 40);
        const auto anySize = [&]() -> size_t {
            return scenario == "queue" ? one : 8 + chance.below(1 + chance.below(scenario == "full" ? 20000 : 4000));
        };
        for (u32 rounds = 1 + chance.below(3); rounds != 0; --rounds) {
            together(threads, [&](u32 i) { use(kept[i], 1 + chance.below(2 * most), 1 + chance.below(most), anySize); });
            requireQueues();
        }
        together(threads, [&](u32 i) {
            for (const Block& block : kept[i]) {
                free(block);
            }
            kept[i].clear();
        });
        requireWhole();
    }
};

// Fills the heap but for what four blocks in the buffers have.
class Exhausted {
    Heap* const heap = makeHeap(256 * KIB);

  public:
    Allocator allocator{BitMalloc{heap}, &buffers};

    Exhausted() {
        lanesOfWarp = 1;
        buffers = Buffers<QUEUES, DEPTH>{};
        together({[this] {
                     void* blocks[4];
                     for (void*& block : blocks) {
                         block = allocator.malloc(2000);
                     }
                     for (u32 size = 128 * KIB; size >= UNIT_BYTES; size /= 2) {
                         while (BitMalloc{heap}.malloc(size) != nullptr) {
                         }
                     }
                     for (void* block : blocks) {
                         allocator.free(block);
                     }
                 }});
    }
};

void drained() {
    const u32 stop = 1 + chance.below(600);
    Exhausted heap;
    fibers.stopsAt = stop;
    bool got = false;
    together({[&] { got = heap.allocator.malloc(100) != nullptr; }, [&] { heap.allocator.malloc(100); }});
    fibers.stopsAt = 0;
    require(got, "a thread gets nothing though another one has emptied the buffers");
}

void reused() {
    lanesOfWarp = 1;
    buffers = Buffers<QUEUES, DEPTH>{};
    Allocator allocator(BitMalloc{makeHeap(1 << 20)}, &buffers);
    u32 reused = 0;
    together({[&] {
                 for (u32 i = 0; i < 100; ++i) {
                     const u64 before = fibers.accesses();
                     void* const block = allocator.malloc(2000);
                     // The head, the place, and a change of each.
                     reused += fibers.accesses() - before == 4 ? 1 : 0;
                     allocator.free(block);
                 }
             }});
    require(reused > 50, "what was freed isn't kept, or isn't found");
}

// As in figure 3 of the paper, for a warp of four.
constexpr size_t SIZES_OF_LANES[] = {56, 56, 40, 120};

// An allocator behind CountedParts, which knows what was asked of it, and who got what of it.
struct Asked {
    static constexpr bool CAN_FREE = true;

    static inline std::map<unsigned char*, size_t> blocks;
    static inline std::map<unsigned char*, u32> lanes;  // by what they got

    const void* shared() const {
        return nullptr;
    }

    void* malloc(size_t bytes) {
        unsigned char* const block = static_cast<unsigned char*>(driverMalloc(bytes));
        blocks[block] = bytes;
        return block;
    }

    void free(void* pointer) {
        unsigned char* const block = static_cast<unsigned char*>(pointer);
        const auto known = blocks.find(block);
        require(known != blocks.end(), "freed what is no block, or twice");
        const auto first = lanes.lower_bound(block);
        const auto last = lanes.lower_bound(block + known->second);
        const u32 sharers = static_cast<u32>(std::distance(first, last));
        size_t sum = 8;
        for (auto part = first; part != last; ++part) {
            sum += (8 + SIZES_OF_LANES[part->second] + 15) / 16 * 16;
        }
        require(sharers != 1 || known->second == 16 + SIZES_OF_LANES[first->second], "a block for one has more than that");
        require(sharers < 2 || known->second == sum, "a block has more than parts and headers");
        require(sharers < WARP_LANES || known->second == 312, "a warp's block isn't that of figure 3");
        lanes.erase(first, last);
        blocks.erase(known);
        driverFree(block);
    }
};

// Threads that come together get parts of a block, with a header of 8 bytes each and one for the block; who comes alone, or asks
// for much, gets a block of its own.
void parts() {
    lanesOfWarp = WARP_LANES;
    together({[] {
        CountedParts<Asked> allocator{};
        allocator.free(allocator.malloc(SIZES_OF_LANES[0]));
        require(fibers.accesses() == 0, "one who is alone counts parts");
    }});
    unsigned char* handed = nullptr;  // from a thread to the next one that frees, maybe of the other warp
    together(2 * WARP_LANES, [&](u32 thread) {
        const u32 lane = thread % WARP_LANES;
        CountedParts<Asked> allocator{};
        for (u32 i = 0; i < 6; ++i) {
            const bool asksForMuch = chance.below(8) == 0;
            const size_t size = asksForMuch ? CountedParts<Asked>::LIMIT_BYTES + 1 + chance.below(100) : SIZES_OF_LANES[lane];
            unsigned char* mine = static_cast<unsigned char*>(allocator.malloc(size));
            require(reinterpret_cast<uintptr_t>(mine) % 16 == 0, "a part isn't aligned");
            if (asksForMuch) {
                require(Asked::blocks[mine - 16] == size + 16, "a large request isn't alone");
            } else {
                Asked::lanes[mine] = lane;
            }
            std::memset(mine, static_cast<int>(thread), size);
            fibers.pause();
            require(std::all_of(mine, mine + size, [&](unsigned char each) { return each == thread; }), "parts overlap");
            std::swap(mine, handed);
            allocator.free(mine);
        }
    });
    alone([&] { CountedParts<Asked>{}.free(handed); });
    require(Asked::blocks.empty() && driverHeap.blocks == 0, "a block outlives its parts");
}

void xmalloc() {
    alignas(256) static unsigned char memory[XMALLOC_BYTES];
    Heap* const heap = reinterpret_cast<Heap*>(memory);
    lanesOfWarp = WARP_LANES;
    std::memset(memory, 0xA5, sizeof(memory));
    xmcInit(heap, 1, 2);
    xmcInit(heap, 0, 2);
    require(std::all_of(heap->area, heap->area + sizeof(Buffers<16, 16>), [](unsigned char each) { return each == 0; }),
            "the queues aren't empty at first");
    driverHeap.limit = chance.below(2) == 0 ? 1 << 20 : 1 << (11 + chance.below(6));
    const u64 frees = driverHeap.frees;
    u32 served = 0;
    std::map<u64*, u64> written;  // the last mark in each place
    std::map<unsigned char*, size_t> alive;
    together(2 * WARP_LANES, [&](u32 thread) {
        std::vector<Block> mine;
        for (u32 i = 0; i < 12; ++i) {
            const size_t size = 8 + chance.below(1 + chance.below(700));
            const u64 before = fibers.accesses();
            const Block block = {static_cast<unsigned char*>(xmcMalloc(heap, size)), size, 100 * thread + i + 1};
            require(fibers.accesses() - before < 1000000, "a call doesn't end soon");
            if (block.bytes != nullptr) {
                ++served;
                require(reinterpret_cast<uintptr_t>(block.bytes) % 16 == 0, "a block isn't aligned");
                const auto next = alive.lower_bound(block.bytes);
                require(next == alive.end() || block.bytes + size <= next->first, "two blocks overlap");
                require(next == alive.begin() || std::prev(next)->first + std::prev(next)->second <= block.bytes, "two blocks overlap");
                alive[block.bytes] = size;
                u64& mark = *reinterpret_cast<u64*>(block.bytes);
                // Unless a header was written there since. What comes from the driver again is ordered by the driver.
                const auto last = driverHeap.frees != frees ? written.end() : written.find(&mark);
                require(last == written.end() || mark != last->second || Atomic<u64>(mark).load(RELAXED) == last->second,
                        "what was done with the block before didn't happen before");
                Atomic<u64>(mark).store(block.mark, RELAXED);
                written[&mark] = block.mark;
                mine.push_back(block);
            }
            while (!mine.empty() && (i == 11 || chance.below(3) == 0)) {
                const Block last = mine.back();
                mine.pop_back();
                require(Atomic<u64>(*reinterpret_cast<u64*>(last.bytes)).load(RELAXED) == last.mark, "a block doesn't keep what was written");
                alive.erase(last.bytes);
                xmcFree(heap, last.bytes);
            }
        }
    });
    require(served != 0, "nothing is served");
    alone([&] { XMalloc(heap).drain(0, 1); });
    require(driverHeap.blocks == 0 && driverHeap.used == 0, "blocks aren't given back");
}

// Others put and take as if the one that stops were not there.
void stalled() {
    detail::BlockQueue<DEPTH> queue = {};
    fibers.stopsAt = 1 + chance.below(30);
    // What the other one has put, too: then there may be nothing.
    const bool takesAny = chance.below(2) == 0;
    together({[&] {
                  for (u32 i = 0; i < 10; ++i) {
                      if (queue.put(UNIT_BYTES)) {
                          queue.take();
                      }
                  }
              },
              [&] {
                  for (u32 i = 0; i < 40; ++i) {
                      u32 tries = 50;
                      while (!queue.put(2 * UNIT_BYTES)) {
                          require(--tries != 0, "a queue is full for good because a thread has stopped");
                      }
                      if (takesAny) {
                          queue.take();
                      }
                      tries = 50;
                      while (queue.take() == 0 && !takesAny) {
                          require(--tries != 0, "a queue is empty for good because a thread has stopped");
                      }
                  }
              }});
    fibers.stopsAt = 0;
}

void once(const std::string& name) {
    fibers.weak = name.rfind("weak-", 0) == 0;
    const std::string scenario = fibers.weak ? name.substr(5) : name;
    if (scenario == "parts" || scenario == "xmalloc") {
        Group::forgetAll();
        scenario == "parts" ? parts() : xmalloc();
        return;
    }
    if (scenario == "stalled" || scenario == "drained" || scenario == "reused") {
        scenario == "stalled" ? stalled() : scenario == "drained" ? drained() : reused();
        return;
    }
    if (scenario != "mix" && scenario != "queue" && scenario != "full") {
        std::printf("buffers alone SCENARIO FIRST_SEED LAST_SEED, see buffers.cpp\n");
        std::exit(2);
    }
    Trial(scenario == "full" ? 128 * KIB + chance.below(128 * KIB) : 1 << 20).run(scenario);
}

bool areClassesRight() {
    u32 before = 0;
    for (u64 bytes = 1; bytes < 70000; ++bytes) {
        const u32 number = detail::sizeClassOf(bytes);
        const bool isLarge = bytes > 65536;
        if (isLarge != (number == detail::NO_CLASS)) {
            return false;
        }
        if (isLarge) {
            continue;
        }
        const u64 has = detail::bytesOfClass(number);
        if (has < bytes || (number > 0 && detail::bytesOfClass(number - 1) >= bytes) || number < before || has % 16 != 0
            || (bytes > 64 && has > bytes + bytes / 4)) {
            std::printf("%llu bytes are of class %u with %llu\n", bytes, number, has);
            return false;
        }
        before = number;
    }
    return before + 1 == detail::SIZE_CLASSES;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 5 && std::string(arguments[1]) == "classes") {
        return areClassesRight() ? 0 : 1;
    }
    if (count != 5 || std::string(arguments[1]) != "alone") {
        std::printf("buffers alone SCENARIO FIRST_SEED LAST_SEED, see buffers.cpp\n");
        return 2;
    }
    runTrials(arguments, once);
    return 0;
}
