package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.Outboard;
import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.OutboardRuntime;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.ReusePolicy;
import java.util.function.ToIntFunction;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * This class tests each function of the facades against JCuda's own, side by side. Twins without a GPU are {@link
 * RuntimeFacadeTest} and others.
 */
@Tag("gpu")
class FacadeGpuTest {

    private static final long[] SIZES = {0, 1, 255, 256, 1000, 1 << 20, 100 << 20, 1L << 50, Long.MAX_VALUE, -1};

    private GpuProgram program;

    @BeforeEach
    void open() {
        Gpu.require();
        program = new GpuProgram(ReusePolicy.STRICT);
    }

    @AfterEach
    void close() {
        if (program != null) {
            program.close();
        }
    }

    /** Checks that both answer alike: with the same code, and a null pointer or not. */
    private static void assertAlike(
            final String message,
            final Pointer facades,
            final ToIntFunction<Pointer> facade,
            final Pointer jcudas,
            final ToIntFunction<Pointer> jcuda) {
        final int expected = jcuda.applyAsInt(jcudas);
        final int actual = facade.applyAsInt(facades);
        assertEquals(expected, actual, message);
        if (expected == 0) {
            assertEquals(DevicePointers.address(jcudas) == 0, DevicePointers.address(facades) == 0, message);
        } else {
            assertEquals(0, DevicePointers.address(facades), message);
        }
    }

    @Test
    void shouldAllocateAndFreeAsTheRuntime() {
        for (final long size : SIZES) {
            final Pointer facades = DevicePointers.pointerTo(1);
            final Pointer jcudas = new Pointer();
            assertAlike(
                    "cudaMalloc " + size,
                    facades,
                    pointer -> program.runtime.cudaMalloc(pointer, size),
                    jcudas,
                    pointer -> JCuda.cudaMalloc(pointer, size));
            if (DevicePointers.address(facades) != 0) {
                // The frees are of an address inside the block, then of the block, then of the block again.
                for (final long offset : new long[] {256, 0, 0}) {
                    assertEquals(
                            JCuda.cudaFree(jcudas.withByteOffset(offset)),
                            program.runtime.cudaFree(facades.withByteOffset(offset)),
                            "cudaFree " + size + " at " + offset);
                }
            }
        }
        assertEquals(JCuda.cudaFree(new Pointer()), program.runtime.cudaFree(new Pointer()));
    }

    @Test
    void shouldAllocateAndFreeAsTheDriver() {
        for (final long size : SIZES) {
            final CUdeviceptr facades = FakeProgram.pointerTo(1);
            final CUdeviceptr jcudas = new CUdeviceptr();
            assertAlike(
                    "cuMemAlloc " + size,
                    facades,
                    pointer -> program.driver.cuMemAlloc((CUdeviceptr) pointer, size),
                    jcudas,
                    pointer -> JCudaDriver.cuMemAlloc((CUdeviceptr) pointer, size));
            if (DevicePointers.address(facades) != 0) {
                for (final long offset : new long[] {256, 0, 0}) {
                    assertEquals(
                            JCudaDriver.cuMemFree(jcudas.withByteOffset(offset)),
                            program.driver.cuMemFree(facades.withByteOffset(offset)),
                            "cuMemFree " + size + " at " + offset);
                }
            }
        }
        assertEquals(JCudaDriver.cuMemFree(new CUdeviceptr()), program.driver.cuMemFree(new CUdeviceptr()));
    }

    @Test
    void shouldAllocateAndFreeAsTheDriverInStreamOrder() {
        final CUstream stream = program.createStream(0);
        for (final long size : SIZES) {
            final CUdeviceptr facades = FakeProgram.pointerTo(1);
            final CUdeviceptr jcudas = new CUdeviceptr();
            assertAlike(
                    "cuMemAllocAsync " + size,
                    facades,
                    pointer -> program.driver.cuMemAllocAsync((CUdeviceptr) pointer, size, stream),
                    jcudas,
                    pointer -> JCudaDriver.cuMemAllocAsync((CUdeviceptr) pointer, size, stream));
            if (DevicePointers.address(facades) != 0) {
                assertEquals(
                        JCudaDriver.cuMemFreeAsync(jcudas, stream), program.driver.cuMemFreeAsync(facades, stream));
            }
        }
        succeed(program.driver.cuStreamDestroy(stream));
    }

    @Test
    void shouldChooseTheDriversPitch() {
        for (long width = 0; width < 5000; width++) {
            assertPitch(width, 1 + width % 3);
        }
        for (int log2 = 12; log2 < 26; log2++) {
            for (final long width : new long[] {(1L << log2) - 1, 1L << log2, (1L << log2) + 1, 3L << log2}) {
                assertPitch(width, 2);
            }
        }
        assertPitch(100, 0);
        assertPitch(1L << 40, 1);
        assertPitch(1L << 31, 1);
        assertPitch(-1, 1);
        assertPitch(1, -1);
    }

