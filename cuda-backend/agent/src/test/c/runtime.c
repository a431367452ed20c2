// A runtime without a GPU, which says what it is asked, and a function of the driver's with addresses of 32 bits.

#include <stddef.h>
#include <stdio.h>

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

struct cudaPitchedPtr { void *pointer; size_t pitch, width, height; };
struct cudaExtent { size_t width, height, depth; };

static char *next = (char *) 0x500000000000;

int cudaMalloc(void **pointer, size_t bytes) {
    SAY("cudaMalloc %zu", bytes);
    return *pointer = next, next += bytes, 0;
}
int cudaFree(void *pointer) { return SAY("cudaFree %p", pointer), 0; }
int cudaMalloc3D(struct cudaPitchedPtr *slices, struct cudaExtent extent) {
    SAY("cudaMalloc3D %zu %zu %zu", extent.width, extent.height, extent.depth);
    return *slices = (struct cudaPitchedPtr) {next, 512, extent.width, extent.height}, next += 1 << 20, 0;
}
int cudaStreamBeginCapture(void *stream, int mode) { return SAY("cudaStreamBeginCapture %p %d", stream, mode), 0; }
int cuMemAlloc(unsigned *address, unsigned bytes) { return SAY("cuMemAlloc %u", bytes), *address = 0x5000, 0; }
