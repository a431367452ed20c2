package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.pool.ReusePolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaExtent;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPitchedPtr;
import org.junit.jupiter.api.Test;

/** This class tests the runtime's facade over simulated devices; the twin on a real one is {@link FacadeGpuTest}. */
class RuntimeFacadeTest {

    private static final int INVALID = cudaError.cudaErrorInvalidValue;
    private static final int OUT_OF_MEMORY = cudaError.cudaErrorMemoryAllocation;

    private final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
    private final RuntimeFacade facade = program.runtime;
    private final List<String> calls = program.jcuda.calls();

    @Test
    void shouldServeFromThePoolWithoutACallOfJCuda() {
        final long first = program.malloc(1000);
        final long second = program.malloc(1);

        assertAll(
                () -> assertEquals(0, first % 256),
                () -> assertEquals(0, second % 256),
                () -> assertNotEquals(first, second),
                () -> assertEquals(0, program.free(first)),
                () -> assertEquals(List.of(), calls),
                () -> assertEquals(FakeProgram.FIRST_REGION_BYTES, program.cuda.usedBytes(0)));
    }

    @Test
    void shouldForgetTheByteOffsetOfAPointerThatIsUsedAgain() {
        final Pointer pointer = DevicePointers.pointerTo(4096).withByteOffset(16);

        assertEquals(0, facade.cudaMalloc(pointer, 100));

        assertEquals(0, DevicePointers.address(pointer) % 256);
        assertEquals(0, facade.cudaFree(pointer));
    }

    @Test
    void shouldGiveNullAndSuccessForNoBytes() {
        final Pointer pointer = DevicePointers.pointerTo(1);

        assertEquals(0, facade.cudaMalloc(pointer, 0));

        assertEquals(0, DevicePointers.address(pointer));
    }

    @Test
    void shouldFreeNullMemory() {
        assertEquals(0, facade.cudaFree(new Pointer()));
    }

    @Test
    @SuppressWarnings("NullAway")
    void shouldTreatAJavaNullAsJCudaDoes() {
        program.malloc(1);

        assertAll(
                () -> assertThrows(NullPointerException.class, () -> facade.cudaMalloc(null, 1)),
                () -> assertThrows(NullPointerException.class, () -> facade.cudaFree(null)),
                () -> assertThrows(NullPointerException.class, () -> facade.cudaMallocPitch(new Pointer(), null, 1, 1)),
                () -> assertThrows(NullPointerException.class, () -> facade.cudaMallocPitch(null, new long[1], 1, 1)),
                () -> assertThrows(
                        NullPointerException.class, () -> facade.cudaMalloc3D(null, new cudaExtent(1, 1, 1))),
                () -> assertEquals(1, program.pool(0).statistics().liveBlocks()));
    }

    @Test
    void shouldSetThePointerNullOnFailure() {
        final Pointer pointer = DevicePointers.pointerTo(1);
        final cudaPitchedPtr pitched = new cudaPitchedPtr();

        assertAll(
                () -> assertEquals(OUT_OF_MEMORY, facade.cudaMalloc(pointer, 2 * FakeCuda.TOTAL_BYTES)),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals(OUT_OF_MEMORY, facade.cudaMalloc(pointer, -1)),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals(OUT_OF_MEMORY, facade.cudaMallocPitch(pointer, new long[1], 1 << 20, 1 << 20)),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals(OUT_OF_MEMORY, facade.cudaMalloc3D(pitched, new cudaExtent(1 << 20, 1 << 20, 2))),
                () -> assertEquals(0, DevicePointers.address(pitched.ptr)));
    }

    @Test
    void shouldRefuseADoubleFreeAndChangeNothing() {
        final long address = program.malloc(1000);
        assertEquals(0, program.free(address));
        final String before = program.pool(0).statistics().toString();

        assertEquals(INVALID, program.free(address));

        assertEquals(before, program.pool(0).statistics().toString());
    }

    @Test
    void shouldRefuseAPointerIntoABlockAndChangeNothing() {
        final long address = program.malloc(1000);
        final String before = program.pool(0).statistics().toString();

        assertAll(
                () -> assertEquals(INVALID, program.free(address + 256)),
                () -> assertEquals(INVALID, program.free(address + 1)),
                () -> assertEquals(
                        INVALID,
                        facade.cudaFree(DevicePointers.pointerTo(address).withByteOffset(512))),
                () -> assertEquals(before, program.pool(0).statistics().toString()),
                () -> assertEquals(0, program.free(address)));
    }

    @Test
    void shouldPassTheDriversMemoryOn() {
        program.malloc(1);
        final long[] address = new long[1];
        assertEquals(0, program.cuda.malloc(address, 4096));

        assertAll(
                () -> assertEquals(0, program.free(address[0])),
                () -> assertEquals(INVALID, program.free(address[0])),
                () -> assertEquals(List.of("cudaFree", "cudaFree"), calls));
    }

