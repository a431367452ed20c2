// Runs one case of the generic tests (kernels.cu) over a published allocator (peer.cuh), for PeerRun.java. bench/peers.sh compiles it.
//
//   DEVICE TEST THREADS STRIDE LEAST MOST ITERATIONS HEAP RUNS
//
// It prints what the kernels counted (nulls, misaligned blocks, words that didn't hold their block's tag), then the microseconds of each
// run, a number a line. For the test REGISTERS it prints the registers of a single malloc and free, and those of several.
#include <functional>
#include <vector>

#include "peer.cuh"

#include "../kernels.cu"

namespace {

constexpr unsigned BLOCK = 256;
constexpr u64 LAUNCH_CYCLES = 400000;  // more than the host takes for a launch: as in Stopwatch.java
constexpr double LONG_RUN_US = 1e6;    // after one that takes longer, only one more follows: as in CaseKernels.java

Work work;
u64 pointers;

void launch(void (*kernel)(Work), u64 iterations) {
    work.iterations = iterations;
    kernel<<<static_cast<unsigned>((work.threads + BLOCK - 1) / BLOCK), BLOCK>>>(work);
    check(cudaGetLastError());
}

// Kernels are loaded at their first launch, which the runs with checks have behind them.
double microseconds(u64 launches, const std::function<void()>& launchAll) {
    static cudaEvent_t begin = nullptr;
    static cudaEvent_t end = nullptr;
    if (begin == nullptr) {
        check(cudaEventCreate(&begin));
        check(cudaEventCreate(&end));
    }
    work.iterations = launches * LAUNCH_CYCLES;
    hold<<<1, 1>>>(work);
    check(cudaEventRecord(begin));
    launchAll();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1000.0;
}

double probabilities(u64 launches, bool checked) {
    const double us = microseconds(launches, [=] {
        for (u64 i = 0; i < launches; i++) {
            launch(probability, i);
            if (checked) {
                launch(checkFill, i);
                launch(checkRead, i);
            }
        }
    });
    launch(release, 1);
    check(cudaMemset(work.blocks, 0, pointers * sizeof(void*)));
    return us;
}

// The first run, with checks, is for warming up, too.
double once(const char* test, u64 iterations, bool checked) {
    if (std::strcmp(test, "P") == 0) {
        return probabilities(iterations, checked);
    }
    const bool fuses = std::strcmp(test, "ADF") == 0;
    if (checked) {
        launch(fuses ? checkFused : checkCycle, iterations);
    }
    return microseconds(1, [=] { launch(fuses ? fused : cycle, iterations); });
}

void printRegisters() {
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, registers));
    std::printf("%d\n", attributes.numRegs);
    check(cudaFuncGetAttributes(&attributes, cycle));
    std::printf("%d\n", attributes.numRegs);
}

}  // namespace

int main(int count, char** arguments) {
    endWithParent();
    if (count != 10) {
        std::fprintf(stderr, "arguments=%d must be 9\n", count - 1);
        return 1;
    }
    const char* test = arguments[2];
    u64 numbers[7];
    for (int i = 0; i < 7; i++) {
        numbers[i] = std::strtoull(arguments[i + 3], nullptr, 10);
    }
    check(cudaSetDevice(std::atoi(arguments[1])));
    if (std::strcmp(test, "REGISTERS") == 0) {
        printRegisters();
        return 0;
    }
    const u64 iterations = numbers[4];
    const u64 runs = numbers[6];
    work.threads = numbers[0];
    work.stride = numbers[1];
    work.least = numbers[2];
    work.most = numbers[3];
    Peer::make(&work.heap, numbers[5]);
    pointers = (work.threads + work.stride - 1) / work.stride * iterations;
    work.blocks = static_cast<void**>(zeroes(pointers * sizeof(void*)));
    work.counters = static_cast<Counters*>(zeroes(sizeof(Counters)));
    const bool isLong = once(test, iterations, true) > LONG_RUN_US;
    std::vector<double> times;
    while (times.size() < (isLong ? 1 : runs)) {
        times.push_back(once(test, iterations, false));
    }
    Counters counters;
    check(cudaMemcpy(&counters, work.counters, sizeof(counters), cudaMemcpyDeviceToHost));
    std::printf("%llu\n%llu\n%llu\n", counters.nulls, counters.misaligned, counters.mismatches);
    for (const double us : times) {
        std::printf("%.2f\n", us);
    }
    return 0;
}
