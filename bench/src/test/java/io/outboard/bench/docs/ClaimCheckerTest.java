package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that false figures, and figures without a source, are found. */
class ClaimCheckerTest {

    private static final String CLAIM = "file runs runs.json\nfile text lines.txt\npage page.md\n";

    @TempDir
    private Path folder;

    @BeforeEach
    void writeResults() throws IOException {
        Files.writeString(folder.resolve("runs.json"), """
                {"strategy":"tlsf","allocate":{"p50":61.4},"held":67108864}
                {"strategy":"tlsf","allocate":{"p50":63},"held":67108864}
                {"strategy":"tlsf","allocate":{"p50":70},"held":67108864}
                {"strategy":"cuda Malloc","allocate":{"p50":35249}}
                """);
        Files.writeString(folder.resolve("lines.txt"), "pool 1,234 ns\npool 2.50 µs\ntotal: 7\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "63 ns; median runs strategy=tlsf allocate.p50",
                "35.2 µs; runs strategy=\"cuda Malloc\" allocate.p50",
                "35,249 ns; runs strategy=\"cuda Malloc\" allocate.p50",
                "35249 ns; runs strategy=\"cuda Malloc\" allocate.p50",
                "560 times; median runs strategy=\"cuda Malloc\" allocate.p50 / runs strategy=tlsf allocate.p50",
                "14 %; most runs strategy=tlsf allocate.p50 / 61.4 - 1",
                "64 MiB; most runs strategy=tlsf held",
                "2.5 µs; most line text \"pool ([\\d.,]+) (\\S+)\"",
                "1.2 µs; least line text \"pool ([\\d.,]+) (\\S+)\"",
                "7 bytes; line text \"total: (\\d+)\"",
            })
    void shouldTakeWhatTheFileSays(final String figure, final String source) {
        final String says = figure.replaceFirst("[\\d.,]+", "{}");

        assertEquals(
                List.of(), problems("It takes " + figure + " here.", "says takes " + says + " here\n = " + source));
    }

    @Test
    void shouldFindAFalseFigureAndSayWhatTheFileSays() {
        final List<String> problems =
                problems("One\nallocation takes 60 ns.", "says takes {} ns\n = least runs strategy=tlsf allocate.p50");

        assertEquals(
                List.of("page.md:2: says 60 ns where the file says 61 ns"
                        + " (docs/claims.txt:4: least runs strategy=tlsf allocate.p50 = 61.4)"),
                problems);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "It takes 60 ns.; 60 ns",
                "It takes 8 to 47 times.; 8 to 47",
                "A rate of 64.3 M/s.; 64.3",
                "56 % more; 56 %",
                "| tlsf | 1.053 |; 1.053",
                "held 64 MiB; 64 MiB",
            })
    void shouldFindAFigureFromNowhere(final String text, final String part) {
        final List<String> problems = problems(text, "");

        assertTrue(problems.size() >= 1, problems::toString);
        assertTrue(problems.get(0).contains(part) && problems.get(0).contains("no claim"), problems::toString);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "JDK 17 or newer, CUDA 12, Bell 2024, 2^32 granules",
                "`64 MiB` and `--ops 1e8`",
                "[results](bench/64 MiB)",
                "x86-64",
            })
    void shouldLeaveOtherNumbersAlone(final String text) {
        assertEquals(List.of(), problems(text, ""));
    }

    @Test
    void shouldFindAClaimThatThePageDoesNotMake() {
        assertTrue(problems("Nothing.", "says takes {} ns\n = 60").get(0).contains("doesn't say: takes {} ns"));
    }

    @Test
    void shouldFindAConditionThatDoesNotHold() {
        final String claim = "says faster than\n holds median runs strategy=tlsf allocate.p50 < 63";

        assertEquals(1, problems("It is faster than that.", claim).size());
        assertEquals(List.of(), problems("It is faster than that.", claim + ".1"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "runs strategy=tlsf allocate.p50; found 3 numbers",
                "runs strategy=none allocate.p50; found nothing",
                "60; must name a file",
                "nowhere strategy=tlsf allocate.p50; where it has nowhere",
                "runs strategy=tlsf allocate.p50 / line text \"pool ([\\d.,]+)\"; must not pair 3 numbers with 2",
            })
    void shouldSayWhatIsWrongWithASource(final String source, final String message) {
        final List<String> problems = problems("takes 60 ns", "says takes {} ns\n = " + source);

        assertTrue(problems.get(0).contains(message), problems::toString);
    }

    @Test
    void shouldRefuseWordsThatMeanNothing() {
        assertThrows(IllegalArgumentException.class, () -> Claims.parse("sais takes {} ns"));
    }

    @Test
    void shouldSayForEach() {
        final Claims claims = Claims.parse("page p\neach s: a, b\nsays `$s` {}\n = runs strategy=$s x\nsays c\n");

        assertEquals(
                List.of("`a` {}", "`b` {}", "c"),
                claims.list().stream().map(Claim::says).toList());
        assertEquals(List.of("runs strategy=b x"), claims.list().get(1).figures());
    }

    @Test
    void shouldCorrect() {
        final Claims claims = Claims.parse(
                CLAIM
                        + "says takes {} ns and {} µs\n = median runs strategy=tlsf allocate.p50\n = runs strategy=\"cuda Malloc\" allocate.p50");
        final ClaimChecker checker = new ClaimChecker(new Sources(folder), claims);
        final Page page = new Page("page.md", "It takes\n60 ns and 30.1 µs, 60 ns.");

        assertEquals("It takes\n63 ns and 35.2 µs, 60 ns.", checker.corrected(page));
    }

    private List<String> problems(final String text, final String claims) {
        return new ClaimChecker(new Sources(folder), Claims.parse(CLAIM + claims))
                .problems(new Page("page.md", text), true);
    }
}