    @Test
    void shouldServeByTheDriverWhatThePoolMayNotHold() {
        final long most = (long) (0.85 * FakeCuda.TOTAL_BYTES);

        final long address = program.malloc(most);

        assertAll(
                () -> assertEquals(List.of("cudaMalloc"), calls),
                () -> assertEquals(0, program.free(address)),
                () -> assertEquals(0, program.cuda.usedBytes(0)));
    }

    @Test
    void shouldGiveUnusedRegionsBackBeforeItFails() {
        final long half = FakeCuda.TOTAL_BYTES / 2;
        assertEquals(0, program.free(program.malloc(half)));

        final long address = program.malloc(FakeCuda.TOTAL_BYTES - (32L << 20));

        assertAll(
                () -> assertEquals(List.of("cudaMalloc", "cudaMalloc"), calls),
                () -> assertEquals(0, program.pool(0).statistics().heldBytes()),
                () -> assertEquals(0, program.free(address)));
    }

    @Test
    void shouldLeaveNoErrorBehindWhereItSucceeds() {
        assertEquals(0, program.free(program.malloc(FakeCuda.TOTAL_BYTES / 2)));

        program.malloc(FakeCuda.TOTAL_BYTES - (32L << 20));

        assertAll(
                () -> assertEquals(List.of("cudaMalloc", "cudaMalloc"), calls),
                () -> assertEquals(0, program.cuda.lastError()));
    }

    @Test
    void shouldKeepTheErrorThatTheProgramHasPending() {
        program.malloc(1);
        program.cuda.leaveError(cudaError.cudaErrorInvalidConfiguration);

        // The pool grows, returns memory, can't grow, and then asks for the pitch.
        program.malloc(FakeProgram.FIRST_REGION_BYTES * 2);
        program.free(program.malloc(FakeProgram.FIRST_REGION_BYTES * 3));
        program.pool(0).trimTo(0);
        program.cuda.failAt(1, OUT_OF_MEMORY);
        program.malloc(FakeProgram.FIRST_REGION_BYTES * 4);
        program.cuda.failAt(1, OUT_OF_MEMORY);
        facade.cudaMallocPitch(new Pointer(), new long[1], 100, 1);

        assertEquals(cudaError.cudaErrorInvalidConfiguration, program.cuda.lastError());
    }

    /** A failed call leaves its error, as CUDA's own does. */
    @Test
    void shouldLeaveTheErrorOfAFailedCall() {
        assertEquals(OUT_OF_MEMORY, facade.cudaMalloc(new Pointer(), 2 * FakeCuda.TOTAL_BYTES));

        assertEquals(OUT_OF_MEMORY, program.cuda.lastError());
    }

    @Test
    void shouldChooseTheDriversPitch() {
        final Pointer pointer = new Pointer();
        final long[] pitch = new long[1];
        for (final long width : new long[] {1, 511, 512, 513, 1 << 20}) {
            assertEquals(0, facade.cudaMallocPitch(pointer, pitch, width, 3));

            final long expected = (width + FakeCuda.PITCH_BYTES - 1) & -FakeCuda.PITCH_BYTES;
            assertAll(
                    () -> assertEquals(expected, pitch[0]),
                    () -> assertEquals(3 * expected, program.pool(0).sizeOf(DevicePointers.address(pointer))),
                    () -> assertEquals(0, facade.cudaFree(pointer)));
        }
        assertEquals(List.of(), calls);
    }

    @Test
    void shouldLetTheDriverAnswerForNoRows() {
        facade.cudaMallocPitch(new Pointer(), new long[1], 0, 1);
        facade.cudaMallocPitch(new Pointer(), new long[1], 1, 0);
        facade.cudaMalloc3D(new cudaPitchedPtr(), new cudaExtent(1, 1, 0));
        facade.cudaMalloc3D(new cudaPitchedPtr(), new cudaExtent(1L, 1L << 32, 1L << 32));

        assertEquals(List.of("cudaMallocPitch", "cudaMallocPitch", "cudaMalloc3D", "cudaMalloc3D"), calls);
    }

    @Test
    void shouldDescribeSlices() {
        final cudaPitchedPtr slices = new cudaPitchedPtr();

        assertEquals(0, facade.cudaMalloc3D(slices, new cudaExtent(700, 5, 3)));

        assertAll(
                () -> assertEquals(1024, slices.pitch),
                () -> assertEquals(700, slices.xsize),
                () -> assertEquals(5, slices.ysize),
                () -> assertEquals(15 * 1024, program.pool(0).sizeOf(DevicePointers.address(slices.ptr))),
                () -> assertEquals(0, facade.cudaFree(slices.ptr)));
    }

