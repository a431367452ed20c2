package io.outboard.core.spi;

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
        "65536, 65536",
        "7b, 7",
        "512K, 524288",
        "512kb, 524288",
        "64M, 67108864",
        "64m, 67108864",
        "64MiB, 67108864",
        "64 mib, 67108864",
        "1GiB, 1073741824",
        "1.5G, 1610612736",
        "0.0001k, 0",
        "2T, 2199023255552",
        "4194304TiB, 4611686018427387904",
        "4611686018427387904, 4611686018427387904"
    })
    void shouldReadEveryForm(final String text, final long bytes) {
        assertEquals(bytes, ByteSize.parse("size", text, 0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "M",
                "-1",
                "1e9",
                "64Mi",
                "64 x",
                "1.",
                ".5G",
                "4611686018427387905",
                "4194304.5T",
                "9999999999999999999T"
            })
    void shouldNameWhatIsNoSize(final String text) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> ByteSize.parse("--region", text, 0));

        assertEquals(
                "--region=" + text + " must be a size such as 65536, 512MiB or 1.5G, >= 0 and <= 2^62 bytes",
                thrown.getMessage());
    }

    @Test
    void shouldRefuseLessThanTheLeast() {
        assertThrows(IllegalArgumentException.class, () -> ByteSize.parse("--region", "1K", 1025));
        assertEquals(1025, ByteSize.parse("--region", "1025", 1025));
    }
}