    private void assertPitch(final long width, final long height) {
        final long[] facades = new long[1];
        final long[] jcudas = new long[1];
        final Pointer facade = new Pointer();
        final Pointer jcuda = new Pointer();
        final String message = "width=" + width + " height=" + height;
        final int code = JCuda.cudaMallocPitch(jcuda, jcudas, width, height);
        assertEquals(code, program.runtime.cudaMallocPitch(facade, facades, width, height), message);
        if (code == 0) {
            assertEquals(jcudas[0], facades[0], message);
            succeed(JCuda.cudaFree(jcuda));
            succeed(program.runtime.cudaFree(facade));
        }
    }

    @Test
    void shouldChooseTheDriversPitchForElements() {
        for (final int element : new int[] {4, 8, 16, 1, 5, 32, 0}) {
            for (final long width : new long[] {1, 500, 512, 513, 4097, 1 << 20, 0}) {
                final long[] facades = new long[1];
                final long[] jcudas = new long[1];
                final CUdeviceptr facade = new CUdeviceptr();
                final CUdeviceptr jcuda = new CUdeviceptr();
                final String message = "width=" + width + " element=" + element;
                final int code = JCudaDriver.cuMemAllocPitch(jcuda, jcudas, width, 3, element);
                assertEquals(code, program.driver.cuMemAllocPitch(facade, facades, width, 3, element), message);
                if (code == 0) {
                    assertEquals(jcudas[0], facades[0], message);
                    succeed(JCudaDriver.cuMemFree(jcuda));
                    succeed(program.driver.cuMemFree(facade));
                }
            }
        }
    }

    @Test
    void shouldDescribeSlicesAsTheRuntime() {
        for (final long[] extent :
                new long[][] {{700, 5, 3}, {1, 1, 1}, {512, 2, 1}, {0, 5, 3}, {5, 0, 3}, {5, 3, 0}}) {
            final cudaExtent wanted = new cudaExtent(extent[0], extent[1], extent[2]);
            final cudaPitchedPtr facades = new cudaPitchedPtr();
            final cudaPitchedPtr jcudas = new cudaPitchedPtr();
            final int code = JCuda.cudaMalloc3D(jcudas, wanted);

            assertEquals(code, program.runtime.cudaMalloc3D(facades, wanted), wanted.toString());

            if (code == 0) {
                assertAll(
                        wanted.toString(),
                        () -> assertEquals(jcudas.pitch, facades.pitch),
                        () -> assertEquals(jcudas.xsize, facades.xsize),
                        () -> assertEquals(jcudas.ysize, facades.ysize),
                        () -> succeed(JCuda.cudaFree(jcudas.ptr)),
                        () -> succeed(program.runtime.cudaFree(facades.ptr)));
            }
        }
    }

    @Test
    void shouldFindRangesAsTheDriver() {
        final CUdeviceptr facade = new CUdeviceptr();
        final CUdeviceptr jcuda = new CUdeviceptr();
        final CUdeviceptr base = new CUdeviceptr();
        final long[] size = new long[1];
        succeed(program.driver.cuMemAlloc(facade, 4096));
        succeed(JCudaDriver.cuMemAlloc(jcuda, 4096));
        for (final long offset : new long[] {0, 1, 4095}) {
            succeed(JCudaDriver.cuMemGetAddressRange(base, size, jcuda.withByteOffset(offset)));
            final long expected = size[0];
            assertEquals(DevicePointers.address(jcuda), DevicePointers.address(base));

            succeed(program.driver.cuMemGetAddressRange(base, size, facade.withByteOffset(offset)));

            assertEquals(DevicePointers.address(facade), DevicePointers.address(base));
            assertEquals(expected, size[0]);
        }
        succeed(program.driver.cuMemFree(facade));
        succeed(JCudaDriver.cuMemFree(jcuda));
        assertEquals(
                JCudaDriver.cuMemGetAddressRange(base, size, jcuda),
                program.driver.cuMemGetAddressRange(base, size, facade));
    }

    @Test
    void shouldCountFreeMemoryAsTheDriver() {
        final long[] before = new long[1];
        final long[] after = new long[1];
        final long[] total = new long[1];
        final long[] expectedTotal = new long[1];
        succeed(JCuda.cudaMemGetInfo(new long[1], expectedTotal));
        succeed(program.runtime.cudaMemGetInfo(before, total));

        final Pointer pointer = program.malloc(32L << 20);
        succeed(program.driver.cuMemGetInfo(after, new long[1]));

        assertAll(
                () -> assertEquals(expectedTotal[0], total[0]),
                // The tolerance is for other programs that may use the device.
                () -> assertTrue(Math.abs(before[0] - after[0] - (32L << 20)) <= 8L << 20, before[0] + " " + after[0]));
        succeed(program.runtime.cudaFree(pointer));
    }