    @Test
    void shouldCountWhatThePoolHasFree() {
        final long[] freeBytes = new long[1];
        final long[] totalBytes = new long[1];
        final long address = program.malloc(1 << 20);
        program.free(program.malloc(2 << 20));

        assertEquals(0, facade.cudaMemGetInfo(freeBytes, totalBytes));

        assertAll(
                () -> assertEquals(FakeCuda.TOTAL_BYTES - (1 << 20), freeBytes[0]),
                () -> assertEquals(FakeCuda.TOTAL_BYTES, totalBytes[0]),
                () -> assertEquals(0, program.free(address)));
    }

    @Test
    void shouldRefuseToShareAPartOfARegion() {
        final Pointer pooled = DevicePointers.pointerTo(program.malloc(1));
        final Pointer drivers = DevicePointers.pointerTo(4096);

        assertAll(
                () -> assertEquals(
                        cudaError.cudaErrorNotSupported, facade.cudaIpcGetMemHandle(new cudaIpcMemHandle(), pooled)),
                () -> assertEquals(List.of(), calls),
                () -> assertEquals(0, facade.cudaIpcGetMemHandle(new cudaIpcMemHandle(), drivers)),
                () -> assertEquals(List.of("cudaIpcGetMemHandle"), calls));
    }

    @Test
    void shouldThrowWhereExceptionsAreEnabled() {
        final Pointer pointer = DevicePointers.pointerTo(1);
        final long address = program.malloc(1000);
        facade.setExceptionsEnabled(true);

        final CudaException full =
                assertThrows(CudaException.class, () -> facade.cudaMalloc(pointer, 2 * FakeCuda.TOTAL_BYTES));
        final CudaException inside = assertThrows(CudaException.class, () -> program.free(address + 256));

        assertAll(
                () -> assertEquals("cudaErrorMemoryAllocation", full.getMessage()),
                () -> assertEquals(0, DevicePointers.address(pointer)),
                () -> assertEquals("cudaErrorInvalidValue", inside.getMessage()),
                () -> assertEquals(0, program.free(address)),
                () -> assertTrue(program.jcuda.exceptionsEnabled()));
        facade.setExceptionsEnabled(false);
        assertAll(
                () -> assertFalse(program.jcuda.exceptionsEnabled()),
                () -> assertEquals(INVALID, program.free(address)));
    }

    @Test
    void shouldReturnCodesWhereOnlyJCudaThrows() {
        program.jcuda.enableExceptions(true);

        assertEquals(OUT_OF_MEMORY, facade.cudaMalloc(new Pointer(), 2 * FakeCuda.TOTAL_BYTES));
    }

    @Test
    void shouldReportTheDevicesFailureAndLoseNothing() {
        program.malloc(1);
        program.cuda.failAt(1, cudaError.cudaErrorIllegalAddress);
        final Pointer pointer = DevicePointers.pointerTo(1);

        final int code = facade.cudaMalloc(pointer, 128L << 20);

        // The pool couldn't grow; the driver could, at the second attempt.
        assertAll(() -> assertEquals(0, code), () -> assertEquals(List.of("cudaMalloc"), calls), () -> {
            assertEquals(0, facade.cudaFree(pointer));
            assertEquals(FakeProgram.FIRST_REGION_BYTES, program.cuda.usedBytes(0));
        });
    }

    /** The driver would take memory without the lender's knowledge. */
    @Test
    void shouldNotGoToTheDriverWithoutRoomInTheHeapForAPoolOverALender() {
        final FakeCuda cuda = new FakeCuda(1);
        final RuntimeFacade leasing = new FakeRuntime(cuda)
                .runtime(new ContextPools(
                        null,
                        () -> cuda,
                        Optional::empty,
                        (socket, name, device) -> {
                            throw new OutOfMemoryError("for a test");
                        },
                        () -> OutboardOptions.ofProperties().withService(Path.of("/none/gpu0"), null)));

        assertThrows(OutOfMemoryError.class, () -> leasing.cudaMalloc(new Pointer(), 1000));
        assertEquals(0, cuda.usedBytes(0));
    }

    @Test
    void shouldLetJCudaAnswerWhereThereIsNoDevice() {
        final FakeCuda none = new FakeCuda(0);
        final RuntimeFacade without = new FakeRuntime(none)
                .runtime(new ContextPools(
                        null, () -> none, Optional::empty, LeasedMemory::connect, OutboardOptions::ofProperties));
        none.failAt(3, cudaError.cudaErrorNoDevice);

        assertEquals(cudaError.cudaErrorNoDevice, without.cudaMalloc(new Pointer(), 1));
    }
}
