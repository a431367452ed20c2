// Runs the bench's kernels on the CPU over an allocator that overlaps, misaligns or leaves its heap, and prints what their
// checks count, a line a test: fault test nulls misaligned outside mismatches served.
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
    const Work work = {heap, reinterpret_cast<u64>(memory), HEAP_BYTES, blocks.data(), &counters, THREADS, 1, least, most, ITERATIONS};
    for (void (*kernel)(const Work) : kernels) {
        launch(kernel, work);
    }
    std::printf("%s %s %llu %llu %llu %llu %llu\n", FAULTS[fault], test, counters.nulls, counters.misaligned,
                counters.outside, counters.mismatches, counters.served);
}

// What P holds after each of ten launches.
void runProbability() {
    u64 next = 0;
    const outboard::Heap heap = {memory, HEAP_BYTES, &next, outboard::NONE};
    std::vector<void*> blocks(THREADS);
    Counters counters = {};
    for (u64 number = 0; number < 10; number++) {
        const std::vector<void*> before = blocks;
        launch(probability, {heap, reinterpret_cast<u64>(memory), HEAP_BYTES, blocks.data(), &counters, THREADS, 1, 16, 16, number});
        int acted = 0;
        for (size_t i = 0; i < THREADS; i++) {
            acted += (before[i] == nullptr) != (blocks[i] == nullptr);
        }
        std::printf("acted %d\n", acted);
    }
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
    }
    runProbability();
}
