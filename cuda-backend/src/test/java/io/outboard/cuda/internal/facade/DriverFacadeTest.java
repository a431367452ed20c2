package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import jcuda.CudaException;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** This class tests the driver's facade over simulated devices; the twin on a real one is {@link FacadeGpuTest}. */
class DriverFacadeTest {

    private static final int INVALID = CUresult.CUDA_ERROR_INVALID_VALUE;
    private static final int OUT_OF_MEMORY = CUresult.CUDA_ERROR_OUT_OF_MEMORY;

    private final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
    private final DriverFacade facade = program.driver;
    private final List<String> calls = program.jcuda.calls();

    @BeforeEach
    void makeContextCurrent() {
        program.runtime.cudaSetDevice(0);
    }

    private long allocate(final long sizeBytes) {
        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, facade.cuMemAlloc(pointer, sizeBytes));
        return DevicePointers.address(pointer);
    }

    private int free(final long address) {
        return facade.cuMemFree(FakeProgram.pointerTo(address));
    }

    @Test
    void shouldServeFromThePoolWithoutACallOfJCuda() {
        final long address = allocate(1000);

        assertAll(
                () -> assertEquals(0, free(address)),
                () -> assertEquals(INVALID, free(address)),
                () -> assertEquals(INVALID, free(address + 256)),
                () -> assertEquals(List.of(), calls));
    }

    @Test
    void shouldShareThePoolWithTheRuntime() {
        final long address = allocate(1000);

        assertAll(() -> assertEquals(0, program.free(address)), () -> assertEquals(List.of(), calls));
    }

    @Test
    void shouldRefuseNoBytes() {
        final CUdeviceptr pointer = FakeProgram.pointerTo(1);

        assertAll(
                () -> assertEquals(INVALID, facade.cuMemAlloc(pointer, 0)),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals(INVALID, facade.cuMemAllocAsync(pointer, 0, new CUstream())));
    }

    @Test
    void shouldSetThePointerNullOnFailure() {
        final CUdeviceptr pointer = FakeProgram.pointerTo(1);
        final CUdeviceptr other = FakeProgram.pointerTo(1);

        assertAll(
                () -> assertEquals(OUT_OF_MEMORY, facade.cuMemAlloc(pointer, 2 * FakeCuda.TOTAL_BYTES)),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals(
                        OUT_OF_MEMORY, facade.cuMemAllocAsync(other, 2 * FakeCuda.TOTAL_BYTES, new CUstream())),
                () -> assertEquals(0, DevicePointers.address(other)));
    }

    @Test
    void shouldRefuseWhereTheThreadHasNoContext() {
        program.cuda.setContext(0);
        program.pools.forget();

        assertEquals(CUresult.CUDA_ERROR_INVALID_CONTEXT, facade.cuMemAlloc(new CUdeviceptr(), 1));
    }

    @Test
    void shouldChooseTheDriversPitchForElementsThatItKnows() {
        final CUdeviceptr pointer = new CUdeviceptr();
        final long[] pitch = new long[1];

        assertAll(
                () -> assertEquals(0, facade.cuMemAllocPitch(pointer, pitch, 513, 2, 4)),
                () -> assertEquals(1024, pitch[0]),
                () -> assertEquals(2048, program.pool(0).sizeOf(DevicePointers.address(pointer))),
                () -> assertEquals(INVALID, facade.cuMemAllocPitch(pointer, pitch, 513, 2, 5)),
                () -> assertEquals(List.of("cuMemAllocPitch"), calls));
    }

    @Test
    void shouldFindTheBlockAndNotTheRegion() {
        final CUdeviceptr base = new CUdeviceptr();
        final long[] size = new long[1];
        final long before = allocate(4096);
        final long address = allocate(1000);

        assertAll(
                () -> assertEquals(0, facade.cuMemGetAddressRange(base, size, FakeProgram.pointerTo(address))),
                () -> assertEquals(address, DevicePointers.address(base)),
                () -> assertEquals(1024, size[0]),
                () -> assertEquals(0, facade.cuMemGetAddressRange(base, size, FakeProgram.pointerTo(before + 4095))),
                () -> assertEquals(before, DevicePointers.address(base)),
                () -> assertEquals(4096, size[0]));
    }

    @Test
    @SuppressWarnings("NullAway")
    void shouldFindARangeWithoutAskingForBothItsParts() {
        final CUdeviceptr base = new CUdeviceptr();
        final long[] size = new long[1];
        final CUdeviceptr pointer = FakeProgram.pointerTo(allocate(1));

        assertAll(
                () -> assertEquals(0, facade.cuMemGetAddressRange(null, size, pointer)),
                () -> assertEquals(256, size[0]),
                () -> assertEquals(0, facade.cuMemGetAddressRange(base, null, pointer)),
                () -> assertEquals(DevicePointers.address(pointer), DevicePointers.address(base)));
    }

    @Test
    void shouldFindNothingWhereNothingIsInUse() {
        final long address = allocate(1000);
        final long free = address + 4096;
        assertEquals(0, free(address));

        assertAll(
                () -> assertEquals(
                        CUresult.CUDA_ERROR_NOT_FOUND,
                        facade.cuMemGetAddressRange(new CUdeviceptr(), new long[1], FakeProgram.pointerTo(address))),
                () -> assertEquals(
                        CUresult.CUDA_ERROR_NOT_FOUND,
                        facade.cuMemGetAddressRange(new CUdeviceptr(), new long[1], FakeProgram.pointerTo(free))));
    }

    @Test
    void shouldPassTheDriversMemoryOn() {
        allocate(1);
        final CUdeviceptr drivers = FakeProgram.pointerTo(4096);

        facade.cuMemGetAddressRange(new CUdeviceptr(), new long[1], drivers);
        facade.cuMemFree(drivers);
        facade.cuMemFreeAsync(drivers, new CUstream());
        facade.cuIpcGetMemHandle(new CUipcMemHandle(), drivers);

        assertEquals(List.of("cuMemGetAddressRange", "cuMemFree", "cuMemFreeAsync", "cuIpcGetMemHandle"), calls);
    }

    @Test
    void shouldRefuseToShareAPartOfARegion() {
        final CUdeviceptr pooled = FakeProgram.pointerTo(allocate(1));

        assertEquals(CUresult.CUDA_ERROR_NOT_SUPPORTED, facade.cuIpcGetMemHandle(new CUipcMemHandle(), pooled));
    }

    @Test
    void shouldCountWhatThePoolHasFree() {
        final long[] free = new long[1];
        allocate(1 << 20);

        assertEquals(0, facade.cuMemGetInfo(free, new long[1]));

        assertEquals(FakeCuda.TOTAL_BYTES - (1 << 20), free[0]);
    }

    @Test
    void shouldThrowWithTheDriversNames() {
        final long address = allocate(1000);
        facade.setExceptionsEnabled(true);

        final CudaException full =
                assertThrows(CudaException.class, () -> facade.cuMemAlloc(new CUdeviceptr(), 2 * FakeCuda.TOTAL_BYTES));
        final CudaException inside = assertThrows(CudaException.class, () -> free(address + 256));

        assertAll(
                () -> assertEquals("CUDA_ERROR_OUT_OF_MEMORY", full.getMessage()),
                () -> assertEquals("CUDA_ERROR_INVALID_VALUE", inside.getMessage()),
                () -> assertTrue(program.jcuda.exceptionsEnabled()));
    }

    @Test
    @SuppressWarnings("NullAway")
    void shouldTreatAJavaNullAsJCudaDoes() {
        allocate(1);

        assertAll(
                () -> assertThrows(NullPointerException.class, () -> facade.cuMemAlloc(null, 1)),
                () -> assertThrows(NullPointerException.class, () -> facade.cuMemFree(null)),
                () -> assertThrows(
                        NullPointerException.class, () -> facade.cuMemAllocAsync(new CUdeviceptr(), 1, null)));
    }
}
