package io.outboard.bench.kernels.papers;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable.Cell;
import io.outboard.bench.cli.report.Units;

/** This class makes cells of values. */
final class Cells {

    static final int NS_A_MICROSECOND = 1000;
    static final int NS_A_MILLISECOND = 1_000_000;

    private Cells() {}

    static Cell ns(final double value) {
        return new Cell(value, Units.time(value));
    }

    static Cell us(final double value) {
        return ns(value * NS_A_MICROSECOND);
    }

    static Cell ms(final double value) {
        return ns(value * NS_A_MILLISECOND);
    }

    static Cell count(final double value) {
        return new Cell(value, Units.count(value));
    }

    static Cell number(final double value) {
        return new Cell(value, Units.number(value));
    }

    static Cell factor(final double value) {
        return new Cell(value, Units.factor(value));
    }

    static Cell share(final double value) {
        return new Cell(value, Units.percent(value));
    }

    static Cell bytes(final double value) {
        return new Cell(value, Units.bytes(value));
    }

    static Cell words(final String text) {
        return new Cell(Double.NaN, text.isEmpty() ? Html.NONE : text);
    }
}
