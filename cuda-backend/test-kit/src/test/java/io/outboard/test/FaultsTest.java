package io.outboard.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** These tests say what a simulated GPU takes for a fault, and what not, by the pool's reuse policy. */
class FaultsTest {

    private static final long MIB = 1L << 20;

    private SimulatedGpu gpu = SimulatedGpu.open(4 * MIB);
    private Pool pool = gpu.pool();

    @AfterEach
    void close() {
        gpu.close();
    }

    private void reopen(final ReusePolicy policy) {
        gpu.close();
        gpu = SimulatedGpu.open(4 * MIB, builder -> builder.reuse(policy));
        pool = gpu.pool();
    }

    /** Runs everything, and expects one fault, whose message has these parts. */
    private void assertFault(final String... parts) {
        gpu.synchronize();
        final List<MemoryFaultError> faults = gpu.takeFaults();
        assertEquals(1, faults.size(), faults::toString);
        for (final String part : parts) {
            assertTrue(faults.get(0).getMessage().contains(part), () -> part + " in " + faults.get(0));
        }
    }

    private void assertNoFault() {
        gpu.synchronize();
        assertEquals(List.of(), gpu.takeFaults());
    }

    private void fill(final long stream, final long address, final long sizeBytes) {
        gpu.stream(stream).launch("fill", memory -> memory.fill(address, sizeBytes, (byte) 1), address);
    }

    // Leaks

    @Test
    void shouldFindEachLeak() {
        pool.allocate(100);
        pool.buffer(200);
        pool.free(pool.allocate(300));

        final MemoryFaultError error = assertThrows(MemoryFaultError.class, gpu::check);
        assertTrue(error.getMessage().startsWith("2 faults\nleak: block ["), error.getMessage());
        assertTrue(error.getMessage().contains("100 bytes] wasn't freed"), error.getMessage());
        assertTrue(error.getMessage().contains("200 bytes] wasn't freed"), error.getMessage());
        assertEquals(2, error.getSuppressed().length);
    }

    // Bounds

