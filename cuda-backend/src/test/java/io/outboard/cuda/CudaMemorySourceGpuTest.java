package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.CudaCalls;
import java.util.Arrays;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaMemcpyKind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * This class tests the contract over a real device, and what only a real one can show. The twin without a GPU is {@link
 * CudaMemorySourceTest}.
 */
@Tag("gpu")
class CudaMemorySourceGpuTest extends CudaMemorySourceContract {

    private static final long REGION_BYTES = 1L << 30;
    private static final int PROBE_BYTES = 4096;

    @Override
    CudaCalls calls() {
        return Gpu.require();
    }

    @Test
    void shouldBeUsableOverItsWholeLength() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            // An odd length shows that not even the last byte is missing.
            final Region region = source.take(REGION_BYTES - 1);

            assertEquals(
                    cudaError.cudaSuccess,
                    JCuda.cudaMemset(DevicePointers.pointerTo(region.address()), 0xA5, region.sizeBytes()));

            assertAll(
                    () -> assertPoisoned(region.address()),
                    () -> assertPoisoned(region.address() + region.sizeBytes() / 2),
                    () -> assertPoisoned(region.endAddress() - PROBE_BYTES));
        }
    }

    @Test
    void shouldKeepTwoRegionsApart() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            final Region first = source.take(REGION_BYTES);
            final Region second = source.take(REGION_BYTES);

            JCuda.cudaMemset(DevicePointers.pointerTo(first.address()), 0xA5, first.sizeBytes());
            JCuda.cudaMemset(DevicePointers.pointerTo(second.address()), 0x5A, second.sizeBytes());

            assertAll(
                    () -> assertPoisoned(first.address()),
                    () -> assertPoisoned(first.endAddress() - PROBE_BYTES),
                    () -> assertEquals(cudaError.cudaSuccess, JCuda.cudaGetLastError()));
        }
    }

    @Test
    void shouldReadTheAddressThatJCudaWrites() {
        final Pointer pointer = new Pointer();
        assertEquals(cudaError.cudaSuccess, JCuda.cudaMalloc(pointer, PROBE_BYTES));

        final long address = DevicePointers.address(pointer);
        final int freed = JCuda.cudaFree(DevicePointers.pointerTo(address));

        assertAll(
                () -> assertEquals(0, address % 256),
                () -> assertEquals(cudaError.cudaSuccess, freed),
                () -> assertEquals(address + 256, DevicePointers.address(pointer.withByteOffset(256))));
    }

    @Test
    void shouldLeaveTheCurrentDeviceAsFound() {
        final int[] count = new int[1];
        JCuda.cudaGetDeviceCount(count);
        final int other = count[0] - 1;
        assertEquals(cudaError.cudaSuccess, JCuda.cudaSetDevice(other));
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            source.giveBack(source.take(REGION_BYTES));
            assertThrows(
                    DeviceOutOfMemoryException.class,
                    () -> source.take(2 * source.device().totalBytes()));

            final int[] current = {-1};
            JCuda.cudaGetDevice(current);

            assertEquals(other, current[0]);
        } finally {
            JCuda.cudaSetDevice(0);
        }
    }

    @Test
    void shouldClearTheLastErrorThatItReports() {
        // Another test may have left an error.
        JCuda.cudaGetLastError();
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            assertThrows(
                    DeviceOutOfMemoryException.class,
                    () -> source.take(2 * source.device().totalBytes()));

            assertEquals(cudaError.cudaSuccess, JCuda.cudaGetLastError());
        }
    }

    @Test
    void shouldReportFailureWhenJCudaReturnsTheCode() {
        assertFreeingTwiceIsReported();
    }

    @Test
    void shouldReportFailureWhenJCudaThrows() {
        JCuda.setExceptionsEnabled(true);
        try {
            assertFreeingTwiceIsReported();

            // The program has turned exceptions on, and the switch must have stayed so.
            assertThrows(CudaException.class, () -> JCuda.cudaSetDevice(1 << 20));
        } finally {
            JCuda.setExceptionsEnabled(false);
        }
    }

    @Test
    void shouldReportExhaustionWhenJCudaThrows() {
        JCuda.setExceptionsEnabled(true);
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            final DeviceOutOfMemoryException full = assertThrows(
                    DeviceOutOfMemoryException.class,
                    () -> source.take(2 * source.device().totalBytes()));

            assertEquals("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)", full.reason());
            source.giveBack(source.take(REGION_BYTES));
        } finally {
            JCuda.setExceptionsEnabled(false);
        }
    }

    /** Frees a region behind the source's back, so that the source's own cudaFree fails. */
    private static void assertFreeingTwiceIsReported() {
        final CudaMemorySource source = CudaMemorySource.open(0);
        final Region region = source.take(REGION_BYTES);
        assertEquals(cudaError.cudaSuccess, JCuda.cudaFree(DevicePointers.pointerTo(region.address())));

        final CudaFailureException failure = assertThrows(CudaFailureException.class, () -> source.giveBack(region));

        assertAll(
                () -> assertEquals(cudaError.cudaErrorInvalidValue, failure.code()),
                () -> assertEquals("cuMemFree failed: cudaErrorInvalidValue (1)", failure.getMessage()),
                () -> assertThrows(CudaFailureException.class, source::close));
    }

    private static void assertPoisoned(final long address) {
        final byte[] expected = new byte[PROBE_BYTES];
        Arrays.fill(expected, (byte) 0xA5);
        final byte[] actual = new byte[PROBE_BYTES];

        final int code = JCuda.cudaMemcpy(
                Pointer.to(actual),
                DevicePointers.pointerTo(address),
                PROBE_BYTES,
                cudaMemcpyKind.cudaMemcpyDeviceToHost);

        assertEquals(cudaError.cudaSuccess, code);
        assertArrayEquals(expected, actual);
    }
}
