package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.report.ReportPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckSectionTest {

    @Test
    void shouldShowWhatACheckFound(@TempDir final Path directory) throws IOException {
        Files.writeString(directory.resolve(CheckCommand.FILE_NAME), """
                {"strategy":"tlsf","seed":7,"shards":2,"operations":8000000,"violations":0,"seconds":2.5,"nsPerOp":312.5}
                {"strategy":"pooled","operations":1000,"violations":1}
                """);

        final String page = Files.readString(ReportPage.write(directory, List.of(CheckCommand.PART)))
                .replaceAll(" data-of=\"[^\"]*\"", "");

        assertTrue(page.contains(
                "<h1>8,001,000 random operations on 2 strategies, each compared with a model: 1 violation."));
        assertTrue(page.contains("<data value=\"8000000\">8,000,000</data>"));
        assertTrue(page.contains("class=\"remarkable\"><data value=\"1\">1</data>"));
    }
}
