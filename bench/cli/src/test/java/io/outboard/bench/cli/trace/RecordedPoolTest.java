package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.Pool;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import jdk.jfr.Recording;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests record a program on a pool, and check the trace that is read back. */
class RecordedPoolTest {

    private static final int OPERATIONS = 20_000;

    @TempDir
    private Path folder;

    private static Pool pool() {
        return Pool.over(new VirtualMemorySource(1L << 32)).build();
    }

    /** Allocates and frees at random; returns the addresses in order. */
    private static long[] work(final Pool pool) {
        final SplittableRandom random = new SplittableRandom(3);
        final List<Long> live = new ArrayList<>();
        final List<Long> addresses = new ArrayList<>();
        for (int i = 0; i < OPERATIONS; i++) {
            if (!live.isEmpty() && random.nextInt(100) < 48) {
                pool.free(live.remove(random.nextInt(live.size())));
            } else {
                final long address = pool.allocate(1 + random.nextLong(200_000));
                live.add(address);
                addresses.add(address);
            }
        }
        return addresses.stream().mapToLong(Long::longValue).toArray();
    }

    /** Returns the addresses that a trace gets from a new pool. */
    private static long[] replay(final Trace trace) {
        final List<Long> addresses = new ArrayList<>();
        try (Pool pool = pool()) {
            final long[] slots = new long[trace.slots()];
            for (final long operation : trace.operations()) {
                if (Trace.isFree(operation)) {
                    pool.free(slots[Trace.slot(operation)]);
                } else {
                    final long address = pool.allocate(Trace.bytes(operation));
                    slots[Trace.slot(operation)] = address;
                    addresses.add(address);
                }
            }
        }
        return addresses.stream().mapToLong(Long::longValue).toArray();
    }

    @Test
    void shouldReplayToTheSameAddresses() throws IOException {
        final Path file = folder.resolve("program.rec");
        final long[] addresses;
        try (Pool pool = pool();
                Closeable recording = pool.record(file)) {
            assertNotNull(recording);
            addresses = work(pool);
        }
        final Trace trace = TraceReader.read(file);
        assertEquals(OPERATIONS, trace.operationCount());
        assertArrayEquals(addresses, replay(trace));
    }

    @Test
    void shouldReadWhatJfrRecorded() throws IOException {
        final Path file = folder.resolve("program.jfr");
        final long[] addresses;
        try (Recording recording = new Recording();
                Pool pool = pool()) {
            recording.enable("io.outboard.Allocation").withoutStackTrace();
            recording.enable("io.outboard.Free").withoutStackTrace();
            recording.start();
            addresses = work(pool);
            recording.stop();
            recording.dump(file);
        }
        final Trace trace = TraceReader.read(file);
        assertEquals(OPERATIONS, trace.operationCount());
        assertArrayEquals(addresses, replay(trace));
    }

    @Test
    void shouldReadOnePoolOfAJfrRecording() throws IOException {
        final Path file = folder.resolve("two.jfr");
        TwoPools.record(file, "a", "b");

        final Trace first = TraceReader.read(file, null, "a");
        final Trace second = TraceReader.read(file, new Owners(), "b");

        assertAll(
                () -> assertEquals(2, first.operationCount()),
                () -> assertEquals(1 << 20, first.peakLiveBytes()),
                () -> assertEquals(0, first.failedRequests().count()),
                () -> assertEquals(8, second.operationCount()),
                () -> assertEquals(1 << 25, second.peakLiveBytes()),
                () -> assertEquals(new FailedRequests(1, 1 << 25), second.failedRequests()),
                () -> assertProblem("--pool must name one of the pools recorded: a, b", file, null),
                () -> assertProblem("--pool=c must name one of the pools recorded: a, b", file, "c"));
    }

    /**
     * The first block of the second pool isn't recorded, and what the second pool frees and refuses must not count for
     * the first.
     */
    @Test
    void shouldNotTakeTheFailuresOfAPoolForThoseOfAnother() throws IOException {
        final Path file = folder.resolve("failing.jfr");
        try (Pool first = TwoPools.named("a");
                Pool second = TwoPools.named("b")) {
            final long old = second.allocate(1);
            try (Recording recording = new Recording()) {
                recording.enable("io.outboard.Allocation").withoutStackTrace();
                recording.enable("io.outboard.Free").withoutStackTrace();
                recording.start();
                first.free(first.allocate(5000));
                second.free(old);
                assertThrows(DeviceOutOfMemoryException.class, () -> second.allocate(1 << 25));
                recording.stop();
                recording.dump(file);
            }
        }

        assertProblem("--pool must name one of the pools recorded: a, b", file, null);
        assertEquals(5000, TraceReader.read(file, null, "a").peakLiveBytes());
        assertEquals(1 << 25, TraceReader.read(file, null, "b").peakLiveBytes());
    }

    @Test
    void shouldTellPoolsWithoutANameApart() throws IOException {
        final Path file = folder.resolve("two.jfr");
        TwoPools.record(file, "", "");

        final String message = messageOf(file, null);
        final String[] pools = message.substring(message.indexOf('#')).split(", ", -1);

        assertEquals(2, pools.length, message);
        assertEquals(2, TraceReader.read(file, null, pools[0]).operationCount());
        assertEquals(8, TraceReader.read(file, null, pools[1]).operationCount());
    }

    @Test
    void shouldNotLookForAPoolInAnotherFile() throws IOException {
        final Path log = folder.resolve("rmm.csv");
        Files.writeString(log, "Thread,Time,Action,Pointer,Size,Stream\n1,1,allocate,0x1,10,0\n");

        assertProblem("--pool=a must go with a JFR recording or a snapshot", log, "a");
    }

    private static void assertProblem(final String problem, final Path file, final @Nullable String pool) {
        final String message = messageOf(file, pool);
        assertTrue(message.endsWith(problem), message);
    }

    private static String messageOf(final Path file, final @Nullable String pool) {
        return String.valueOf(assertThrows(TraceFormatException.class, () -> TraceReader.read(file, null, pool))
                .getMessage());
    }

    @Test
    void shouldRefuseJfrRecordingsWithoutAllocations() throws IOException {
        final Path file = folder.resolve("other.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            recording.stop();
            recording.dump(file);
        }
        final TraceFormatException thrown = assertThrows(TraceFormatException.class, () -> TraceReader.read(file));
        assertTrue(
                String.valueOf(thrown.getMessage()).contains("must hold io.outboard.Allocation"), thrown::getMessage);

        final byte[] damaged = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(damaged, 40));
        assertThrows(TraceFormatException.class, () -> TraceReader.read(file));
    }
}
