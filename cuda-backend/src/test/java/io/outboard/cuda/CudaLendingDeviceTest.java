package io.outboard.cuda;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.service.LendingDevice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;

/** This class tests memory that is lent, over a simulated driver. */
class CudaLendingDeviceTest {

    private static final long MIB = 1L << 20;
    private static final long TOTAL = 101 * MIB;
    private static final int MOST_NAME_BYTES = 32;

    private final FakeVirtualMemory memory = new FakeVirtualMemory(TOTAL);
    private final FakeSharedMemory shared = new FakeSharedMemory(memory, TOTAL);

    private CudaLendingDevice open(final double share) {
        return CudaLendingDevice.open(() -> shared, 1, share);
    }

    @Test
    void shouldSayWhichDeviceItIsWhateverItsNumber() {
        try (LendingDevice device = open(0.5);
                LendingDevice other = CudaLendingDevice.open(() -> shared, 0, 1)) {
            assertEquals("cuda:a1a2a3a4-a5a6-a7a8-a9aa", device.name());
            assertNotEquals(device.name(), other.name());
            assertTrue(device.name().getBytes(StandardCharsets.UTF_8).length <= MOST_NAME_BYTES);
        }
    }

    @Test
    void shouldLendAShareInWholeUnits() {
        assertEquals(50 * MIB, open(0.5).limitBytes());
        assertEquals(100 * MIB, open(1).limitBytes());
        assertEquals(2 * MIB, open(0.5).unitBytes());
        assertEquals(
                6 * MIB, CudaLendingDevice.openBytes(() -> shared, 1, 7 * MIB).limitBytes());
    }

    @Test
    void shouldMakeMemoryAndKeepNothingOfIt() throws IOException {
        try (LendingDevice device = open(1)) {
            final LendingDevice.Memory made = device.create(4 * MIB);
            assertEquals(1, shared.handles());
            assertEquals(1, shared.descriptors());

            made.close();
            made.close();

            assertEquals(0, shared.handles());
            assertEquals(0, shared.descriptors());
        }
    }

    /** The lender tries again. */
    @Test
    void shouldSayThatItIsFull() {
        try (LendingDevice device = open(1)) {
            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> device.create(102 * MIB));

            assertEquals("cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2)", thrown.reason());
        }
    }

    @Test
    void shouldOpenADeviceThatIsFull() {
        memory.adopt(TOTAL);
        assertEquals(100 * MIB, open(1).limitBytes());
    }

    @Test
    void shouldLeaveNothingWhicheverCallFails() {
        int call = 0;
        do {
            call++;
            memory.failAt(call, CUresult.CUDA_ERROR_UNKNOWN);
            try (LendingDevice device = open(1)) {
                device.create(4 * MIB).close();
                device.create(6 * MIB).close();
            } catch (final IOException | CudaUnavailableException e) {
                assertTrue(messageOf(e).contains("CUDA_ERROR_UNKNOWN (999)"), messageOf(e));
            }
            assertEquals(0, shared.handles(), memory.failedCall());
            assertEquals(0, shared.descriptors(), memory.failedCall());
        } while (!memory.failedCall().isEmpty());
        assertTrue(call > 12, "calls=" + call);
    }

    @Test
    void shouldRefuseWhatIsOutsideOfItsRange() {
        for (final double share : new double[] {0, -0.1, 1.01, Double.NaN}) {
            assertEquals(
                    "share=" + share + " must be > 0 and <= 1",
                    messageOf(assertThrows(IllegalArgumentException.class, () -> open(share))));
        }
        assertEquals(
                "what is lent of device=1 must be >= 2097152 bytes, of 105906176",
                messageOf(assertThrows(IllegalArgumentException.class, () -> open(0.01))));
        assertEquals(
                "limitBytes=0 must be > 0",
                messageOf(assertThrows(IllegalArgumentException.class, () -> CudaLendingDevice.openBytes(0, 0))));
        assertEquals(
                "limitBytes=105906177 must be <= 105906176, what device 1 has",
                messageOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> CudaLendingDevice.openBytes(() -> shared, 1, TOTAL + 1))));
        assertEquals(
                "device=-1 must be >= 0",
                messageOf(assertThrows(IllegalArgumentException.class, () -> CudaLendingDevice.open(-1, 1))));
    }

    @Test
    void shouldSayWhatIsMissing() {
        Gpu.requireNone();

        final CudaUnavailableException thrown =
                assertThrows(CudaUnavailableException.class, () -> CudaLendingDevice.open(0, 0.9));

        assertTrue(messageOf(thrown).contains("JDK 22 or newer, this is " + Runtime.version()), messageOf(thrown));
    }
}
