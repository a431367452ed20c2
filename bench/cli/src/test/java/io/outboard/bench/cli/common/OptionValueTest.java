package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class OptionValueTest {

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "1e9, 1000000000",
        "1E10, 10000000000",
        "2.5e6, 2500000",
        "12345, 12345",
        "1e15, 1000000000000000"
    })
    void shouldReadAWholeNumber(final String text, final long number) {
        assertEquals(number, new OptionValue.WholeLong().convert(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "", "many", "1e", "1.5", "2.5e0", "1e16", "1e99", "0x10", "1_000", "+5"})
    void shouldRefuseWhatIsNone(final String text) {
        assertThrows(TypeConversionException.class, () -> new OptionValue.WholeLong().convert(text));
        assertThrows(TypeConversionException.class, () -> new OptionValue.WholeInt().convert(text));
    }

    @Test
    void shouldRefuseAnIntThatIsTooLarge() {
        assertEquals(Integer.MAX_VALUE, new OptionValue.WholeInt().convert("2147483647"));
        assertThrows(TypeConversionException.class, () -> new OptionValue.WholeInt().convert("2147483648"));
    }

    @Test
    void shouldReadSizesThatAreMoreThanNothing() {
        assertEquals(64L << 20, OptionValue.bytes("--region", "64MiB"));
        assertThrows(WrongUseException.class, () -> OptionValue.bytes("--region", "0"));
    }
}
