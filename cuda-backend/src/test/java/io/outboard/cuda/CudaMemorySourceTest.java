package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.FakeCuda;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.Test;

/**
 * This class tests the contract over simulated devices, and what only those can show: several devices, and failures at
 * will.
 */
class CudaMemorySourceTest extends CudaMemorySourceContract {

    private static final long REGION_BYTES = 64L << 20;

    private final FakeCuda cuda = new FakeCuda(2);

    @Override
    CudaCalls calls() {
        return cuda;
    }

    @Test
    void shouldTakeFromItsDeviceAndLeaveTheCurrentOneAsFound() {
        try (CudaMemorySource second = CudaMemorySource.open(cuda, 1)) {
            second.take(REGION_BYTES);

            assertAll(
                    () -> assertEquals(REGION_BYTES, cuda.usedBytes(1)),
                    () -> assertEquals(0, cuda.usedBytes(0)),
                    () -> assertEquals(REGION_BYTES, second.usedBytes()),
                    () -> assertEquals(0, cuda.current()));
        }
        assertAll(() -> assertEquals(0, cuda.usedBytes(1)), () -> assertEquals(0, cuda.current()));
    }

    /** A context takes some hundred MiB, and a process for each device would have one on the first device, too. */
    @Test
    void shouldMakeNoContextOfAnotherDevice() {
        final FakeCuda fresh = new FakeCuda(2);

        try (CudaMemorySource second = CudaMemorySource.open(fresh, 1)) {
            second.take(REGION_BYTES);

            final long[] first = {1};
            fresh.primaryContext(first, 0);
            assertAll(() -> assertEquals(0, first[0]), () -> assertEquals(0, fresh.currentContextOrZero()));
        }
    }

    /** A primary context of the first device used to take the place of the program's own. */
    @Test
    void shouldLeaveTheProgramsOwnContextAsFound() {
        final long ofProgram = 0xD100;
        cuda.pushContext(ofProgram);

        try (CudaMemorySource second = CudaMemorySource.open(cuda, 1)) {
            final long[] now = new long[1];
            cuda.currentContext(now);
            assertEquals(ofProgram, now[0]);
            assertEquals(1, second.device().ordinal());
        }
    }

    @Test
    void shouldLeaveTheCurrentDeviceAsFoundWhenItRunsOut() {
        try (CudaMemorySource second = CudaMemorySource.open(cuda, 1)) {
            assertThrows(DeviceOutOfMemoryException.class, () -> second.take(FakeCuda.TOTAL_BYTES + 1));

            assertEquals(0, cuda.current());
        }
    }

    @Test
    void shouldTakeBackOnAnyThread() throws InterruptedException {
        try (CudaMemorySource second = CudaMemorySource.open(cuda, 1)) {
            final Region region = second.take(REGION_BYTES);

            final ExecutorService other = Executors.newSingleThreadExecutor();
            other.execute(() -> second.giveBack(region));
            other.shutdown();
            assertTrue(other.awaitTermination(10, TimeUnit.SECONDS));

            assertEquals(0, cuda.usedBytes(1));
        }
    }

    @Test
    void shouldClearTheLastErrorThatItReports() {
        try (CudaMemorySource source = CudaMemorySource.open(cuda, 0)) {
            assertThrows(DeviceOutOfMemoryException.class, () -> source.take(FakeCuda.TOTAL_BYTES + 1));

            assertEquals(CudaCalls.SUCCESS, cuda.lastError());
        }
    }

    @Test
    void shouldSayWhichDevicesThereAre() {
        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(cuda, 2));

