package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextTableTest {

    private record Row(String name, double first, double second) {}

    private static final List<Row> ROWS =
            List.of(new Row("one", 30, 7), new Row("two", 20, Double.NaN), new Row("three", 10, 9));

    private static TextTable<Row> table() {
        return new TextTable<Row>()
                .column("name", Row::name)
                .group("allocate")
                .column("p50", row -> String.valueOf((int) row.first()), Row::first)
                .column("p99", row -> String.valueOf((int) row.first() + 1))
                .group("free")
                .column("p50", row -> String.valueOf((int) row.second()), Row::second);
    }

    private static List<String> lines(final TextTable<Row> table, final List<Row> rows, final int width) {
        final StringWriter text = new StringWriter();
        table.print(rows, new PrintWriter(text, true), width);
        return text.toString().lines().toList();
    }

    @Test
    void shouldMarkTheBestOfAColumn() {
        assertEquals(
                List.of(
                        "name   allocate p50   p99  free p50",
                        "one              30    31         7*",
                        "two              20    21         0",
                        "three            10*   11         9"),
                lines(table(), ROWS, 80));
    }

    @Test
    void shouldGoOnBelowWithTheNameAndTheGroupWhereTheTerminalEnds() {
        assertEquals(
                List.of(
                        "name   allocate p50",
                        "one              30",
                        "two              20",
                        "three            10*",
                        "",
                        "name   allocate p99",
                        "one              31",
                        "two              21",
                        "three            11",
                        "",
                        "name   free p50",
                        "one           7*",
                        "two           0",
                        "three         9"),
                lines(table(), ROWS, 22));
    }

    /** A group stays together if it has room below. */
    @Test
    void shouldKeepAGroupTogether() {
        final TextTable<Row> table = new TextTable<Row>()
                .column("name", Row::name)
                .column("ops", row -> "1234567")
                .group("free")
                .column("p50", row -> "1")
                .column("p99", row -> "2");

        assertEquals(
                List.of("name      ops", "one   1234567", "", "name  free p50  p99", "one          1    2"),
                lines(table, ROWS.subList(0, 1), 25));
    }

    @Test
    void shouldMarkNothingWhereThereIsNoChoice() {
        assertEquals(
                List.of("name  allocate p50  p99  free p50", "one             30   31         7"),
                lines(table(), ROWS.subList(0, 1), 80));
    }

    @ParameterizedTest
    @CsvSource({"120, 90, 120", ", 90, 90", ", , 80", "x, 0, 80", "-5, , 80", "1, , 40", "99999, , 1000"})
    void shouldKnowHowWideTheTerminalIs(
            final @Nullable String variable, final @Nullable String property, final int columns) {
        assertEquals(columns, TextTable.columns(variable, property));
    }
}
