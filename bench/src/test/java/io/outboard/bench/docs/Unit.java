package io.outboard.bench.docs;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A unit stands behind a figure, and has the factor by which a number of the files is multiplied: files have ns, bytes
 * and shares.
 */
enum Unit {
    NANOSECONDS("ns", 1),
    MICROSECONDS("µs", 1e-3),
    MICROSECONDS_ASCII("us", 1e-3),
    MILLISECONDS("ms", 1e-6),
    SECONDS("s", 1e-9),
    PER_CENT("%", 100),
    KIB("KiB", 1.0 / (1L << 10)),
    MIB("MiB", 1.0 / (1L << 20)),
    GIB("GiB", 1.0 / (1L << 30)),
    TIB("TiB", 1.0 / (1L << 40)),
    MEGABYTES("MB", 1e-6),
    MILLIONS_PER_SECOND("M/s", 1e-6),
    TIMES("times", 1),
    BYTES("bytes", 1),
    BYTE("B", 1);

    private final String symbol;
    private final double scale;

    Unit(final String symbol, final double scale) {
        this.symbol = symbol;
        this.scale = scale;
    }

    double scale() {
        return scale;
    }

    static Unit named(final String symbol) {
        return Arrays.stream(values())
                .filter(unit -> unit.symbol.equals(symbol))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unit=" + symbol + " must be one of: " + pattern()));
    }

    /** Returns all units for a regular expression; a unit that another one begins with comes after it. */
    static String pattern() {
        return Arrays.stream(values())
                .map(unit -> unit.symbol)
                .sorted((one, other) -> other.length() - one.length())
                .collect(Collectors.joining("|"));
    }
}
