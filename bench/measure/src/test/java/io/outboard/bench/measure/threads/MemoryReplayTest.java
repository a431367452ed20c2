package io.outboard.bench.measure.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.Pool;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MemoryReplayTest {

    private static final int OPERATIONS = 5_000;

    private final Trace trace = Profiles.named("large", OPERATIONS);

    @Test
    void shouldDealEachBlockToOneThreadAndKeepTheOrder() {
        final List<MemoryReplay.Part> parts = MemoryReplay.deal(trace, 3);

        final long[] merged = new long[OPERATIONS];
        for (final MemoryReplay.Part part : parts) {
            final boolean[] full = new boolean[part.slots];
            for (int i = 0; i < part.operations.length; i++) {
                final int slot = Trace.slot(part.operations[i]);
                assertEquals(Trace.isFree(part.operations[i]), full[slot], "a free of what this thread allocated");
                full[slot] = !full[slot];
                assertTrue(i == 0 || part.positions[i] > part.positions[i - 1]);
                merged[(int) part.positions[i]] = part.operations[i];
            }
            assertTrue(part.operations.length > OPERATIONS / 4);
        }
        assertEquals(List.of(box(trace.operations())), List.of(box(merged)));
    }

    @Test
    void shouldInterleaveTracesInSlotsOfTheirOwn() {
        final List<Trace> traces = List.of(trace, Profiles.variant("large", OPERATIONS / 2, 1, 1));

        final List<MemoryReplay.Part> parts = MemoryReplay.interleaved(traces);

        assertEquals(1, parts.size());
        final Trace all = new Trace("all", parts.get(0).slots, 1L << 40, parts.get(0).operations);
        assertEquals(OPERATIONS + OPERATIONS / 2, all.operationCount());
        assertEquals(
                trace.slots(),
                Trace.slot(all.operations()[1]) - Trace.slot(traces.get(1).operations()[0]));
    }

    @Test
    void shouldHaveLiveWhatTheTraceHasLive() throws Exception {
        assertEquals(trace.peakLiveBytes(), replay(1L << 40, 1).peakLiveBytes());

        final MemoryReplay.Held held = replay(1L << 40, 4);

        assertTrue(held.peakLiveBytes() >= trace.peakLiveBytes() / 2, held.toString());
        assertTrue(held.heldBytes() >= held.peakLiveBytes(), held.toString());
    }

    /** Threads that wait for the one that failed must stop waiting. */
    @Test
    void shouldFailWithItsThreads() {
        final IllegalStateException thrown = assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertThrows(IllegalStateException.class, () -> replay(trace.peakLiveBytes() / 2, 4)));

        assertTrue(String.valueOf(thrown.getMessage()).startsWith("a thread failed: "), thrown.getMessage());
    }

    private MemoryReplay.Held replay(final long limitBytes, final int threads) throws InterruptedException {
        try (VirtualMemorySource source = new VirtualMemorySource();
                Pool pool = Pool.over(source).limitBytes(limitBytes).build()) {
            return new MemoryReplay(pool, MemoryReplay.deal(trace, threads)).run();
        }
    }

    private static Long[] box(final long[] numbers) {
        return IntStream.range(0, numbers.length).mapToObj(i -> numbers[i]).toArray(Long[]::new);
    }
}