    @Test
    void shouldShareTheDriversMemoryOnly() {
        final Pointer pooled = program.malloc(4096);
        final CUdeviceptr jcudas = new CUdeviceptr();
        succeed(JCudaDriver.cuMemAlloc(jcudas, 4096));

        assertAll(
                () -> assertEquals(
                        cudaError.cudaErrorNotSupported,
                        program.runtime.cudaIpcGetMemHandle(new cudaIpcMemHandle(), pooled)),
                () -> succeed(program.runtime.cudaIpcGetMemHandle(new cudaIpcMemHandle(), jcudas)),
                () -> succeed(program.driver.cuIpcGetMemHandle(new CUipcMemHandle(), jcudas)),
                () -> succeed(program.driver.cuMemFree(jcudas)),
                () -> succeed(program.runtime.cudaFree(pooled)));
    }

    @Test
    void shouldThrowAsJCuda() {
        program.runtime.setExceptionsEnabled(true);
        program.driver.setExceptionsEnabled(true);
        try {
            final CUdeviceptr pointer = new CUdeviceptr();
            assertAll(
                    () -> assertEquals(
                            messageOf(() -> JCuda.cudaMalloc(pointer, 1L << 50)),
                            messageOf(() -> program.runtime.cudaMalloc(pointer, 1L << 50))),
                    () -> assertEquals(0, DevicePointers.address(pointer)),
                    () -> assertEquals(
                            messageOf(() -> JCudaDriver.cuMemAlloc(pointer, 1L << 50)),
                            messageOf(() -> program.driver.cuMemAlloc(pointer, 1L << 50))),
                    () -> assertEquals(
                            messageOf(() -> JCuda.cudaFree(DevicePointers.pointerTo(64))),
                            messageOf(() ->
                                    program.runtime.cudaFree(program.malloc(1).withByteOffset(1)))));
        } finally {
            program.runtime.setExceptionsEnabled(false);
            program.driver.setExceptionsEnabled(false);
        }
    }

    private static String messageOf(final org.junit.jupiter.api.function.Executable call) {
        return Gpu.messageOf(assertThrows(CudaException.class, call));
    }

    @Test
    void shouldServeMoreThanThePoolMayHold() {
        final long[] free = new long[1];
        succeed(JCuda.cudaMemGetInfo(free, new long[1]));

        final Pointer pointer = program.malloc((long) (0.9 * free[0]));

        assertNull(program.pools.owner(DevicePointers.address(pointer)));
        succeed(program.runtime.cudaFree(pointer));
    }

    /** As in CUDA, a call that succeeds neither sets the last error nor clears it. */
    @Test
    void shouldLeaveTheLastErrorAlone() {
        final long[] free = new long[1];
        succeed(JCuda.cudaMemGetInfo(free, new long[1]));
        JCuda.cudaGetLastError();
        succeed(program.runtime.cudaFree(program.malloc((long) (0.5 * free[0]))));

        final Pointer large = program.malloc((long) (0.9 * free[0]));
        final int left = JCuda.cudaGetLastError();
        succeed(program.runtime.cudaFree(large));
        final int pending = JCuda.cudaFree(DevicePointers.pointerTo(64));
        final Pointer grown = program.malloc(4 * GpuProgram.FIRST_REGION_BYTES);
        final Pointer rows = new Pointer();
        succeed(program.runtime.cudaMallocPitch(rows, new long[1], 100, 100));

        assertAll(
                () -> assertEquals(0, left),
                () -> assertTrue(pending != 0),
                () -> assertEquals(pending, JCuda.cudaGetLastError()));
        succeed(program.runtime.cudaFree(grown));
        succeed(program.runtime.cudaFree(rows));
    }

    /** The static classes are those that programs call; they share pools that live as long as the process. */
    @Test
    void shouldServeThroughTheStaticClasses() {
        final CUdeviceptr pointer = new CUdeviceptr();
        succeed(OutboardRuntime.cudaMalloc(pointer, 1000));
        assertEquals(1, Outboard.poolOf(0).orElseThrow().statistics().liveBlocks());
        succeed(OutboardDriver.cuMemFree(pointer));

        assertNotNull(ContextPools.ofProcess(OutboardOptions::ofProperties).owner(DevicePointers.address(pointer)));
        Outboard.poolOf(0).orElseThrow().trimTo(0);
    }
}
