package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.bench.cli.report.strategies.StrategyParts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** This test makes README's picture anew, of the data that README's table is made of, and compares. */
class ReadmePictureTest {

    @TempDir
    private Path folder;

    @Test
    void shouldShowWhatTheTableSays() throws IOException {
        final String processes =
                Claims.parse(Page.read("docs/claims.txt").text()).files().get("processes");
        final Path data = Objects.requireNonNull(
                Page.PROJECT.resolve(Objects.requireNonNull(processes)).getParent());
        final Path picture = Page.PROJECT.resolve("docs/latency.svg");
        final Path made = folder.resolve("latency.svg");

        StrategyParts.writePicture(data, made);
        if (Boolean.getBoolean("outboard.docs.update")) {
            Files.copy(made, picture, StandardCopyOption.REPLACE_EXISTING);
        }

        assertEquals(Files.readString(made), Files.readString(picture));
    }
}