        assertTrue(messageOf(thrown).startsWith("device=2 must be < 2, the number of CUDA devices"), messageOf(thrown));
    }

    @Test
    void shouldSayThatThereIsNoDevice() {
        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(new FakeCuda(0), 0));

        assertTrue(
                messageOf(thrown).startsWith("no CUDA device")
                        && messageOf(thrown).contains("nvidia-smi"),
                messageOf(thrown));
    }

    @Test
    void shouldSayThatTheDriverIsTooOld() {
        cuda.failAt(1, cudaError.cudaErrorInsufficientDriver);

        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(cuda, 0));

        assertTrue(
                messageOf(thrown).startsWith("the NVIDIA driver is too old: it supports CUDA 13.0"), messageOf(thrown));
    }

    @Test
    void shouldSayThatTheDriverIsAStub() {
        cuda.failAt(1, cudaError.cudaErrorStubLibrary);

        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(cuda, 0));

        assertTrue(messageOf(thrown).contains("stub"), messageOf(thrown));
    }

    @Test
    void shouldSayWhyADeviceCannotBeUsed() {
        cuda.failAt(2, cudaError.cudaErrorDevicesUnavailable);

        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaMemorySource.open(cuda, 0));

        assertTrue(
                messageOf(thrown)
                        .startsWith("device=0 can't be used: cudaGetDeviceProperties failed:"
                                + " cudaErrorDevicesUnavailable (46)"),
                messageOf(thrown));
    }

    @Test
    void shouldRefuseNegativeOrdinalBeforeItTouchesJCuda() {
        final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> CudaMemorySource.open(-1));

        assertEquals("device=-1 must be >= 0", refused.getMessage());
    }

    @Test
    void shouldKeepCodeAndNameOfAFailure() {
        try (CudaMemorySource source = CudaMemorySource.open(cuda, 0)) {
            final Region region = source.take(REGION_BYTES);
            cuda.failAt(1, cudaError.cudaErrorIllegalAddress);

            final CudaFailureException thrown = assertThrows(CudaFailureException.class, () -> source.giveBack(region));

            assertAll(
                    () -> assertEquals("cuMemFree failed: cudaErrorIllegalAddress (700)", thrown.getMessage()),
                    () -> assertEquals(700, thrown.code()),
                    () -> assertEquals("cudaErrorIllegalAddress", thrown.codeName()),
                    () -> assertEquals(REGION_BYTES, cuda.usedBytes(0)));
            source.giveBack(region);
            assertEquals(0, cuda.usedBytes(0));
        }
    }

    @Test
    void shouldTryEveryRegionOnCloseWhenOneFails() {
        final CudaMemorySource source = CudaMemorySource.open(cuda, 0);
        source.take(REGION_BYTES);
        source.take(2 * REGION_BYTES);
        source.take(4 * REGION_BYTES);
        cuda.failAt(2, cudaError.cudaErrorUnknown);

        assertThrows(CudaFailureException.class, source::close);
        source.close();

        assertEquals(2 * REGION_BYTES, cuda.usedBytes(0));
    }

    @Test
    void shouldLeakNothingWhicheverCallFails() {
        int call = 0;
        do {
            call++;
            cuda.failAt(call, cudaError.cudaErrorUnknown);
            runAndClose();
            final int failed = call;
            assertAll(
                    () -> assertEquals(0, cuda.usedBytes(1), "after failure of call " + failed),
                    () -> assertEquals(CudaCalls.SUCCESS, cuda.lastError()),
                    () -> assertEquals(0, cuda.current()));
        } while (!cuda.failedCall().isEmpty());
        assertTrue(call > 10, "calls=" + call);
    }

    /** Runs a scenario that may fail at any point, then closes the source on a device that works again. */
    private void runAndClose() {
        final CudaMemorySource source;
        try {
            source = CudaMemorySource.open(cuda, 1);
        } catch (final CudaUnavailableException e) {
            return;
        }
        try {
            final Region region = source.take(REGION_BYTES);
            source.takeShare(0.5);
            source.giveBack(region);
            source.availableBytes();
        } catch (final CudaFailureException e) {
            assertEquals("cudaErrorUnknown", e.codeName());
        }
        // The check after the loop needs to know whether the failure reached the scenario itself.
        cuda.heal();
        source.close();
    }

    @Test
    void shouldNotBreakACapture() {
        final FakeCuda cuda = new FakeCuda(1);
        final CudaMemorySource source = CudaMemorySource.open(cuda, 0);
        cuda.setDevice(0);
        final long stream = cuda.streams().createStream(cuda.currentContextOrZero());
        assertEquals(0, cuda.streams().beginCapture(stream));

        source.giveBack(source.take(1 << 20));

        assertTrue(cuda.streams().endCapture(stream), "the capture is whole");
    }
}
