package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** This class tests what holds over a real device and over a simulated one alike. */
abstract class CudaMemorySourceContract {

    private static final long REGION_BYTES = 256L << 20;
    /** The driver may keep or take a few pages of its own between two readings. */
    private static final long TOLERANCE_BYTES = 32L << 20;

    private CudaMemorySource source;

    /** Returns CUDA's calls, or skips the test where there is no CUDA. */
    abstract CudaCalls calls();

    @BeforeEach
    void open() {
        source = CudaMemorySource.open(calls(), 0);
        // The first allocation of a process may cost the driver memory that it never returns.
        source.giveBack(source.take(1));
    }

    @AfterEach
    void close() {
        if (source != null) {
            source.close();
        }
    }

    @Test
    void shouldReserveDeviceMemoryOnTakeAndReturnItOnGiveBack() {
        final long usedBefore = source.usedBytes();

        final Region region = source.take(REGION_BYTES);
        final long usedWhileOut = source.usedBytes();
        source.giveBack(region);
        final long usedAfter = source.usedBytes();

        assertAll(
                () -> assertEquals(REGION_BYTES, region.sizeBytes()),
                () -> assertEquals(0, region.address() % 256, "alignment of " + region),
                () -> assertTrue(region.address() > 0, "address of " + region),
                () -> assertNear(usedBefore + REGION_BYTES, usedWhileOut),
                () -> assertNear(usedBefore, usedAfter));
    }

    @Test
    void shouldHandOutDisjointRegions() {
        final Region first = source.take(REGION_BYTES);
        final Region second = source.take(1);
        final Region third = source.take(REGION_BYTES - 1);

        assertAll(
                () -> assertDisjoint(first, second),
                () -> assertDisjoint(first, third),
                () -> assertDisjoint(second, third));
    }

    @Test
    void shouldTakeShareOfFreeMemoryInWholePages() {
        final long availableBytes = source.availableBytes();

        final Region region = source.takeShare(0.25);

        assertAll(
                () -> assertEquals(0, region.sizeBytes() % (2L << 20)),
                () -> assertNear(availableBytes / 4, region.sizeBytes()),
                () -> assertNear(availableBytes - region.sizeBytes(), source.availableBytes()));
    }

    @Test
    void shouldRefuseSharesOutsideOfTheirRange() {
        for (final double share : new double[] {0, -0.5, 1.000001, Double.NaN, Double.POSITIVE_INFINITY}) {
            final IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> source.takeShare(share));
            assertEquals("share=" + share + " must be > 0 and <= 1", refused.getMessage());
        }
    }

    @Test
    void shouldReportShareThatIsSmallerThanOnePage() {
        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> source.takeShare(Double.MIN_VALUE));

        assertEquals(2L << 20, thrown.requestedBytes());
    }

    @Test
    void shouldTellWhatTheDeviceReportsWhenItIsOutOfMemory() {
        final long totalBytes = source.device().totalBytes();
        final long usedBefore = source.usedBytes();

        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> source.take(2 * totalBytes));

        assertAll(
                () -> assertEquals(2 * totalBytes, thrown.requestedBytes()),
                () -> assertNear(totalBytes - usedBefore, thrown.freeBytes()),
                () -> assertEquals("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)", thrown.reason()),
                () -> assertTrue(messageOf(thrown).contains(" of " + ByteSize.exact(totalBytes)), messageOf(thrown)),
                () -> assertNear(usedBefore, source.usedBytes()));
    }

    @Test
    void shouldServeAgainAfterRunningOut() {
        assertThrows(
                DeviceOutOfMemoryException.class,
                () -> source.take(2 * source.device().totalBytes()));

        final Region region = assertDoesNotThrow(() -> source.take(REGION_BYTES));

        source.giveBack(region);
    }

    @Test
    void shouldRefuseEmptyAndNegativeSizes() {
        for (final long sizeBytes : new long[] {0, -1, Long.MIN_VALUE}) {
            final IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> source.take(sizeBytes));
            assertEquals("sizeBytes=" + sizeBytes + " must be > 0", refused.getMessage());
        }
    }

    @Test
    void shouldRefuseRegionThatWasGivenBackBefore() {
        final Region region = source.take(REGION_BYTES);
        source.giveBack(region);

        final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> source.giveBack(region));

        assertEquals("region=" + region + " must be one that this source has out", refused.getMessage());
    }

    @Test
    void shouldRefuseRegionOfAnotherSize() {
        final Region region = source.take(REGION_BYTES);

        assertThrows(
                IllegalArgumentException.class,
                () -> source.giveBack(new Region(region.address(), region.sizeBytes() - 1)));
    }

    @Test
    void shouldGiveEverythingBackOnCloseAndCloseTwice() {
        final long usedBefore = source.usedBytes();
        final Region region = source.take(REGION_BYTES);
        source.takeShare(0.1);

        source.close();
        source.close();

        assertAll(
                () -> assertNear(usedBefore, source.usedBytes()),
                () -> assertEquals(0, source.availableBytes()),
                () -> assertThrows(IllegalStateException.class, () -> source.take(1)),
                () -> assertThrows(IllegalStateException.class, () -> source.takeShare(0.5)),
                () -> assertThrows(IllegalArgumentException.class, () -> source.giveBack(region)));
    }

    @Test
    void shouldKnowItsDevice() {
        final CudaDevice device = source.device();

        assertAll(
                () -> assertEquals(0, device.ordinal()),
                () -> assertTrue(!device.name().isBlank() && device.name().indexOf('\0') < 0, device.name()),
                () -> assertTrue(device.driverVersion() >= 12000, "driverVersion=" + device.driverVersion()),
                () -> assertEquals(12, device.runtimeVersion() / 1000, "runtimeVersion=" + device.runtimeVersion()),
                () -> assertTrue(device.totalBytes() >= source.availableBytes(), device.toString()),
                () -> assertTrue(device.toString().contains("CUDA runtime 12."), device.toString()));
    }

    @Test
    void shouldNameTheNumberOfDevicesWhenTheOrdinalIsTooLarge() {
        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(calls(), 1000));

        assertTrue(messageOf(thrown).startsWith("device=1000 must be < "), messageOf(thrown));
    }

    private static void assertNear(final long expectedBytes, final long actualBytes) {
        assertTrue(
                Math.abs(actualBytes - expectedBytes) <= TOLERANCE_BYTES,
                () -> "expected about " + expectedBytes + " bytes but was " + actualBytes);
    }

    private static void assertDisjoint(final Region left, final Region right) {
        assertTrue(
                left.endAddress() <= right.address() || right.endAddress() <= left.address(),
                () -> left + " overlaps " + right);
    }
}
