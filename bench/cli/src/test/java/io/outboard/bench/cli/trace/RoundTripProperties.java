package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.SeedFromSystemProperties;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * These properties compare random logs with a {@code HashMap} of live pointers: the same blocks are live, and the trace
 * is the same after a round trip.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class RoundTripProperties {

    @Property(tries = 60)
    void shouldKeepEveryBlockThroughLogAndFile(
            @ForAll final long seed,
            @ForAll @IntRange(min = 1, max = 5000) final int rows,
            @ForAll @IntRange(min = 1, max = 3000) final int pointers)
            throws IOException {
        final Random random = new Random(seed);
        final Map<Long, Long> live = new HashMap<>();
        final StringBuilder log = new StringBuilder("Thread,Time,Action,Pointer,Size,Stream\n");
        final long[] expected = new long[rows];
        long bytes = 0;
        long peakBytes = 0;
        int peakBlocks = 0;
        for (int i = 0; i < rows; i++) {
            final long pointer = (random.nextInt(pointers) + 1L) << 9;
            final Long held = live.remove(pointer);
            final long size = held == null ? 1 + (random.nextLong() >>> 25) : held;
            if (held == null) {
                live.put(pointer, size);
            }
            bytes += held == null ? size : -size;
            peakBytes = Math.max(peakBytes, bytes);
            peakBlocks = Math.max(peakBlocks, live.size());
            expected[i] = held == null ? size : -size;
            log.append("1,t,").append(held == null ? "allocate" : "free");
            log.append(",0x")
                    .append(Long.toHexString(pointer))
                    .append(',')
                    .append(size)
                    .append(",0\n");
        }
        final Path file = Files.createTempFile("log", ".csv");
        try {
            Files.writeString(file, log);
            final Trace trace = TraceReader.read(file);

            assertEquals(peakBytes, trace.peakLiveBytes());
            assertEquals(peakBlocks, trace.peakLiveBlocks());
            assertEquals(peakBlocks, trace.slots());
            final long[] signed = new long[rows];
            for (int i = 0; i < rows; i++) {
                final long operation = trace.operations()[i];
                signed[i] = Trace.isFree(operation) ? -Trace.bytes(operation) : Trace.bytes(operation);
            }
            assertArrayEquals(expected, signed);
            TraceWriter.writeHpTrace(trace, file);
            final Trace again = TraceReader.read(file);
            assertArrayEquals(trace.operations(), again.operations());
            assertEquals(trace.slots(), again.slots());
            assertEquals(trace.regionBytes(), again.regionBytes());
        } finally {
            Files.delete(file);
        }
    }
}
