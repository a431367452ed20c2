package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProfilesTest {

    static final List<String> NAMES = Profiles.names();

    @TempDir
    Path folder;

    @Test
    void shouldListTheProfilesInTheOrderOfReports() {
        assertEquals(
                List.of(
                        "mimalloc",
                        "paper",
                        "large",
                        "mid",
                        "small",
                        "pingpong",
                        "fragmenting",
                        "sawtooth",
                        "two-sizes",
                        "list-borders",
                        "equal-hashes"),
                Profiles.names());
    }

    /**
     * The last column is a CRC-32: in the first six rows of the HPTRACE1 file that an independent C++ generator writes,
     * in the other rows of the file that ours writes.
     */
    @ParameterizedTest
    @CsvSource({
        "mimalloc,     40,  64,   459425041,     21, 2bca03a6",
        "paper,        40,  64,   272230626,     21, 1d2c4753",
        "large,      1000,  64,  4931001242,    565, 6d5b0eaf",
        "mid,       10000,  64,  2415981876,   5157, 08ef5c68",
        "small,    200000, 256, 43639087286, 100353, 42c548db",
        "pingpong,   1001,  64,  8339151058,   1000, c74c78f6",
        "fragmenting, 101000, 64, 13708959744, 100000, bf00c6c4",
        "sawtooth, 10000, 64, 4587067091, 10000, 927e41d6",
        "two-sizes, 30000, 64, 5322240000, 20000, ca4d14e2",
        "list-borders, 10000, 64, 4210831616, 5209, d2d855b8",
        "equal-hashes, 2048, 64, 8286547968, 2048, c6a4db18"
    })
    void shouldMatchTheCheckValues(
            final String name,
            final int slots,
            final long regionGib,
            final long peakLiveBytes,
            final int peakLiveBlocks,
            final String crc)
            throws Exception {
        final Trace trace = Profiles.named(name);

        assertEquals(name, trace.name());
        assertEquals(1_000_000, trace.operationCount());
        assertEquals(slots, trace.slots());
        assertEquals(regionGib << 30, trace.regionBytes());
        assertEquals(peakLiveBytes, trace.peakLiveBytes());
        assertEquals(peakLiveBlocks, trace.peakLiveBlocks());
        assertEquals(0, trace.skippedFrees());
        final Path file = folder.resolve("profile");
        TraceWriter.writeHpTrace(trace, file);
        final CRC32 checksum = new CRC32();
        checksum.update(Files.readAllBytes(file));
        assertEquals(crc, String.format("%08x", checksum.getValue()));
    }

    @Test
    void shouldDrawTheFirstMimallocPairsOfLibstdcxx() {
        final long[] operations = Profiles.named("mimalloc", 10).operations();

        assertEquals(Trace.allocation(27, 21947597), operations[0]);
        assertEquals(Trace.allocation(39, 9089786), operations[1]);
        assertEquals(Trace.allocation(34, 21594186), operations[2]);
    }

    @ParameterizedTest
    @FieldSource("NAMES")
    void shouldBeginTheSameWayWhateverTheLength(final String name) {
        final long[] whole = Profiles.named(name, 120_001).operations();

        for (final int operations : new int[] {2, 3, 500, 1001, 1499, 5000, 99_999, 100_000, 100_001}) {
            final long[] begun = Profiles.named(name, operations).operations();
            assertTrue(begun.length == operations || begun.length == operations - 1, name + " " + begun.length);
            assertArrayEquals(Arrays.copyOf(whole, begun.length), begun);
        }
    }

    @Test
    void shouldGoOnPastAMillionOperations() {
        assertEquals(1_500_000, Profiles.named("mid", 1_500_000).operationCount());
    }

    @Test
    void shouldRejectAnUnknownNameAndListTheChoices() {
        final IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> Profiles.named("huge", 100));

        assertEquals(
                "profile=huge must be one of: mimalloc, paper, large, mid, small, pingpong, fragmenting, sawtooth, two-sizes,"
                        + " list-borders, equal-hashes",
                e.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"-1", "0", "1", "2147483647"})
    void shouldRejectOperationsOutOfRange(final int operations) {
        final IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> Profiles.named("large", operations));

        final String message = String.valueOf(e.getMessage());
        assertTrue(message.startsWith("operations=" + operations + " must be 2.."), message);
    }

    @ParameterizedTest
    @FieldSource("NAMES")
    void shouldDrawOtherBlocksWithAnotherSeed(final String name) {
        final long[] first = Profiles.named(name, 1_000).operations();

        assertArrayEquals(first, Profiles.variant(name, 1_000, 0, 1).operations());
        assertFalse(Arrays.equals(first, Profiles.variant(name, 1_000, 1, 1).operations()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"large", "mid", "small"})
    void shouldHaveMoreBlocksLiveIfScaled(final String name) {
        final Trace one = Profiles.variant(name, 400_000, 0, 1);
        final Trace two = Profiles.variant(name, 400_000, 0, 2);

        assertEquals(2 * one.slots(), two.slots());
        assertTrue(two.peakLiveBytes() > 1.8 * one.peakLiveBytes(), two.peakLiveBytes() + " bytes");
        assertThrows(IllegalArgumentException.class, () -> Profiles.variant(name, 1000, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> Profiles.variant(name, 1000, 0, 1001));
    }
}