    @Test
    void shouldFindAnAccessPastTheEnd() {
        final long a = pool.allocate(1000);
        gpu.memory().fill(a, 1000, (byte) 0);

        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a + 998));
        assertFault("bounds: the test reads 4 bytes at offset 998 of block", "past its end");
        assertThrows(MemoryFaultError.class, () -> gpu.memory().writeInts(a + 1000, 1));
        assertFault("bounds: the test writes 4 bytes at offset 1000 of block", "past its end");
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a - 4));
        assertFault("bounds: the test reads 4 bytes at 0x", "in no block");
        assertThrows(MemoryFaultError.class, () -> gpu.memory().fill(a, Long.MAX_VALUE, (byte) 1));
        assertFault("bounds: the test fills");
    }

    @Test
    void shouldNotWriteWhatIsOutOfBounds() {
        final long a = pool.allocate(256);
        gpu.memory().fill(a, 256, (byte) 1);

        assertThrows(MemoryFaultError.class, () -> gpu.memory().fill(a, 257, (byte) 2));
        assertThrows(MemoryFaultError.class, () -> gpu.memory().copy(a, a + 1, 256));

        assertEquals(1, gpu.memory().readBytes(a, 1)[0]);
        assertEquals(1, gpu.memory().readBytes(a + 255, 1)[0]);
    }

    @Test
    void shouldFindAKernelThatRunsIntoTheNextBlock() {
        final long a = pool.allocate(256);
        final long b = pool.allocate(256);
        assertEquals(a + 256, b);

        gpu.stream(1)
                .launch(
                        "loop",
                        memory -> {
                            for (int i = 0; i <= 64; i++) {
                                memory.writeInts(a + 4L * i, i);
                            }
                        },
                        a);
        assertFault("bounds: kernel loop on stream 1 writes 4 bytes at offset 256 of block", "that it wasn't given");

        gpu.stream(1).launch("loop over both", memory -> memory.fill(b, 256, (byte) 1), a, b);
        gpu.stream(1).launch("loop over any", memory -> memory.fill(b, 256, (byte) 1));
        assertNoFault();
    }

    @Test
    void shouldKnowNewSizes() {
        final long a = pool.allocate(4096);

        pool.trim(a, 1024);
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a + 1024));
        assertFault("offset 1024 of block");

        final long b = pool.allocate(1024);
        assertTrue(pool.extend(b, 2048));
        gpu.memory().fill(b, 2048, (byte) 1);
        assertNoFault();
    }

    @Test
    void shouldRefuseALaunchWithAnAddressOfNoBlock() {
        final long a = pool.allocate(256);

        assertThrows(MemoryFaultError.class, () -> fill(1, a + 256, 1));
        assertFault("bounds: kernel fill on stream 1 is given 0x", "which lies in no block");
        assertTrue(gpu.stream(1).isIdle());
    }

    // Hazards

    @ParameterizedTest
    @EnumSource(names = {"STRICT", "STREAM_ORDERED", "IMMEDIATE"})
    void shouldFindAnAccessAfterTheFree(final ReusePolicy policy) {
        reopen(policy);
        final long a = pool.allocate(256);
        pool.free(a);

        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a + 4));
        assertFault("hazard: the test reads 4 bytes at offset 4 of block", ", which was freed");
        assertThrows(MemoryFaultError.class, () -> fill(1, a, 4));
        assertFault("hazard: kernel fill on stream 1 is given 0x", ", which was freed");
        gpu.stream(1).launch("any", memory -> memory.readInt(a));
        assertFault("hazard: kernel any on stream 1 reads 4 bytes at offset 0", ", which was freed");
    }

    @ParameterizedTest
    @EnumSource(names = {"STRICT", "STREAM_ORDERED"})
    void shouldLetAKernelEndAfterAFreeThatWaits(final ReusePolicy policy) {
        reopen(policy);
        final long a = pool.allocate(256);
        fill(1, a, 256);
        gpu.stream(2).launch("any", memory -> memory.readInt(a));
        pool.free(a);

        assertNoFault();
        gpu.check();
    }

    @Test
    void shouldFindBoundsOfABlockThatWasFreedMeanwhile() {
        final long a = pool.allocate(1000);
        fill(1, a, 1001);
        pool.free(a);

        assertFault("bounds: kernel fill on stream 1 fills", "past its end");
    }

    @Test
    void shouldFindAFreeUnderAKernelWithImmediateReuse() {
        reopen(ReusePolicy.IMMEDIATE);
        final long a = pool.allocate(256);
        fill(1, a, 256);
        pool.free(a);
        assertFault("hazard: block [", "is freed while kernel fill on stream 1 may still use it, with reuse IMMEDIATE");

        final long b = pool.allocate(256);
        fill(1, b, 256);
        gpu.stream(1).synchronize();
        pool.free(b);
        assertNoFault();
    }

    /** It wasn't given the address, so nothing is known of it until it runs. */
    @Test
    void shouldFindAKernelThatRunsAfterTheFreeWithImmediateReuse() {
        reopen(ReusePolicy.IMMEDIATE);
        final long a = pool.allocate(256);
        gpu.stream(1).launch("any", memory -> memory.readInt(a));
        pool.free(a);
        assertFault("hazard: kernel any on stream 1 reads", "which was freed meanwhile, with reuse IMMEDIATE");

        final long b = pool.allocate(256);
        gpu.stream(1).launch("any", memory -> memory.readInt(b));
        pool.free(b);
        assertEquals(b, pool.allocate(256));
        assertFault("hazard: kernel any on stream 1 reads", "which was handed out after the launch");
    }

    @Test
    void shouldFindAFreeOnAStreamThatDoesNotWaitForAnother() {
        reopen(ReusePolicy.STREAM_ORDERED);
        final long a = pool.allocateAsync(256, 1);
        fill(1, a, 256);
        fill(2, a, 256);
        pool.freeAsync(a, 1);

        assertFault("is freed while kernel fill on stream 2 may still use it, with reuse STREAM_ORDERED");
    }

    @Test
    void shouldLetAStreamFreeWhatItWaitedFor() {
        reopen(ReusePolicy.STREAM_ORDERED);
        final long a = pool.allocateAsync(256, 1);
        fill(3, a, 256);
        gpu.stream(2).waitFor(gpu.stream(3));
        fill(2, a, 256);
        gpu.stream(1).waitFor(gpu.stream(2));
        pool.freeAsync(a, 1);
        final long b = pool.allocateAsync(256, 1);
        fill(1, b, 256);

        assertEquals(a, b, "or this test shows nothing");
        assertNoFault();
    }

    @Test
    void shouldNotTakeLaterWorkForAwaited() {
        reopen(ReusePolicy.STREAM_ORDERED);
        final long a = pool.allocateAsync(256, 1);
        gpu.stream(1).waitFor(gpu.stream(2));
        fill(2, a, 256);
        pool.freeAsync(a, 1);

        assertFault("is freed while kernel fill on stream 2");
    }

    @Test
    void shouldLetAStreamReuseItsOwnBlocksAtOnce() {
        reopen(ReusePolicy.STREAM_ORDERED);
        final long a = pool.allocateAsync(256, 1);
        fill(1, a, 256);
        gpu.stream(1).launch("any", memory -> memory.readInt(a));
        pool.freeAsync(a, 1);
        final long b = pool.allocateAsync(256, 1);
        assertEquals(a, b, "or this test shows nothing");
        fill(1, b, 256);

        assertNoFault();
    }

    /** A pool that is told that the device has always finished hands blocks out that kernels still use. */
    @Test
    void shouldFindABlockThatIsHandedOutTooEarly() {
        gpu.close();
        gpu = SimulatedGpu.open(4 * MIB, builder -> builder.reuse(ReusePolicy.STRICT, new HastyWork()));
        pool = gpu.pool();
        final long a = pool.allocate(4 * MIB);
        fill(1, a, 256);
        pool.free(a);
        assertEquals(a, pool.allocate(4 * MIB));

        assertFault("hazard: block [", "is handed out again while kernel fill on stream 1 may still use it");
    }

    private static final class HastyWork implements DeviceWork {

        @Override
        public long mark() {
            return 0;
        }

        @Override
        public long mark(final long stream) {
            return 0;
        }

        @Override
        public boolean isFinished(final long mark) {
            return true;
        }

        @Override
        public void await(final long mark) {}

        @Override
        public void release(final long mark) {}

        @Override
        public boolean isCapturing() {
            return false;
        }
    }

    @Test
    void shouldForgetFaultsThatWereTaken() {
        final long a = pool.allocate(256);
        pool.free(a);
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a));

        assertEquals(1, gpu.takeFaults().size());
        gpu.check();
    }

    @Test
    void shouldFailThoughTheProgramCatchesTheError() {
        final long a = pool.allocate(256);
        pool.free(a);
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a));

        assertTrue(assertThrows(MemoryFaultError.class, gpu::checkFaults)
                .getMessage()
                .startsWith("hazard: "));
        gpu.check();
    }
}
