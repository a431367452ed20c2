// Runs the bench's kernels on the CPU over an allocator that overlaps, misaligns or leaves its heap, and prints what their
// checks count, a line a test: fault test nulls misaligned outside mismatches served repeats late.
#include "../../main/cuda/kernels.cu"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr u64 HEAP_BYTES = 1 << 20;
constexpr u64 THREADS = 1000;
constexpr u64 ITERATIONS = 10;
constexpr const char* FAULTS[] = {"none", "overlap", "misaligned", "outside"};

// The heap, and room behind it for what leaves it.
alignas(256) unsigned char memory[2 * HEAP_BYTES];

void launch(void (*kernel)(const Work), const Work& work) {
    blockDim.x = 256;
    for (blockIdx.x = 0; blockIdx.x * blockDim.x < work.threads; blockIdx.x++) {
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) {
            kernel(work);
        }
    }
}

void run(int fault, const char* test, u64 least, u64 most, std::vector<void (*)(const Work)> kernels) {
    u64 next = fault == outboard::OUTSIDE ? HEAP_BYTES - 1024 : 0;
    const outboard::Heap heap = {memory, HEAP_BYTES, &next, static_cast<outboard::Fault>(fault)};
    std::vector<void*> blocks(THREADS * ITERATIONS);
    Counters counters = {};
    const Work work = {heap, reinterpret_cast<u64>(memory), HEAP_BYTES, blocks.data(), &counters, THREADS, 1, least, most,
                       ITERATIONS, 0, 0, 0, 0};
    for (void (*kernel)(const Work) : kernels) {
        launch(kernel, work);
    }
    std::printf("%s %s %llu %llu %llu %llu %llu %llu %llu\n", FAULTS[fault], test, counters.nulls,
                counters.misaligned, counters.outside, counters.mismatches, counters.served, counters.repeats,
                counters.late);
}

// What P holds after each of ten launches.
void runProbability() {
    u64 next = 0;
    const outboard::Heap heap = {memory, HEAP_BYTES, &next, outboard::NONE};
    std::vector<void*> blocks(THREADS);
    Counters counters = {};
    for (u64 number = 0; number < 10; number++) {
        const std::vector<void*> before = blocks;
        launch(probability, {heap, reinterpret_cast<u64>(memory), HEAP_BYTES, blocks.data(), &counters, THREADS, 1, 16, 16,
                             number, 0, 0, 0, 0});
        int acted = 0;
        for (size_t i = 0; i < THREADS; i++) {
            acted += (before[i] == nullptr) != (blocks[i] == nullptr);
        }
        std::printf("acted %d\n", acted);
    }
}

// Prints: test operations live peak falseNulls otherNulls mismatches, twice: after the churn, and after all is freed.
void runChurn(const char* test, int fault, u64 steps, u64 aim, u64 limit) {
    constexpr u64 PLACES = 2;
    u64 next = 0;
    const outboard::Heap heap = {memory, HEAP_BYTES, &next, static_cast<outboard::Fault>(fault)};
    std::vector<void*> blocks(2 * PLACES * THREADS);
    Counters counters = {};
    const Work work = {heap, reinterpret_cast<u64>(memory), HEAP_BYTES, blocks.data(), &counters, THREADS, 1, 4, 1024, 0,
                       PLACES, steps, aim, limit};
    for (void (*kernel)(const Work) : {churn, drain}) {
        launch(kernel, work);
        std::printf("%s %llu %llu %llu %llu %llu %llu\n", test, counters.operations, counters.live, counters.peak,
                    counters.falseNulls, counters.otherNulls, counters.mismatches);
    }
}

// The smallest and largest of many sizes, and how many are below 512 bytes.
void printSizes() {
    u64 least = ~0ull;
    u64 most = 0;
    int small = 0;
    for (u64 i = 0; i < 100000; i++) {
        const u64 bytes = mixedBytes(4, 65536, randomBits(0, i));
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
        small += bytes < 512;
    }
    std::printf("sizes %llu %llu %d %zu %zu\n", least, most, small, mixedBytes(16, 16, ~0ull), mixedBytes(4, 65536, ~0ull));
}

}  // namespace

int main() {
    for (int fault = outboard::NONE; fault <= outboard::OUTSIDE; fault++) {
        run(fault, "AD", 99, 99, {allocate, checkFill, checkRead, release});
        run(fault, "MIX", 20, 500, {allocate, checkFill, checkRead, release});
        run(fault, "ADF", 99, 99, {checkFused, fused});
        run(fault, "ACD", 36, 36, {checkCycle});
        if (fault == outboard::NONE || fault == outboard::MISALIGNED) {
            run(fault, "OOM", 64, 64, {exhaust, checkFillChains, checkReadChains});
        }
        if (fault == outboard::NONE) {
            run(fault, "FILL", 64, 64, {grow, checkFillChains, checkReadChains});
            run(fault, "hopeless", 64, 64, {exhaust, hopeless, checkFillChains, checkReadChains});
            run(fault, "FILL then hopeless", 32, 32, {grow, hopeless, checkFillChains, checkReadChains});
        }
    }
    runProbability();
    runChurn("churn", outboard::NONE, 2, HEAP_BYTES, HEAP_BYTES);
    runChurn("churn above", outboard::NONE, 64, 1000, HEAP_BYTES);
    runChurn("churn missed", outboard::NONE, 64, HEAP_BYTES, HEAP_BYTES);
    runChurn("churn full", outboard::NONE, 64, HEAP_BYTES, 0);
    runChurn("churn overlap", outboard::OVERLAP, 2, HEAP_BYTES, HEAP_BYTES);
    printSizes();
}
