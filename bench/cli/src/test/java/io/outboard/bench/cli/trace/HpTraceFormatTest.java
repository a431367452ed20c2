package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HpTraceFormatTest {

    private static final int SMALL_LIMIT = 4;

    @TempDir
    Path folder;

    @Test
    void shouldReadBackWhatWasWritten() throws IOException {
        final Trace trace = Profiles.named("large", 20_000);
        final Path file = folder.resolve("large.any");

        TraceWriter.writeHpTrace(trace, file);

        assertEquals(64 + 8 * 20_000, Files.size(file));
        assertSame(trace, "large.any", TraceReader.read(file));
    }

    @Test
    void shouldReadGzipWhateverTheName() throws IOException {
        final Trace trace = Profiles.named("small", 150_000);
        TraceWriter.writeHpTrace(trace, folder.resolve("plain"));
        final Path file = write("packed.csv", gzip(Files.readAllBytes(folder.resolve("plain"))));

        assertSame(trace, "packed.csv", TraceReader.read(file));
    }

    @Test
    void shouldWriteTheDocumentedBytes() throws IOException {
        final Path file = folder.resolve("bytes");

        TraceWriter.writeHpTrace(
                new Trace("any", 3, 4096, new long[] {Trace.allocation(2, 300), Trace.free(2, 300)}), file);

        assertArrayEquals(bytes(sample()), Files.readAllBytes(file));
    }

    @Test
    void shouldOverwriteALongerFile() throws IOException {
        final Path file = write("long", new byte[1000]);

        TraceWriter.writeHpTrace(Profiles.named("paper", 2), file);

        assertEquals(64 + 8, Files.size(file));
    }

    @Test
    void shouldAcceptPeaksThatWereNotComputed() throws IOException {
        final ByteBuffer sample = sample().putLong(48, 0).putInt(56, 0);

        final Trace trace = TraceReader.read(write("f", bytes(sample)));

        assertEquals(300, trace.peakLiveBytes());
        assertEquals(1, trace.peakLiveBlocks());
    }

    @Test
    void shouldRejectTruncatedHeader() throws IOException {
        for (int size = 8; size < 64; size++) {
            assertRejected(
                    "byte " + size + ": header=" + size + " bytes must be 64", Arrays.copyOf(bytes(sample()), size));
        }
    }

    @Test
    void shouldRejectTruncatedOperations() throws IOException {
        for (int size = 64; size < 80; size++) {
            assertRejected(
                    "byte 16: operations=2 must be (bytes - 64) / 8, and the file has " + size + " bytes",
                    Arrays.copyOf(bytes(sample()), size));
        }
    }

    @Test
    void shouldRejectTruncatedOperationsInsideGzip() throws IOException {
        assertRejected(
                "byte 79: operations=2 must be there, and the content ends after 1",
                gzip(Arrays.copyOf(bytes(sample()), 79)));
    }

    @Test
    void shouldRejectTruncatedGzip() throws IOException {
        final byte[] whole = gzip(bytes(sample()));

        for (int size = 2; size < whole.length; size++) {
            final Path file = write("f", Arrays.copyOf(whole, size));
            final String message = String.valueOf(assertThrows(TraceFormatException.class, () -> TraceReader.read(file))
                    .getMessage());
            assertTrue(message.startsWith(file + ", byte "), message);
            assertTrue(message.endsWith(": gzip data must be whole, and the file ends early"), message);
        }
    }

    @Test
    void shouldRejectDamagedGzip() throws IOException {
        final byte[] packed = gzip(bytes(sample()));
        packed[packed.length - 8] ^= 1;

        assertRejected("byte 80 of what it unpacks to: gzip data must be undamaged: Corrupt GZIP trailer", packed);
    }

    @Test
    void shouldRejectTrailingBytes() throws IOException {
        assertRejected(
                "byte 16: operations=2 must be (bytes - 64) / 8, and the file has 81 bytes",
                Arrays.copyOf(bytes(sample()), 81));
        assertRejected(
                "byte 80: the content must end after operations=2, and goes on",
                gzip(Arrays.copyOf(bytes(sample()), 81)));
    }

    @Test
    void shouldRejectAHeaderThatClaimsHugeCounts() throws IOException {
        final byte[] claim = bytes(sample().putLong(16, 1L << 40));
        final byte[] wrapping = bytes(sample().putLong(16, (1L << 61) + 2));
        final byte[] negative = bytes(sample().putLong(16, -1));

        assertRejected("byte 16: operations=1099511627776 must be (bytes - 64) / 8, and the file has 80 bytes", claim);
        assertRejected(
                "byte 16: operations=2305843009213693954 must be (bytes - 64) / 8, and the file has 80 bytes",
                wrapping);
        assertRejected(
                "byte 16: operations=18446744073709551615 must be (bytes - 64) / 8, and the file has 80 bytes",
                negative);
        assertRejected("byte 16: operations=1099511627776 must be <= 4, what the heap allows (see -Xmx)", gzip(claim));
        assertRejected(
                "byte 16: operations=18446744073709551615 must be <= 4, what the heap allows (see -Xmx)",
                gzip(negative));
    }

    @Test
    void shouldNotReserveWhatAPackedHeaderClaims() throws IOException {
        final int claimed = Trace.maximumOperations();
        final Path file = write("f", gzip(bytes(sample().putLong(16, claimed))));

        final TraceFormatException e = assertThrows(TraceFormatException.class, () -> TraceReader.read(file));

        assertEquals(
                file + ", byte 80: operations=" + claimed + " must be there, and the content ends after 2",
                e.getMessage());
    }

    @Test
    void shouldRejectMoreOperationsThanTheHeapHolds() throws IOException {
        final Path file = folder.resolve("f");
        TraceWriter.writeHpTrace(Profiles.named("large", 5), file);

        assertRejected("byte 16: operations=5 must be <= 4, what the heap allows (see -Xmx)", Files.readAllBytes(file));
    }

    @Test
    void shouldRejectHeaderFieldsOutOfRange() throws IOException {
        assertRejected("byte 8: version=2 must be 1", bytes(sample().putInt(8, 2)));
        assertRejected("byte 12: slots=0 must be 1..8388608", bytes(sample().putInt(12, 0)));
        assertRejected("byte 12: slots=8388609 must be 1..8388608", bytes(sample().putInt(12, 8388609)));
        assertRejected("byte 12: slots=4294967295 must be 1..8388608", bytes(sample().putInt(12, -1)));
        assertRejected("byte 16: operations=0 must be > 0", Arrays.copyOf(bytes(sample().putLong(16, 0)), 64));
        assertRejected("byte 32: regionBytes=0 must be 1..9223372036854775807", bytes(sample().putLong(32, 0)));
        assertRejected(
                "byte 32: regionBytes=18446744073709551615 must be 1..9223372036854775807",
                bytes(sample().putLong(32, -1)));
        assertRejected("byte 48: peakLiveBytes=301 must be 300", bytes(sample().putLong(48, 301)));
        assertRejected("byte 56: peakLiveBlocks=2 must be 1", bytes(sample().putInt(56, 2)));
        assertRejected("byte 60: alignment=512 must be 256", bytes(sample().putInt(60, 512)));
    }

    @Test
    void shouldNameTheByteOfAWrongOperation() throws IOException {
        assertRejected("byte 64: bytes=0 must be > 0", bytes(sample().putLong(64, 2L << 40)));
        assertRejected("byte 64: slot=3 must be < slots=3", bytes(sample().putLong(64, Trace.allocation(3, 1))));
        assertRejected(
                "byte 64: slot=0 must hold a block for a free, and is empty",
                bytes(sample().putLong(64, Trace.free(0, 1))));
        assertRejected(
                "byte 72: slot=2 must be empty for an allocation, and holds 300 bytes",
                bytes(sample().putLong(72, Trace.allocation(2, 1))));
        assertRejected(
                "byte 72: bytes=1 must be 300, the bytes of the block freed in slot=2",
                bytes(sample().putLong(72, Trace.free(2, 1))));
    }

    /** Makes a file with three slots and a region of 4096 bytes; 300 bytes are allocated in slot 2 and freed. */
    private static ByteBuffer sample() {
        final ByteBuffer bytes = ByteBuffer.allocate(80).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put(new byte[] {'H', 'P', 'T', 'R', 'A', 'C', 'E', '1'}).putInt(1).putInt(3);
        bytes.putLong(2)
                .putLong(0)
                .putLong(4096)
                .putLong(0)
                .putLong(300)
                .putInt(1)
                .putInt(256);
        bytes.putLong(2L << 40 | 300).putLong(1L << 63 | 2L << 40 | 300);
        return bytes;
    }

    private static byte[] bytes(final ByteBuffer buffer) {
        final byte[] bytes = new byte[buffer.capacity()];
        buffer.get(0, bytes);
        return bytes;
    }

    private static byte[] gzip(final byte[] bytes) throws IOException {
        final ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(packed)) {
            out.write(bytes);
        }
        return packed.toByteArray();
    }

    private Path write(final String name, final byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    private void assertRejected(final String problem, final byte[] bytes) throws IOException {
        final Path file = write("rejected", bytes);
        final TraceFormatException e =
                assertThrows(TraceFormatException.class, () -> TraceReader.read(file, SMALL_LIMIT, Trace.MAX_SLOTS));
        assertEquals(file + ", " + problem, e.getMessage());
    }

    private static void assertSame(final Trace expected, final String name, final Trace actual) {
        assertEquals(name, actual.name());
        assertEquals(expected.slots(), actual.slots());
        assertEquals(expected.regionBytes(), actual.regionBytes());
        assertEquals(expected.peakLiveBytes(), actual.peakLiveBytes());
        assertEquals(expected.peakLiveBlocks(), actual.peakLiveBlocks());
        assertArrayEquals(expected.operations(), actual.operations());
    }
}
