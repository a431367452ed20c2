package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitsTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "23, 23 ns",
        "18.234, 18.2 ns",
        "5.5, 5.50 ns",
        "9.996, 10.0 ns",
        "99.96, 100 ns",
        "999, 999 ns",
        "999.6, 1.00 \u00B5s",
        "1000, 1.00 \u00B5s",
        "39453, 39.5 \u00B5s",
        "999600, 1.00 ms",
        "2.5e9, 2.50 s",
        "-12, -12 ns"
    })
    void shouldWriteTimesWithThreeDigits(final double ns, final String expected) {
        assertEquals(expected, Units.time(ns).replace('\u00A0', ' '));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "256, 256 B",
        "1023, 1%023 B",
        "1024, 1.00 KiB",
        "1048064, 1.00 MiB",
        "1047552, 1%023 KiB",
        "1288490188, 1.20 GiB",
        "1e30, 888%178%419%700%125 PiB"
    })
    void shouldWriteSizesInBinaryUnits(final double bytes, final String expected) {
        assertEquals(expected.replace('%', ','), Units.bytes(bytes).replace('\u00A0', ' '));
    }

    @ParameterizedTest
    @CsvSource({"0, min", "0.5, 50 %", "0.99, 99 %", "0.999, 99.9 %", "0.99999, 99.999 %", "1, max"})
    void shouldWritePercentilesAsShortAsTheyAreExact(final double percentile, final String expected) {
        assertEquals(expected, Units.percentile(percentile).replace('\u00A0', ' '));
    }

    @Test
    void shouldWriteADashForWhatWasNotMeasured() {
        assertEquals("\u2013", Units.time(Double.NaN));
        assertEquals("\u2013", Units.bytes(Double.NaN));
        assertEquals("\u2013", Units.count(Double.NaN));
        assertEquals("\u2013", Units.percent(Double.NaN));
        assertEquals("\u2013", Units.ratio(Double.NaN));
        assertEquals("\u2013", Units.factor(Double.NaN));
    }

    @Test
    void shouldSayThatAMachineWasBusy() {
        assertEquals("", Units.busy(DoubleStream.of(0, 0.04, Double.NaN)));
        assertTrue(
                Units.busy(DoubleStream.of(0.43, Double.NaN, 0.1))
                        .startsWith(
                                "The machine was busy: other programs had up to 43.0\u00A0% of the processor's time. "),
                Units.busy(DoubleStream.of(0.43)));
    }
}
