package io.outboard.bench.cli.device;

import org.junit.jupiter.api.Tag;

@Tag("gpu")
class CudaMallocAllocatorGpuTest extends DriverAllocatorContract {

    @Override
    DriverAllocator open(final int slots) {
        return GpuDevice.open(DriverAllocators.CUDA_MALLOC, slots);
    }

    @Override
    long deviceUsedBytes() {
        return GpuDevice.usedBytes();
    }
}
