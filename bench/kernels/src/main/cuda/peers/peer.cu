// Runs a simulation on a GPU over a published allocator: a stage as in stage.cuh. bench/peers.sh compiles it.
//
//   -DPROGRAM='"..."'          the program's source
//   -DPEER_HALLOC              Halloc (Adinetz and Pleiter 2014), with its own settings
//   -DPEER_MALLOC_MC           mallocMC (Steinberger et al. 2012; Eckert 2014), with the settings of its examples, without coalescing,
//                              which its authors leave out for newer GPUs
#if defined(PEER_HALLOC)

// What CUDA had before threads of a warp could be apart.
#define __shfl(value, lane) __shfl_sync(__activemask(), value, lane)
#define __ballot(condition) __ballot_sync(__activemask(), condition)
#define __any(condition) __any_sync(__activemask(), condition)
#define __all(condition) __all_sync(__activemask(), condition)

#include "utils.cu"

#include "halloc.cu"

#undef __shfl
#undef __ballot
#undef __any
#undef __all

#else

#include <mallocMC/mallocMC.hpp>

#endif

#include "outboard/heap.cuh"

namespace {

#if defined(PEER_HALLOC)

struct Peer {
    const outboard::Heap* unused;

    static void make(void*, size_t bytes) { ha_init(halloc_opts_t(bytes)); }

    __device__ void* malloc(size_t bytes) const { return hamalloc(bytes); }

    __device__ void free(void* block) const { hafree(block); }
};

#else

struct HeapSettings : mallocMC::CreationPolicies::Scatter<>::HeapProperties {
    static constexpr auto pagesize = 4096;
    static constexpr auto accessblocks = 8;
    static constexpr auto regionsize = 16;
    static constexpr auto wastefactor = 2;
    static constexpr auto resetfreedpages = true;
};

struct HashSettings : mallocMC::CreationPolicies::Scatter<>::HashingProperties {
    static constexpr auto hashingK = 38183;
    static constexpr auto hashingDistMP = 17497;
    static constexpr auto hashingDistWP = 1;
    static constexpr auto hashingDistWPRel = 1;
};

struct Alignment : mallocMC::AlignmentPolicies::Shrink<>::Properties {
    static constexpr auto dataAlignment = 16;
};

using Scatter = mallocMC::Allocator<
        mallocMC::CreationPolicies::Scatter<HeapSettings, HashSettings>, mallocMC::DistributionPolicies::Noop,
        mallocMC::OOMPolicies::ReturnNull, mallocMC::ReservePoolPolicies::SimpleCudaMalloc,
        mallocMC::AlignmentPolicies::Shrink<Alignment>>;

struct Peer {
    const outboard::Heap* handle;

    static void make(void* control, size_t bytes) {
        static Scatter allocator(bytes);
        const Scatter::AllocatorHandle handle = allocator;
        std::memcpy(control, &handle, sizeof(handle));
    }

    __device__ Scatter::AllocatorHandle allocator() const {
        return *reinterpret_cast<const Scatter::AllocatorHandle*>(handle);
    }

    __device__ void* malloc(size_t bytes) const { return allocator().malloc(bytes); }

    __device__ void free(void* block) const { allocator().free(block); }
};

#endif

}  // namespace

#define OUTBOARD_ALLOCATOR Peer

#include PROGRAM
#include "stage.cuh"

namespace {

constexpr unsigned BLOCK = 256;
constexpr unsigned BLOCKS_A_MULTIPROCESSOR = 8;

unsigned grid;
bool timesLists = false;
std::vector<cudaEvent_t> events;  // the begin and the end; or for each list, its begin twice and its end

void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

void mark() {
    events.emplace_back();
    check(cudaEventCreate(&events.back()));
    check(cudaEventRecord(events.back()));
}

void* zeroes(u64 bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    check(cudaMemset(memory, 0, bytes));
    return memory;
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
    check(cudaSetDevice(count > 1 ? std::atoi(arguments[1]) : 0));
    int multiprocessors = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    grid = static_cast<unsigned>(multiprocessors) * BLOCKS_A_MULTIPROCESSOR;
    return followCommands();
}
