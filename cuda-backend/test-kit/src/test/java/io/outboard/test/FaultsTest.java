package io.outboard.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.Pool;
import io.outboard.pool.PoolListener;
import io.outboard.pool.ReusePolicy;
import io.outboard.pool.simulated.SimulatedDevice;
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
        assertTrue(error.getMessage().startsWith("2 faults:\nleak: block ["), error.getMessage());
        assertTrue(error.getMessage().contains("100 bytes] wasn't freed"), error.getMessage());
        assertTrue(error.getMessage().contains("200 bytes] wasn't freed"), error.getMessage());
        assertEquals(2, error.getSuppressed().length);
    }

    @Test
    void shouldNotNameEachOfManyLeaks() {
        for (int i = 0; i < 500; i++) {
            pool.allocate(256);
        }

        final MemoryFaultError error = assertThrows(MemoryFaultError.class, gpu::check);
        assertTrue(
                error.getMessage().startsWith("500 faults, the first 10 of them:\nleak: block ["), error.getMessage());
        assertEquals(10, error.getSuppressed().length);
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

    /** As CUDA's copies and fills do, which have nothing to do then. */
    @Test
    void shouldTakeNoBytesForNoAccess() {
        final long a = pool.allocate(256);

        gpu.memory().writeInts(a + 256);
        assertEquals(0, gpu.memory().readBytes(a + 256, 0).length);
        gpu.memory().copy(a + 256, a, 0);
        pool.free(a);
        gpu.memory().fill(a, 0, (byte) 1);

        assertNoFault();
    }

    @Test
    void shouldFindSizesThatNoArrayHas() {
        final long a = pool.allocate(256);

        assertThrows(MemoryFaultError.class, () -> gpu.memory().readDoubles(a, 1 << 30));
        assertFault("bounds: the test reads 8GiB", "at offset 0 of block", "past its end");
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readBytes(a, 1 << 30));
        assertFault("bounds: the test reads 1GiB", "past its end");
        assertThrows(MemoryFaultError.class, () -> gpu.memory().copy(a, a, 1L << 40));
        assertFault("bounds: the test reads 1TiB", "past its end");
    }

    @Test
    void shouldFindAKernelThatRunsIntoABlockThatWasFreedMeanwhile() {
        final long a = pool.allocate(256);
        final long b = pool.allocate(256);
        assertEquals(a + 256, b, "or this test shows nothing");
        gpu.stream(1).launch("loop", memory -> memory.writeInts(a + 256, 1), a);
        pool.free(b);

        assertFault("bounds: kernel loop on stream 1 writes 4 bytes at offset 256 of block", "that it wasn't given");
    }

    @Test
    void shouldFindAKernelThatRunsIntoABlockThatIsNewMeanwhile() {
        final long a = pool.allocate(256);
        gpu.stream(1).launch("loop", memory -> memory.writeInts(a + 256, 1), a);
        gpu.stream(1).launch("any", memory -> memory.writeDoubles(a + 252, 1));
        final long b = pool.allocate(256);
        assertEquals(a + 256, b, "or this test shows nothing");

        gpu.stream(1).synchronize();
        final String faults = gpu.takeFaults().toString();
        assertTrue(
                faults.contains(
                        "[io.outboard.test.MemoryFaultError: bounds: kernel loop on stream 1 writes 4 bytes at offset 256"),
                faults);
        assertTrue(
                faults.contains(
                        ", io.outboard.test.MemoryFaultError: bounds: kernel any on stream 1 writes 8 bytes at offset 252"),
                faults);
    }

    @Test
    void shouldKnowWhatAKernelMayUseThatWasLaunchedBeforeATrim() {
        final long a = pool.allocate(4096);
        fill(1, a, 4096);
        gpu.stream(2).launch("tail", memory -> memory.fill(a + 2048, 2048, (byte) 1));
        pool.trim(a, 1024);

        assertNoFault();
        fill(1, a, 1025);
        assertFault("hazard: kernel fill on stream 1 fills 1 byte at offset 1024 of block", "which was freed");
        gpu.stream(1).launch("late", memory -> memory.readInt(a + 1024), a);
        assertFault("hazard: kernel late on stream 1 reads 4 bytes at offset 1024 of block", "which was freed");
    }

    @Test
    void shouldFindAKernelThatUsesATailWhichAnotherHas() {
        reopen(ReusePolicy.IMMEDIATE);
        final long a = pool.allocate(4096);
        fill(1, a, 4096);
        pool.trim(a, 1024);
        final long b = pool.allocate(3072);
        assertEquals(a + 1024, b, "or this test shows nothing");

        assertFault("hazard: kernel fill on stream 1 fills 3KiB at offset 0 of block", "handed out after the launch");
    }

    /** Another thread may have the tail before the ledger hears of the trim. */
    @Test
    void shouldHearOfATrimAfterTheTailIsHandedOut() {
        final SimulatedDevice device = new SimulatedDevice();
        final BlockLedger ledger = new BlockLedger(device, MIB);
        ledger.allocated(0, 4096, PoolListener.NO_STREAM);
        device.submit(1);
        ledger.launch("fill", 1, 1, 0);
        ledger.allocated(2048, 1024, PoolListener.NO_STREAM);
        ledger.resized(0, 1024);

        ledger.check(null, "reads", 2048, 1024);
        assertEquals(List.of(), ledger.takeFaults());
        assertThrows(MemoryFaultError.class, () -> ledger.check(null, "reads", 1024, 4));
        assertThrows(MemoryFaultError.class, () -> ledger.check(null, "reads", 3072, 4));
    }

    @Test
    void shouldForgetWhatABlockGrewOver() {
        final long a = pool.allocate(1024);
        final long b = pool.allocate(512);
        final long c = pool.allocate(1024);
        assertEquals(a + 1536, c, "or this test shows nothing");
        pool.free(b);
        pool.free(c);
        pool.trimTo(0);
        assertTrue(pool.extend(a, 2048));
        gpu.stream(1).launch("all", memory -> memory.fill(a, 2048, (byte) 1), a);
        gpu.stream(1).launch("last", memory -> memory.fill(c, 512, (byte) 1), a);
        pool.free(a);

        assertNoFault();
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(c + 512));
        assertFault("hazard: the test reads 4 bytes at offset 512 of block", "which was freed");
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

    /** The stream's next request may have the block though it is a little smaller; the kernel may use all of it. */
    @Test
    void shouldLetAKernelUseItsBlockOfWhichAnotherHasAPart() {
        reopen(ReusePolicy.STREAM_ORDERED);
        final long a = pool.allocateAsync(4096, 1);
        gpu.stream(1).launch("loop", memory -> {
            for (int i = 0; i < 4096; i += 4) {
                memory.writeInts(a + i, i);
            }
            memory.fill(a, 4096, (byte) 1);
        });
        pool.freeAsync(a, 1);
        final long b = pool.allocateAsync(3800, 1);
        assertEquals(a, b, "or this test shows nothing");

        assertNoFault();
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(a + 3900));
        assertFault("hazard: the test reads 4 bytes at offset 3900 of block", "which was freed");
        fill(1, b, 3801);
        assertFault("bounds: kernel fill on stream 1 fills", "past its end");
    }

    private long reusedOnStream1() {
        reopen(ReusePolicy.STREAM_ORDERED);
        final long a = pool.allocateAsync(256, 1);
        fill(1, a, 256);
        pool.freeAsync(a, 1);
        assertEquals(a, pool.allocateAsync(256, 1), "or this test shows nothing");
        return a;
    }

    @Test
    void shouldFindABlockThatAnotherStreamUsesTooEarly() {
        final long b = reusedOnStream1();
        assertThrows(MemoryFaultError.class, () -> fill(2, b, 256));
        assertFault("hazard: kernel fill on stream 2 is given 0x", "which kernel fill on stream 1 may still use");

        gpu.stream(2).waitFor(gpu.stream(1));
        fill(2, b, 256);
        pool.freeAsync(b, 2);
        assertNoFault();
    }

    @Test
    void shouldFindThatABlockIsUsedBeforeItsLastOwnersKernelHasRun() {
        final long b = reusedOnStream1();
        gpu.stream(2).launch("any", memory -> memory.readInt(b));
        gpu.stream(2).synchronize();
        assertEquals(1, gpu.takeFaults().size());
        assertThrows(MemoryFaultError.class, () -> gpu.memory().readInt(b));
        assertFault("hazard: the test reads 4 bytes at offset 0", "which kernel fill on stream 1 may still use");

        gpu.stream(1).synchronize();
        gpu.memory().readInt(b);
        assertNoFault();
    }

    @Test
    void shouldFindThatABlockIsFreedOnAnotherStreamBeforeItsLastOwnersKernelHasRun() {
        final long b = reusedOnStream1();
        pool.freeAsync(b, 2);

        assertFault("is freed while kernel fill on stream 1 may still use it, with reuse STREAM_ORDERED");
    }

    /** A pool that asks another device, which is idle, hands blocks out that kernels still use. */
    @Test
    void shouldFindABlockThatIsHandedOutTooEarly() {
        gpu.close();
        gpu = SimulatedGpu.open(4 * MIB, builder -> builder.reuse(ReusePolicy.STRICT, new SimulatedDevice()));
        pool = gpu.pool();
        final long a = pool.allocate(4 * MIB);
        fill(1, a, 256);
        pool.free(a);
        assertEquals(a, pool.allocate(4 * MIB));

        assertFault("hazard: block [", "is handed out again while kernel fill on stream 1 may still use it");
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
