package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.ResultsSection;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** These tests check that an interrupted run leaves the results known so far. */
class ResultOutputTest {

    @TempDir
    private Path folder;

    private final StringWriter printed = new StringWriter();

    private ResultOutput results(final String... arguments) {
        final OutputOptions options = new OutputOptions();
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        final ResultsSection.Kind kind =
                new ResultsSection.Kind("some.json", "Some", List.of("name"), List.of(), List.of());
        return new ResultOutput(options, kind, new PrintWriter(printed), null);
    }

    @Test
    void shouldWriteEachFigureAsItIsKnown() throws Exception {
        final ResultOutput results = results("--out", folder.toString());

        results.add(new JsonLine().put("name", "a"));

        final List<String> first = Files.readAllLines(folder.resolve("some.json"));
        assertEquals(1, first.size());
        assertTrue(first.get(0).startsWith("{\"name\":\"a\",\"jdk\":"), first.get(0));
        assertTrue(Files.exists(folder.resolve("environment.json")));
        assertFalse(Files.exists(folder.resolve("report.html")));
        assertEquals("", printed.toString());

        results.add(new JsonLine().put("name", "b"));

        final List<String> both = Files.readAllLines(folder.resolve("some.json"));
        assertEquals(first.get(0), both.get(0));
        assertEquals(2, both.size());
    }

    @Test
    void shouldPrintJsonAsItIsKnownAndNoTableThen() throws Exception {
        final ResultOutput results = results("--format", "json");

        results.add(new JsonLine().put("name", "a"));

        final String line = printed.toString();
        assertTrue(line.startsWith("{\"name\":\"a\",\"jdk\":"), line);

        results.print(table -> table.println("a table"));

        assertEquals(line, printed.toString());
    }
}
