package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RmmLogParserTest {

    private static final String HEADER = "Thread,Time,Action,Pointer,Size,Stream\n";
    private static final String ROW = "1,10:00:00:000001,";

    @TempDir
    Path folder;

    @Test
    void shouldReuseTheSlotsOfFreedBlocks() throws IOException {
        final Trace trace = read(
                "allocate,0x100,10,0x0",
                "allocate,0x200,20,0x0",
                "free,0x100,10,0x0",
                "allocate,0x300,5,0x0",
                "free,0x200,20,0x0",
                "free,0x300,5,0x0",
                "allocate,0x100,7,0x0");

        assertEquals("log.csv", trace.name());
        assertEquals(2, trace.slots());
        assertEquals(30, trace.peakLiveBytes());
        assertEquals(2, trace.peakLiveBlocks());
        assertEquals(64L << 20, trace.regionBytes());
        assertArrayEquals(
                new long[] {
                    Trace.allocation(0, 10),
                    Trace.allocation(1, 20),
                    Trace.free(0, 10),
                    Trace.allocation(0, 5),
                    Trace.free(1, 20),
                    Trace.free(0, 5),
                    Trace.allocation(0, 7)
                },
                trace.operations());
    }

    @Test
    void shouldReadGzipWhateverTheName() throws IOException {
        final byte[] packed = gzip(HEADER + ROW + "allocate,0x100,10,0x0\n");

        final Trace trace = TraceReader.read(Files.write(folder.resolve("log.txt"), packed));

        assertArrayEquals(new long[] {Trace.allocation(0, 10)}, trace.operations());
    }

    @Test
    void shouldReadPiecesOfGzipOneAfterAnother() throws IOException {
        final ByteArrayOutputStream packed = new ByteArrayOutputStream();
        packed.write(gzip(HEADER + ROW + "allocate,0x1,10,0x0\n"));
        packed.write(gzip(ROW + "free,0x1,10,0x0\n"));

        final Trace trace = TraceReader.read(Files.write(folder.resolve("log"), packed.toByteArray()));

        assertEquals(2, trace.operationCount());
    }

    @Test
    void shouldReadPointersInEverySpelling() throws IOException {
        final Trace trace = read(
                "allocate,0x7F00000000aB,1,0",
                "free,7f00000000AB,1,0",
                "allocate,139637976727808,1,0",
                "free,139637976727808,1,0",
                "allocate,ffffffffffffffff,1,0",
                "free,0XFFFFFFFFFFFFFFFF,1,0");

        assertEquals(6, trace.operationCount());
        assertEquals(1, trace.slots());
        assertEquals(0, trace.skippedFrees());
    }

    @Test
    void shouldReadLinesOfWindowsAByteOrderMarkAndNoLastLineEnd() throws IOException {
        final String text = "\uFEFF" + HEADER + ROW + "allocate,0x1,10,0x0\r\n\r\n" + ROW + "free,0x1,10,0x0";
        final byte[] bytes = text.replace("Stream\n", "Stream\r\n").getBytes(StandardCharsets.UTF_8);

        assertEquals(2, TraceReader.read(write(bytes)).operationCount());
    }

    @Test
    void shouldTakeFailedAllocationsForDemands() throws IOException {
        final Trace trace = read(
                "allocate,0x1,10,0x0",
                "allocate failure,0x0,1024,0x0",
                "allocate failure,0x0,0,0x0",
                "free,0x1,10,0x0",
                "allocate failure,0x0,1000,0x0");

        assertArrayEquals(
                new long[] {
                    Trace.allocation(0, 10),
                    Trace.allocation(1, 1024),
                    Trace.free(1, 1024),
                    Trace.free(0, 10),
                    Trace.allocation(0, 1000),
                    Trace.free(0, 1000)
                },
                trace.operations());
        assertEquals(1034, trace.peakLiveBytes());
        assertEquals(new FailedRequests(3, 1024), trace.failedRequests());
    }

    /** Strategies can't divide a region of twice the 700 GB that the failed request had. */
    @Test
    void shouldHaveARegionThatStrategiesCanDivide() throws IOException {
        final Trace trace = read("allocate,0x1,10,0x0", "allocate failure,0x0,700000000000,0x0");

        assertEquals((1L << 40) - (2 << 20), trace.regionBytes());
    }

    /** A size that no device has is usually one that overflowed; the request is counted, but isn't a block. */
    @Test
    void shouldNotAskForWhatNoDeviceHas() throws IOException {
        final Trace trace = read(
                "allocate failure,(nil),18446744073709551615,0x0",
                "allocate failure,(nil),99999999999999999999999,0x0",
                "allocate,0x1,10,0x0");

        assertEquals(1, trace.operationCount());
        assertEquals(new FailedRequests(2, Trace.MAX_BYTES + 1), trace.failedRequests());
    }

    @Test
    void shouldSkipZeroBytesAndTheirFrees() throws IOException {
        final Trace trace = read(
                "allocate,0x0,0,0x0",
                "allocate,(nil),0,0x0",
                "allocate,0x500,0,0x0",
                "allocate,0x1,10,0x0",
                "free,0x500,0,0x0",
                "free,0x0,0,0x0",
                "free,(nil),16,0x0");

        assertArrayEquals(new long[] {Trace.allocation(0, 10)}, trace.operations());
        assertEquals(0, trace.skippedFrees());
    }

    @Test
    void shouldSkipAndCountFreesOfBlocksFromBeforeTheLog() throws IOException {
        final Trace trace = read(
                "free,0x900,10,0x0", "allocate,0x1,10,0x0", "free,0x901,5,0x0", "free,0x1,10,0x0", "free,0x1,10,0");

        assertEquals(3, trace.skippedFrees());
        assertEquals(2, trace.operationCount());
    }

    @Test
    void shouldKeepSlotsApartForManyLiveBlocks() throws IOException {
        final int count = 50_000;
        final StringBuilder log = new StringBuilder(HEADER);
        for (int i = 1; i <= count; i++) {
            log.append(ROW)
                    .append("allocate,0x")
                    .append(Long.toHexString(512L * i))
                    .append(',')
                    .append(i)
                    .append(",0\n");
        }
        for (int i = 1; i <= count; i += 2) {
            log.append(ROW)
                    .append("free,0x")
                    .append(Long.toHexString(512L * i))
                    .append(',')
                    .append(i)
                    .append(",0\n");
        }
        for (int i = 2; i <= count; i += 2) {
            log.append(ROW)
                    .append("free,0x")
                    .append(Long.toHexString(512L * i))
                    .append(',')
                    .append(i)
                    .append(",0\n");
        }

        final Trace trace = TraceReader.read(write(log.toString().getBytes(StandardCharsets.UTF_8)));

        assertEquals(2 * count, trace.operationCount());
        assertEquals(count, trace.slots());
        assertEquals(count, trace.peakLiveBlocks());
        assertEquals(count * (count + 1L) / 2, trace.peakLiveBytes());
        assertEquals(0, trace.skippedFrees());
    }

    @Test
    void shouldChooseTheRegionByThePeak() {
        final long mib = 1L << 20;

        assertEquals(64 * mib, RmmLogParser.regionBytes(1, 1));
        assertEquals(64 * mib, RmmLogParser.regionBytes(32 * mib, 1));
        assertEquals(66 * mib, RmmLogParser.regionBytes(32 * mib + 1, 1));
        assertEquals(512 * mib, RmmLogParser.regionBytes(1_000_000, 1_000_000 + 48_576));
        assertTrue(RmmLogParser.regionBytes(Long.MAX_VALUE, 1 << 23) > 0);
    }

    @Test
    void shouldRejectAnEmptyFile() throws IOException {
        assertRejected("byte 0: the file must hold a trace, and is empty", "");
        final Path packed = write(gzip(""));
        assertEquals(
                packed + ", byte 0: the file must hold a trace, and is empty",
                assertThrows(TraceFormatException.class, () -> TraceReader.read(packed))
                        .getMessage());
    }

    @Test
    void shouldRejectALogWithoutAllocations() throws IOException {
        assertRejected("line 1: the log must hold an allocation, and ends without one", HEADER);
        assertRejected(
                "line 2: the log must hold an allocation, and ends without one", HEADER + ROW + "free,0x1,10,0x0\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HPTRACE2 and more", "Thread,Time,Action,Pointer,Size\n", "PK", "\n"})
    void shouldRejectWhatIsNoTrace(final String text) throws IOException {
        assertRejected(
                "line 1: \"" + text.strip() + "\" must be the header Thread,Time,Action,Pointer,Size,Stream,"
                        + " or the file must begin with HPTRACE1; either may be gzip",
                text);
    }

    @Test
    void shouldShowBinaryContentInOneShortLine() throws IOException {
        assertRejected(
                "line 1: \"" + "?".repeat(40) + "...\" must be the header Thread,Time,Action,Pointer,Size,Stream,"
                        + " or the file must begin with HPTRACE1; either may be gzip",
                "\u0007".repeat(5_000_000));
    }

    @Test
    void shouldRejectALineOfMegabytes() throws IOException {
        assertRejected(
                "line 3: length must be <= 4096 bytes, in \"" + "9".repeat(40) + "...\"",
                HEADER + ROW + "allocate,0x1,10,0x0\n" + "9".repeat(5_000_000));
        assertRejected(
                "line 2: length must be <= 4096 bytes, in \"" + "9".repeat(40) + "...\"",
                HEADER + "9".repeat(4097) + "\n");
        assertRejected(
                "line 2: columns=1 must be 6, in \"" + "9".repeat(40) + "...\"", HEADER + "9".repeat(4096) + "\r\n");
    }

    @Test
    void shouldReadUpToARowThatIsCut() throws IOException {
        final String whole = ROW + "allocate,0x1,10,0x0\n";
        final String row = ROW + "allocate,0x2,10,0x0";
        for (int length = 1; length < row.lastIndexOf(',') + 1; length++) {
            final Path file = write((HEADER + whole + row.substring(0, length)).getBytes(StandardCharsets.UTF_8));
            final Trace trace = TraceReader.read(file);
            assertEquals(1, trace.operationCount());
            assertEquals(List.of("line 3 is cut: the file was read up to there"), trace.notes());
        }
        assertEquals(
                2,
                TraceReader.read(write((HEADER + whole + row).getBytes(StandardCharsets.UTF_8)))
                        .operationCount());
        assertRejected("line 3: the log must hold an allocation, and ends without one", HEADER + "\n" + ROW);
        assertRejected("line 2: columns=4 must be 6, in \"" + ROW + "allocate,0x1\"", HEADER + ROW + "allocate,0x1\n");
        assertRejected("line 2: columns=7 must be 6, in \"" + row + ",9\"", HEADER + row + ",9\n");
    }

    @Test
    void shouldRejectTruncatedGzip() throws IOException {
        final byte[] whole = gzip(HEADER + (ROW + "allocate failure,0x0,10,0x0\n").repeat(2_000));
        for (int size = 2; size < whole.length; size++) {
            final Path file = write(Arrays.copyOf(whole, size));
            final String message = String.valueOf(assertThrows(TraceFormatException.class, () -> TraceReader.read(file))
                    .getMessage());
            assertTrue(message.endsWith(": gzip data must be whole, and the file ends early"), message);
        }
    }

    @Test
    void shouldRejectAnUnknownAction() throws IOException {
        assertRow("action=\"realloc\" must be allocate, free or allocate failure", "realloc,0x1,10,0x0");
        assertRow("action=\"\" must be allocate, free or allocate failure", ",0x1,10,0x0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0x", "0xg", "x1", "-1", " 1", "12345678901234567", "0x10000000000000000"})
    void shouldRejectAWrongPointer(final String pointer) throws IOException {
        assertRow(
                "pointer=\"" + pointer + "\" must be 1 to 16 hexadecimal digits, with or without 0x",
                "allocate," + pointer + ",10,0x0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "1.5", "0x10", "10 ", "1099511627776", "18446744073709551617"})
    void shouldRejectAWrongSize(final String size) throws IOException {
        assertRow(
                "size=\"" + size + "\" must be a whole number of bytes, 0..1099511627775",
                "allocate,0x1," + size + ",0x0");
    }

    @Test
    void shouldAcceptTheLargestSize() throws IOException {
        assertEquals(Trace.MAX_BYTES, read("allocate,0x1,1099511627775,0x0").peakLiveBytes());
    }

    @Test
    void shouldRejectRowsThatContradictEarlierOnes() throws IOException {
        assertRow("pointer=\"(nil)\" must not be null where size=10", "allocate,(nil),10,0x0");
        assertRejected(
                "line 3: pointer=\"0x1\" must not be live already, and holds 10 bytes",
                HEADER + ROW + "allocate,0x1,10,0x0\n" + ROW + "allocate,0x1,20,0x0\n");
        assertRejected(
                "line 3: size=20 must be 10, what was allocated at pointer=\"0x1\"",
                HEADER + ROW + "allocate,0x1,10,0x0\n" + ROW + "free,0x1,20,0x0\n");
    }

    @Test
    void shouldRejectMoreThanTheLimits() throws IOException {
        final Path file = write(
                (HEADER + ROW + "allocate,0x1,10,0\n" + ROW + "allocate,0x2,10,0\n").getBytes(StandardCharsets.UTF_8));

        assertEquals(
                file + ", line 3: live blocks=2 must be <= 1, what the format and the heap allow",
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file, 100, 1))
                        .getMessage());
        assertEquals(
                file + ", line 3: operations=2 must be <= 1, what the heap allows (see -Xmx)",
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file, 1, 100))
                        .getMessage());
    }

    @Test
    void shouldRejectAFolderAndReportAMissingFile() {
        assertEquals(
                folder + ", byte 0: it must be a file, and is a folder",
                assertThrows(TraceFormatException.class, () -> TraceReader.read(folder))
                        .getMessage());
        assertThrows(FileNotFoundException.class, () -> TraceReader.read(folder.resolve("missing")));
    }

    /** A log that goes to standard error has no header there, and stands among what else a program prints. */
    @Test
    void shouldFindRowsAmongOtherLines() throws IOException {
        final Trace trace = readText("26/11/29 10:00:00 INFO Executor: Running task 0.0 in stage 1.0 (TID 7)\n"
                + "17,10:00:00:000001,allocate,0x100,10,0x0\n"
                + "1,2,3,4,5,6\n"
                + "x".repeat(5_000) + "\n"
                + "y".repeat(200_000) + ",2,allocate,0x300,10,0x0\n"
                + "18,10:00:00:000002,deallocate,0x100,10,0x0\n"
                + "18,10:00:00:000003,allocate,0x20");

        assertArrayEquals(new long[] {Trace.allocation(0, 10), Trace.free(0, 10)}, trace.operations());
        assertEquals(List.of("5 lines are no rows of a log and were skipped, first line 1"), trace.notes());
    }

    /** The window ends just before the row, which is the end of a longer line. */
    @Test
    void shouldNotTakeTheEndOfALongLineForARow() throws IOException {
        final String start = "starting\n";

        final Trace trace = readText(start + "x".repeat((1 << 16) - start.length()) + ROW + "allocate,0x1,10,0\n" + ROW
                + "allocate,0x2,20,0\n");

        assertArrayEquals(new long[] {Trace.allocation(0, 20)}, trace.operations());
    }

    @Test
    void shouldFindAHeaderAmongOtherLines() throws IOException {
        final Trace trace = readText("starting\nTime,Action,Pointer,Size,Stream\n10:00,allocate,0x1,10,0\n");

        assertEquals(1, trace.operationCount());
    }

    /** A row among other lines that is one of a log, and is wrong, is an error. */
    @Test
    void shouldRejectAWrongRowAmongOtherLines() throws IOException {
        assertRejected(
                "line 3: size=\"many\" must be a whole number of bytes, 0..1099511627775",
                "starting\n" + ROW + "allocate,0x1,10,0\n" + ROW + "free,0x1,many,0\n");
    }

    @Test
    void shouldReadLogsThatWereJoined() throws IOException {
        final String rows = ROW + "allocate,0x1,10,0\n" + ROW + "free,0x1,10,0\n";

        assertEquals(4, readText(HEADER + rows + HEADER + rows).operationCount());
    }

    @Test
    void shouldReadTheOlderAdaptorsColumns() throws IOException {
        final String rows = "10:00:00:000001,allocate,0x1,10,0x7\n10:00:00:000002,free,0x1,10,0x7\n";

        assertEquals(2, readText("Time,Action,Pointer,Size,Stream\n" + rows).operationCount());
        assertEquals(2, readText("starting\n" + rows).operationCount());
    }

    /** That log doesn't say how large a block is that is freed. */
    @Test
    void shouldReadTheLogOfTheCApi() throws IOException {
        final Trace trace = readText("Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,Total Memory,"
                + "Current Allocs,Start,End,Elapsed,Location\n"
                + "Alloc,0,0x7fae06600000,0,80,0,0,1,1.10549,1.1074,0.00191666,numba/driver.py:683\n"
                + "Free,0,0x7fae06600000,0,0,0,0,0,1.10798,1.10921,0.00122238,numba/utils.py:678\n");

        assertArrayEquals(new long[] {Trace.allocation(0, 80), Trace.free(0, 80)}, trace.operations());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "FD377A585A00 | packed by xz: unpack it first (xz -d)",
                "28B52FFD04 | packed by zstd: unpack it first (zstd -d)",
                "425A6839 | packed by bzip2: unpack it first (bzip2 -d)",
                "504B030414 | a zip archive: unpack it first (unzip)",
                "FFFE54006800 | UTF-16: write it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
                "FEFF00540068 | UTF-16: write it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
                "540068007200 | UTF-16: write it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
            })
    void shouldSayWhatAFileIsPackedIn(final String start, final String what) throws IOException {
        final Path file = write(HexFormat.of().parseHex(start));

        assertEquals(
                file + ", byte 0: the file must be a trace, plain or gzip, and is " + what,
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file))
                        .getMessage());
    }

    @Test
    void shouldSayThatAPackedRecordingOfJfrMustBeUnpacked() throws IOException {
        final Path file = write(gzip("FLR\0\0\2"));

        assertEquals(
                file + ", byte 0: a JFR recording must be a file that isn't packed: unpack it first",
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file))
                        .getMessage());
    }

    private Trace readText(final String text) throws IOException {
        return TraceReader.read(write(text.getBytes(StandardCharsets.UTF_8)));
    }

    private Trace read(final String... rows) throws IOException {
        final StringBuilder log = new StringBuilder(HEADER);
        for (final String row : rows) {
            log.append(ROW).append(row).append('\n');
        }
        return TraceReader.read(write(log.toString().getBytes(StandardCharsets.UTF_8)));
    }

    private void assertRow(final String problem, final String row) throws IOException {
        assertRejected("line 2: " + problem, HEADER + ROW + row + "\n");
    }

    private void assertRejected(final String problem, final String text) throws IOException {
        final Path file = write(text.getBytes(StandardCharsets.UTF_8));
        final TraceFormatException e = assertThrows(TraceFormatException.class, () -> TraceReader.read(file));
        assertEquals(file + ", " + problem, e.getMessage());
    }

    private Path write(final byte[] bytes) throws IOException {
        return Files.write(folder.resolve("log.csv"), bytes);
    }

    private static byte[] gzip(final String text) throws IOException {
        final ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(packed)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return packed.toByteArray();
    }
}
