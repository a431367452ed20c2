package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.internal.record.Recorder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests check how the bytes of a pool's recording are read. */
class RecordingFormatTest {

    private static final long BASE = 0x7F00_0000_0000L;

    @TempDir
    private Path folder;

    /** Writes a file with rows of time, address and packed number. */
    private Path file(final long... rows) throws IOException {
        final int records = rows.length / 3;
        final ByteBuffer bytes = ByteBuffer.allocate(32 + 32 * records).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put("OUTBREC1".getBytes(StandardCharsets.US_ASCII));
        bytes.putInt(1).putInt(32).putLong(256).putLong(0);
        for (int i = 0; i < records; i++) {
            bytes.putLong(rows[3 * i]).putLong(rows[3 * i + 1]).putLong(-1).putLong(rows[3 * i + 2]);
        }
        return Files.write(folder.resolve("program.rec"), bytes.array());
    }

    private static long allocated(final long bytes) {
        return Recorder.packed(Recorder.ALLOCATED, bytes, 1, 1);
    }

    private static long freed() {
        return Recorder.packed(Recorder.FREED, 0, 1, 1);
    }

    @Test
    void shouldReadRowsInTheOrderOfTheirTimes() throws IOException {
        final Trace trace = TraceReader.read(file(
                40,
                BASE,
                freed(),
                10,
                BASE,
                allocated(1000),
                50,
                BASE,
                allocated(7),
                -5,
                BASE + 4096,
                allocated(300),
                60,
                BASE + 4096,
                freed()));
        assertArrayEquals(
                new long[] {
                    Trace.allocation(0, 300),
                    Trace.allocation(1, 1000),
                    Trace.free(1, 1000),
                    Trace.allocation(1, 7),
                    Trace.free(0, 300)
                },
                trace.operations());
        assertEquals("program.rec", trace.name());
        assertEquals(1300, trace.peakLiveBytes());
        assertEquals(List.of(), trace.notes());
    }

    /** Rows with equal times keep their order, over many runs that have to be merged. */
    @Test
    void shouldSortAsArraysDo() throws IOException {
        final SplittableRandom random = new SplittableRandom(7);
        final long[] rows = new long[3 * 5000];
        final long[][] sorted = new long[5000][];
        for (int i = 0; i < 5000; i++) {
            sorted[i] = new long[] {random.nextInt(700), BASE + 512L * i, allocated(1 + i)};
            System.arraycopy(sorted[i], 0, rows, 3 * i, 3);
        }
        Arrays.sort(sorted, Comparator.comparingLong(row -> row[0]));
        final Trace trace = TraceReader.read(file(rows));
        for (int i = 0; i < 5000; i++) {
            assertEquals(Recorder.sizeBytes(sorted[i][2]), Trace.bytes(trace.operations()[i]));
        }
    }

    @Test
    void shouldSkipFreesOfBlocksThatWereThereBefore() throws IOException {
        final Trace trace = TraceReader.read(file(1, BASE, freed(), 2, BASE, allocated(5)));
        assertEquals(1, trace.operationCount());
        assertEquals(1, trace.skippedFrees());
    }

    /** Two threads worked, and the recording of the thread that freed the block ended first. */
    @Test
    void shouldEndABlockWhoseFreeIsMissing() throws IOException {
        final Trace trace = TraceReader.read(file(1, BASE, allocated(5), 2, BASE, allocated(6), 3, BASE, freed()));
        assertArrayEquals(
                new long[] {Trace.allocation(0, 5), Trace.free(0, 5), Trace.allocation(0, 6), Trace.free(0, 6)},
                trace.operations());
        assertEquals(
                List.of("1 frees are missing: their blocks end where their addresses are allocated again"),
                trace.notes());
    }

    @Test
    void shouldSayThatBlocksWereResized() throws IOException {
        final Trace trace = TraceReader.read(
                file(1, BASE, allocated(900), 2, BASE, Recorder.packed(Recorder.RESIZED, 5, 1, 1), 3, BASE, freed()));
        assertEquals(List.of("1 times a block was resized, which the trace doesn't show"), trace.notes());
        assertEquals(900, Trace.bytes(trace.operations()[1]));
    }

    @Test
    void shouldTakeFailedRequestsForDemands() throws IOException {
        final Trace trace = TraceReader.read(file(
                1,
                BASE,
                allocated(900),
                2,
                0,
                Recorder.packed(Recorder.FAILED, 5000, 1, 1),
                3,
                0,
                Recorder.packed(Recorder.FAILED, Long.MAX_VALUE, 1, 1),
                4,
                BASE,
                freed()));

        assertArrayEquals(
                new long[] {Trace.allocation(0, 900), Trace.allocation(1, 5000), Trace.free(1, 5000), Trace.free(0, 900)
                },
                trace.operations());
        assertEquals(new FailedRequests(2, Trace.MAX_BYTES), trace.failedRequests());
    }

    @Test
    void shouldReadUpToWhereItIsCut() throws IOException {
        final byte[] whole = Files.readAllBytes(file(1, BASE, allocated(5), 2, BASE, freed()));
        for (int length = 64; length < 96; length++) {
            final Path cut = Files.write(folder.resolve("cut"), Arrays.copyOf(whole, length));
            final Trace trace = TraceReader.read(cut);
            assertEquals(1, trace.operationCount());
            assertEquals(length == 64 ? 0 : 1, trace.notes().size());
        }
    }

    @Test
    void shouldRefuseWhatContradictsItself() throws IOException {
        assertProblem("byte 32: address=0 must not be null where size=5", file(1, 0, allocated(5)));
        assertProblem("byte 56: size=0 must be > 0 of an allocation", file(1, BASE, allocated(0)));
        assertProblem("byte 32: the recording must hold an allocation, and ends without one", file());
        final byte[] other = Files.readAllBytes(file(1, BASE, allocated(5)));
        other[8] = 2;
        assertProblem("byte 8: version=2 must be 1", Files.write(folder.resolve("program.rec"), other));
        assertProblem(
                "byte 20: header=20 bytes must be 32",
                Files.write(folder.resolve("program.rec"), Arrays.copyOf(other, 20)));
    }

    private static void assertProblem(final String problem, final Path file) {
        final TraceFormatException thrown = assertThrows(TraceFormatException.class, () -> TraceReader.read(file));
        assertTrue(String.valueOf(thrown.getMessage()).startsWith(file + ", " + problem), thrown::getMessage);
    }

    @Test
    void shouldRefuseMoreThanTheHeapHolds() throws IOException {
        final Path file = file(1, BASE, allocated(5), 2, BASE, freed());
        final TraceFormatException thrown =
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file, 3, 10));
        assertEquals(
                file + ", byte 64: operations=2 must be <= 1, what the heap allows (see -Xmx)", thrown.getMessage());
    }
}
