package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "67108864, 67108864",
        "64MiB, 67108864",
        "64M, 67108864",
        "512m, 536870912",
        "512K, 524288",
        "512kb, 524288",
        "64MB, 67108864",
        "64 mib, 67108864",
        "1GiB, 1073741824",
        "1.5GiB, 1610612736",
        "0.0001k, 0",
        "7b, 7",
        "2T, 2199023255552",
        "4194304TiB, 4611686018427387904",
        "3P, 3377699720527872",
        "4EiB, 4611686018427387904",
        "4611686018427387904, 4611686018427387904",
        "4611686018427387903, 4611686018427387903"
    })
    void shouldReadWhatPeopleWrite(final String text, final long bytes) {
        assertEquals(bytes, ByteSize.parse("size", text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "M",
                "-1",
                "1e9",
                "0x10",
                "64 MiB of it",
                "64Mi",
                "1,5G",
                "64 x",
                "1.",
                ".5G",
                "64 bytes",
                "5E",
                "4611686018427387905",
                "9999999999999999999",
                "4194304.5T",
                "9999999999999999999T",
                "9000000T"
            })
    void shouldRefuseWhatIsNoSizeOrTooLarge(final String text) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> ByteSize.parse("outboard.leave", text));

        assertEquals(
                "outboard.leave=" + text + " must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB",
                thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 bytes, 0 bytes",
        "1, 1 byte, 1 byte",
        "1023, 1023 bytes, 1023 bytes",
        "1024, 1KiB, 1KiB",
        "1025, 1KiB, 1KiB (1025 bytes)",
        "19968, 19.5KiB, 19.5KiB",
        "1280, 1.25KiB, 1.25KiB",
        "1070, 1.04KiB, 1.04KiB (1070 bytes)",
        "1071, 1.05KiB, 1.05KiB (1071 bytes)",
        "1152, 1.13KiB, 1.13KiB (1152 bytes)",
        "4174336, 3.98MiB, 3.98MiB (4174336 bytes)",
        "67108864, 64MiB, 64MiB",
        "104857600, 100MiB, 100MiB",
        "1073736581, 1023.99MiB, 1023.99MiB (1073736581 bytes)",
        "1073736582, 1GiB, 1GiB (1073736582 bytes)",
        "1073741823, 1GiB, 1GiB (1073741823 bytes)",
        "85899345920, 80GiB, 80GiB",
        "4611686018427387904, 4EiB, 4EiB",
        "9223372036854775807, 8EiB, 8EiB (9223372036854775807 bytes)"
    })
    void shouldWriteWhatPeopleRead(final long bytes, final String text, final String exact) {
        assertEquals(text, ByteSize.text(bytes));
        assertEquals(exact, ByteSize.exact(bytes));
    }

    /** The exact bytes follow in brackets if the text would otherwise leave some out. */
    @Test
    void shouldReadBackWhatItWroteExactly() {
        for (int log2 = 10; log2 < 62; log2++) {
            for (long quarters = 4; quarters < 9; quarters++) {
                for (int difference = -1; difference <= 1; difference++) {
                    final long bytes = (quarters << (log2 - 2)) + difference;
                    if (bytes >= 1024 && bytes <= ByteSize.MOST_BYTES) {
                        final boolean whole = ByteSize.parse("size", ByteSize.text(bytes)) == bytes;
                        assertEquals(
                                whole ? ByteSize.text(bytes) : ByteSize.text(bytes) + " (" + bytes + " bytes)",
                                ByteSize.exact(bytes));
                    }
                }
            }
        }
    }
}
