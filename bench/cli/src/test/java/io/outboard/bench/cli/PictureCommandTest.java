package io.outboard.bench.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.TraceWriter;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.Pool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests check {@code outboard picture} as users call it. */
class PictureCommandTest {

    @TempDir
    private Path folder;

    private Path trace() throws IOException {
        final Path file = folder.resolve("mid.hpt");
        TraceWriter.writeHpTrace(Profiles.named("mid", 4000), file);
        return file;
    }

    @Test
    void shouldWriteAPageOfATrace() throws IOException {
        final Path page = folder.resolve("page.html");
        final CommandRun outcome =
                CommandRun.of("picture", trace().toString(), "--strategy", "hal-best-fit", "--out", page.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertEquals(
                List.of("peak: 1.62GiB in use after operation 3,999", "picture: " + page),
                outcome.out().lines().toList());
        final String text = Files.readString(page);
        assertTrue(text.contains("4,000 operations on hal-best-fit in "), "caption");
        assertFalse(text.contains("found no memory"), "the smallest region serves all");
        assertFalse(text.contains("http://") || text.contains("https://"), "the page needs no network");
    }

    @Test
    void shouldCompareTwoTraces() throws IOException {
        final Path page = folder.resolve("page.html");
        final Path other = Files.writeString(
                folder.resolve("other.csv"), "Thread,Time,Action,Pointer,Size,Stream\n7,1,allocate,0x10,1000,0\n");
        final CommandRun outcome =
                CommandRun.of("picture", trace().toString(), "--beside", other.toString(), "--out", page.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertEquals(
                List.of(
                        "peak: 1.62GiB in use after operation 3,999",
                        "beside it " + other,
                        "peak: 1KiB in use after operation 0",
                        "      1KiB 100 %       1 blocks, median life to the end: thread 7",
                        "picture: " + page),
                outcome.out().lines().toList());
        assertTrue(Files.readString(page).contains("\"other\":{\"name\":\"other.csv\",\"bytes\":1024,"));
    }

    @Test
    void shouldWriteAPageOfADump() throws IOException {
        final Path dump = folder.resolve("now.json");
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30)).build()) {
            pool.free(pool.allocate(1 << 20));
            pool.dump(dump);
        }
        final Path page = folder.resolve("page.html");
        final CommandRun outcome = CommandRun.of("picture", dump.toString(), "--out", page.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(Files.readString(page).contains("data-kind=\"dump\""));
        for (final String option : new String[] {"--strategy", "--region", "--beside"}) {
            final CommandRun refused = CommandRun.of(
                    "picture",
                    dump.toString(),
                    "--out",
                    page.toString(),
                    option,
                    option.equals("--region") ? "1GiB" : "tlsf");
            assertEquals(2, refused.exitCode(), refused.err());
            assertTrue(refused.err().contains(option + " must not go with a dump"), refused.err());
        }
    }

    @Test
    void shouldRefuseWhatIsWrong() throws IOException {
        for (final List<String> wrong : List.of(
                List.of("--strategy", "tslf"),
                List.of("--region", "much"),
                List.of("--region", "100"),
                List.of("--out", folder.toString()),
                List.of("--out", folder.resolve("none/page.html").toString()))) {
            final CommandRun outcome = CommandRun.of("picture", trace().toString(), wrong.get(0), wrong.get(1));

            assertEquals(2, outcome.exitCode(), outcome.err());
            assertTrue(outcome.err().contains(wrong.get(0) + "=" + wrong.get(1)), outcome.err());
        }
    }
}
