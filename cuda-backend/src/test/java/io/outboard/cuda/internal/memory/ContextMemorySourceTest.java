package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemoryUser;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.Test;

class ContextMemorySourceTest {

    private static final long REGION_BYTES = 4L << 20;

    /** The number of collections that are tried; one is enough unless something else keeps the object for a moment. */
    private static final int MOST_COLLECTIONS = 20;

    private final FakeCuda cuda = new FakeCuda(2);
    private final StreamCaptures captures = new StreamCaptures();
    private final long context = cuda.createContext(1);
    private final ContextMemorySource source = new ContextMemorySource(new CudaContext(cuda, context, 0, captures));

    @Test
    void shouldTakeFromItsContextWhicheverIsCurrent() {
        final Region region = source.take(REGION_BYTES);

        assertAll(
                () -> assertEquals(REGION_BYTES, region.sizeBytes()),
                () -> assertEquals(REGION_BYTES, cuda.usedBytes(1)),
                () -> assertEquals(FakeCuda.TOTAL_BYTES - REGION_BYTES, source.availableBytes()),
                () -> assertEquals(0, cuda.currentContextOrZero()));
        source.giveBack(region);
        assertAll(() -> assertEquals(0, cuda.usedBytes(1)), () -> assertFalse(captures.isEntered()));
    }

    @Test
    void shouldSayWhatTheDeviceHasFreeWhenItIsFull() {
        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> source.take(2 * FakeCuda.TOTAL_BYTES));

        assertAll(
                () -> assertEquals(FakeCuda.TOTAL_BYTES, thrown.freeBytes()),
                () -> assertEquals(0, cuda.lastError()),
                () -> assertEquals(0, cuda.currentContextOrZero()));
    }

    @Test
    void shouldFillAndReadInItsContext() {
        final long address = source.take(REGION_BYTES).address();
        final ByteBuffer bytes = ByteBuffer.allocateDirect(2);

        assertTrue(source.fill(address, 1000, (byte) 7));
        assertTrue(source.read(address + 999, bytes));

        assertAll(
                () -> assertEquals(7, bytes.get(0)),
                () -> assertEquals(0, bytes.get(1)),
                () -> assertEquals(0, cuda.currentContextOrZero()),
                () -> assertFalse(captures.isEntered()));
        cuda.failAt(1, cudaError.cudaErrorIllegalAddress);
        assertThrows(CudaFailureException.class, () -> source.read(address, bytes));
        cuda.failAt(1, cudaError.cudaErrorStreamCaptureImplicit);
        assertFalse(source.read(address, bytes), "somebody captures a stream and hasn't said so");
        assertFalse(captures.isEntered());
    }

    @Test
    void shouldNeitherFillNorReadDuringACaptureNorAfterTheEnd() {
        final long address = source.take(REGION_BYTES).address();
        final ByteBuffer bytes = ByteBuffer.allocateDirect(1);
        captures.begin(5, context);

        assertFalse(source.fill(address, 1, (byte) 7));
        captures.ended(5);
        assertTrue(source.read(address, bytes));
        assertEquals(0, bytes.get(0));
        cuda.endContext(context);
        source.contextEnded();
        assertFalse(source.fill(address, 1, (byte) 7));
        assertFalse(source.read(address, bytes));
        assertFalse(captures.isEntered());
    }

    @Test
    void shouldRefuseWhatItDoesNotHaveOut() {
        final Region region = source.take(REGION_BYTES);
        source.giveBack(region);

        assertAll(
                () -> assertThrows(IllegalArgumentException.class, () -> source.take(0)),
                () -> assertThrows(IllegalArgumentException.class, () -> source.giveBack(region)));
    }

    @Test
    void shouldKeepARegionThatCudaDoesNotTakeBack() {
        final Region region = source.take(REGION_BYTES);
        cuda.failAt(1, cudaError.cudaErrorIllegalAddress);

        assertThrows(CudaFailureException.class, () -> source.giveBack(region));

        source.giveBack(region);
        assertAll(() -> assertEquals(0, cuda.usedBytes(1)), () -> assertFalse(captures.isEntered()));
    }

    @Test
    void shouldGiveEverythingBackOnClose() {
        source.take(REGION_BYTES);
        source.take(REGION_BYTES);
        source.take(REGION_BYTES);
        cuda.failAt(1, cudaError.cudaErrorIllegalAddress);

        assertThrows(CudaFailureException.class, source::close);

        source.close();
        assertAll(
                () -> assertEquals(REGION_BYTES, cuda.usedBytes(1), "all but the first"),
                () -> assertThrows(IllegalStateException.class, () -> source.take(1)));
    }

    /** A pool that is lost without having been closed must not stay in memory for as long as its source. */
    @Test
    void shouldNotKeepAUserThatIsLost() {
        final Reference<MemoryUser> user = addUser();

        for (int i = 0; i < MOST_COLLECTIONS && user.get() != null; i++) {
            System.gc();
        }

        assertNull(user.get());
    }

    /** Adds a user, which only the source knows once this method has returned. */
    private Reference<MemoryUser> addUser() {
        final MemoryUser user = new MemoryUser() {
            @Override
            public void giveBack(final long bytes) {}

            @Override
            public long usedBytes() {
                return 0;
            }
        };
        source.addUser(user);
        return new WeakReference<>(user);
    }
}
