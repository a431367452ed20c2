// Runs a simulation on a GPU over a published allocator (peer.cuh): a stage as in stage.cuh. bench/peers.sh compiles it.
//
//   -DPROGRAM='"..."'          the program's source
#include "peer.cuh"

#include PROGRAM
#include "stage.cuh"

namespace {

constexpr unsigned BLOCK = 256;
constexpr unsigned BLOCKS_A_MULTIPROCESSOR = 8;

unsigned grid;
bool timesLists = false;
std::vector<cudaEvent_t> events;  // the begin and the end; or for each list, its begin twice and its end

void mark() {
    events.emplace_back();
    check(cudaEventCreate(&events.back()));
    check(cudaEventRecord(events.back()));
}

void copyOut(void* to, const void* from, u64 bytes) { check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)); }

void launch(void* kernel) {
    void* arguments[] = {&run};
    check(cudaLaunchKernel(kernel, dim3(grid), dim3(BLOCK), arguments, 0, nullptr));
}

void makeHeap(u64 bytes) { Peer::make(run.control, bytes); }

void list(u32 type) {
    if (timesLists) {
        mark();
        mark();
    }
    void* arguments[] = {&run, &type};
    static void* const kernel = kernelNamed("list");
    check(cudaLaunchKernel(kernel, dim3(grid), dim3(BLOCK), arguments, 0, nullptr));
    if (timesLists) {
        mark();
    }
}

u64 used() { return 0; }

void begin(bool ofLists) {
    check(cudaDeviceSynchronize());
    timesLists = ofLists;
    if (!timesLists) {
        mark();
    }
}

double between(size_t first) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, events[first], events[first + 1]));
    return milliseconds * 1000.0;
}

double end() {
    if (!timesLists) {
        mark();
    }
    check(cudaDeviceSynchronize());
    double microseconds = timesLists ? 0 : between(0);
    // The time between two events with nothing in between is subtracted.
    for (size_t i = 0; timesLists && i < events.size(); i += 3) {
        microseconds += between(i + 1) - between(i);
    }
    for (const cudaEvent_t event : events) {
        check(cudaEventDestroy(event));
    }
    events.clear();
    timesLists = false;
    return microseconds;
}

}  // namespace

// The device's number is the only argument.
int main(int count, char** arguments) {
    endWithParent();
    check(cudaSetDevice(count > 1 ? std::atoi(arguments[1]) : 0));
    int multiprocessors = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    grid = static_cast<unsigned>(multiprocessors) * BLOCKS_A_MULTIPROCESSOR;
    return followCommands();
}
