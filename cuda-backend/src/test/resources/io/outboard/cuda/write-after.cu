// A kernel that a test can be sure of still running: it waits for so many clock cycles, then writes.
// Made into PTX by cuda-backend/ptx.sh.
extern "C" __global__ void writeAfter(unsigned *data, unsigned words, unsigned value, long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        data[i] = value;
    }
}
