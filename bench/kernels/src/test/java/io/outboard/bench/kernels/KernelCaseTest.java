package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.kernels.worker.MadeKernels;
import io.outboard.cuda.kernels.PreSplit;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelCaseTest {

    @Test
    void shouldReadTheLineThatItWrites() {
        final KernelCase work = new KernelCase(
                new Contender("CFMMalloc", true),
                TestKind.MIX,
                true,
                30720,
                4,
                65536,
                3,
                64L << 30,
                "uniform:4096+end:65536",
                7);

        assertEquals(work, KernelCase.parse(work.line()));
        assertEquals(work.withAged(true), KernelCase.parse(work.withAged(true).line()));
        assertTrue(work.withAged(true).aged());
    }

    @Test
    void shouldHaveKernelsForEachContender() {
        MadeKernels.requireAll();
        for (final String name : Contender.names()) {
            for (final boolean coalesced : new boolean[] {false, !name.equals(Contender.EMPTY)}) {
                final String resource = new Contender(name, coalesced).resource();
                assertNotNull(Contender.class.getResource(resource), resource);
            }
        }
        assertNotNull(Contender.class.getResource(new Contender("CMalloc", false, true).resource()));
    }

    /** Linked kernels are one file, and yet the driver compiles them for each allocator. */
    @Test
    void shouldHaveAModuleForEachContender() {
        final KernelCase first = KernelCase.registers(new Contender("CFMMalloc", true, true));
        final KernelCase second = KernelCase.registers(new Contender("CMalloc", true, true));

        assertEquals(first.resource(), second.resource());
        assertNotEquals(first.module(), second.module());
        assertEquals(first.module(), KernelCase.parse(first.line()).module());
    }

    @Test
    void shouldSayThatKernelsAreLinked() {
        final KernelCase work = KernelCase.registers(new Contender("CFMMalloc", true, true));

        assertEquals(work, KernelCase.parse(work.line()));
        assertEquals("CFMMalloc coalesced linked", work.contender().label());
        assertEquals("CFMMalloc linked", new Contender("CFMMalloc", false, true).label());
        assertTrue(work.json().toString().contains("\"linked\":\"yes\""));
        assertEquals("/io/outboard/bench/kernels/kernels-Linked.ptx.gz", work.resource());
    }

    @ParameterizedTest
    @CsvSource({
        "AD, false, 10240, 16, 16, 1, 2147483648, default, AD T10k 16 B",
        "AD, true, 1048576, 256, 256, 1, 2147483648, default, AD W1M 256 B",
        "ADF, true, 30720, 65536, 65536, 1, 2147483648, default, AD fused W30k 64 KiB",
        "MIX, false, 102400, 4, 1024, 1, 2147483648, default, MIX T100k 4..1024",
        "ACD, true, 30720, 4, 4, 100, 131072, none, 'ACD W30k 4 B, 100 iterations, 128 KiB heap, none'",
        "ACD, true, 100, 1000, 1000, 10, 2147483648, default, ACD W100 1000 B",
        "P, true, 256, 4, 4, 10, 2147483648, default, P W256 4 B"
    })
    void shouldBeNamedAsInPublishedTables(
            final TestKind test,
            final boolean perWarp,
            final int threads,
            final long least,
            final long most,
            final int iterations,
            final long heapBytes,
            final String preSplit,
            final String name) {
        final KernelCase work = new KernelCase(
                Contender.empty(), test, perWarp, threads, least, most, iterations, heapBytes, preSplit, 5);

        assertEquals(name, work.name());
    }

    /** The case is the paper's setting: 120 blocks, 8 warps each. */
    @Test
    void shouldCountTheThreadsThatAllocate() {
        final KernelCase all = new KernelCase(
                Contender.empty(), TestKind.AD, false, 30720, 4, 4, 1, KernelCase.HEAP_BYTES, PreSplits.DEFAULT, 5);
        final KernelCase onePerWarp = new KernelCase(
                Contender.empty(), TestKind.ACD, true, 30720, 4, 4, 10, KernelCase.HEAP_BYTES, PreSplits.DEFAULT, 5);

        assertEquals(30720, all.slots());
        assertEquals(960, onePerWarp.slots());
        assertEquals(960 * 10 * 16, onePerWarp.demandBytes());
    }

    /** The places of all threads together hold half as much again as fits. */
    @Test
    void shouldHaveMorePlacesForBlocksThanFillTheHeap() {
        final KernelCase churn = new KernelCase(
                new Contender("CFMMalloc", true),
                TestKind.CHURN,
                false,
                10240,
                4,
                KernelCase.CHURN_BYTES,
                10,
                KernelCase.HEAP_BYTES,
                PreSplits.DEFAULT,
                5);

        assertEquals("CHURN T10k 4..1048576", churn.name());
        assertEquals(39, churn.places());
        assertEquals(2 * 39 * 10240, churn.pointers(), "and a stamp each");
        assertEquals(10, churn.seconds());
    }

    @Test
    void shouldMakeLaunchesOfAChurnLongButNotTooLong() {
        assertEquals(2, ChurnRun.nextSteps(1, 1_000_000));
        assertEquals(8, ChurnRun.nextSteps(8, 5_000_000));
        assertEquals(4, ChurnRun.nextSteps(8, 11_000_000));
        assertEquals(1, ChurnRun.nextSteps(1, 50_000_000));
        assertEquals(1024, ChurnRun.nextSteps(1024, 1_000_000));
    }

    @Test
    void shouldReadPreSplittings() {
        assertEquals(Optional.empty(), PreSplits.parse("default"));
        assertEquals(Optional.of(PreSplit.none()), PreSplits.parse("none"));
        assertEquals(Optional.of(PreSplit.binaryHeap(256)), PreSplits.parse("heap:256"));
        assertEquals(
                Optional.of(PreSplit.uniform(4096).withLargeEnd(65536)), PreSplits.parse("uniform:4096+end:65536"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "heap", "heap:", "uniform:-1", "none:16", "default+end:64", "uniform:16 ", "heap:4K"})
    void shouldRefuseOtherPreSplittings(final String text) {
        assertFalse(PreSplits.isValid(text));
        assertThrows(IllegalArgumentException.class, () -> PreSplits.parse(text));
    }

    @Test
    void shouldKnowEveryAllocatorAndNone() {
        assertEquals(
                "[Empty, BitMalloc, AtomicMalloc, AWMalloc, CMalloc, CFMalloc, CMMalloc, CFMMalloc, CudaMalloc,"
                        + " XMalloc, DoubleCFMMalloc, DoubleCMalloc, FDGMalloc, WarpArena]",
                Contender.names().toString());
        assertEquals("kernels-CFMMalloc-coalesced.ptx.gz", new Contender("CFMMalloc", true).resource());
        assertEquals("kernels-BitMalloc.ptx.gz", new Contender("BitMalloc", true).resource());
        assertEquals("kernels-XMalloc.ptx.gz", new Contender("XMalloc", true).resource());
        assertEquals("kernels-AtomicMalloc-coalesced.ptx.gz", new Contender("AtomicMalloc", true).resource());
        assertEquals("kernels-FDGMalloc.ptx.gz", new Contender("FDGMalloc", false).resource());
        assertTrue(new Contender("FDGMalloc", false).isCuda());
        assertTrue(new Contender("DoubleCMalloc", true).hasChunks());
        assertFalse(new Contender("DoubleCMalloc", false).isLinkable());
        assertEquals("kernels-Empty.ptx.gz", Contender.empty().resource());
        assertTrue(new Contender("CMalloc", true).hasChunks());
        assertFalse(new Contender("CudaMalloc", false).hasChunks());
        assertFalse(new Contender("AtomicMalloc", false).canFree());
    }
}
