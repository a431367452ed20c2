package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** This class calls {@code outboard check} as users do, except that exceptions are printed in another way. */
class CheckCommandTest {

    private static final int FAILED = 1;

    @TempDir
    private Path folder;

    private final AtomicInteger made = new AtomicInteger();

    @Test
    void shouldCheckStrategiesAndWriteWhatItFound() throws Exception {
        final Ran ran = run(
                this::count,
                "--ops=40000",
                "--strategy=tlsf,hal-next-fit",
                "--threads=2",
                "--format=json",
                "--out=" + folder);

        assertEquals(0, ran.exitCode, ran.err);
        final List<String> lines = ran.out.lines().toList();
        assertEquals(2, lines.size());
        assertTrue(
                lines.get(0)
                        .matches("\\{\"strategy\":\"tlsf\",\"seed\":1,\"shards\":1,\"operations\":200\\d\\d,"
                                + "\"byHandle\":[1-9]\\d*,\"wrongHandles\":[1-9]\\d*,\"violations\":0,.*"
                                + "\"commit\":\"[^\"]+\"}"),
                lines.get(0));
        assertEquals(lines, Files.readAllLines(folder.resolve("check.jsonl")));
        assertTrue(Files.readString(folder.resolve("environment.json")).contains("\"jdk\":"));
        assertEquals(2, Files.readAllLines(folder.resolve("check-shards.jsonl")).size());
    }

    @Test
    void shouldGoOnWhereARunEnded() throws Exception {
        final String[] arguments = {
            "--ops=40000", "--strategy=tlsf,hal-next-fit", "--threads=1", "--format=json", "--out=" + folder
        };
        final Ran first = run(this::count, arguments);
        final Path state = folder.resolve("check-shards.jsonl");
        final List<String> shards = Files.readAllLines(state);
        final int madeAtFirst = made.getAndSet(0);

        final Ran again = run(this::count, arguments);

        assertEquals(2, madeAtFirst);
        assertEquals(0, made.get());
        assertEquals(first.out, again.out);
        assertEquals(shards, Files.readAllLines(state));

        Files.writeString(state, shards.get(0) + "\n" + shards.get(1).substring(0, 50));
        final Ran interrupted = run(this::count, arguments);

        assertEquals(0, interrupted.exitCode, interrupted.err);
        assertEquals(1, made.get());
        assertEquals(withoutSeconds(shards), withoutSeconds(Files.readAllLines(state)));
    }

    /**
     * A folder with the command's own results is continued; with results of a measurement its page would show two runs.
     */
    @Test
    void shouldReplaceAnotherRunOnlyOnRequest() throws Exception {
        Files.writeString(folder.resolve("results.jsonl"), "old");
        Files.writeString(folder.resolve("check-shards.jsonl"), "of another seed\n");
        final String[] command = {"--ops=2000", "--strategy=tlsf", "--out=" + folder, "--overwrite"};

        final Ran refused = run(Strategies::named, Arrays.copyOf(command, command.length - 1));

        assertEquals(FAILED, refused.exitCode, refused.out);
        assertTrue(refused.err.contains("--out=" + folder + " must be a folder without another run's"), refused.err);
        assertTrue(refused.err.contains("but has results.jsonl"), refused.err);
        assertEquals("of another seed\n", Files.readString(folder.resolve("check-shards.jsonl")));

        final Ran replaced = run(Strategies::named, command);

        assertEquals(0, replaced.exitCode, replaced.err);
        assertFalse(Files.exists(folder.resolve("results.jsonl")));
        assertEquals(1, Files.readAllLines(folder.resolve("check-shards.jsonl")).size());
    }

    private static Set<String> withoutSeconds(final List<String> lines) {
        final Set<String> all = new TreeSet<>();
        lines.forEach(line -> all.add(line.replaceAll("\"seconds\":[0-9.]+", "")));
        return all;
    }

    @Test
    void shouldSayHowToRepeatAViolationAndFail() {
        final Ran ran = run(
                name -> BrokenStrategy.provider(Fault.OVERLAP),
                "--ops=9e6",
                "--strategy=tlsf",
                "--seed=16",
                "--threads=1",
                "--format=json");

        assertEquals(FAILED, ran.exitCode, ran.out);
        assertTrue(ran.out.contains("\"shards\":1,") && ran.out.contains("\"violations\":1,"), ran.out);
        assertTrue(ran.err.matches("(?s)tlsf, seed 16, shard 0, operation [0-9]+: allocate takes .*"), ran.err);
        assertTrue(
                ran.err.contains("to repeat it: ./outboard check --strategy tlsf --seed 16 --shard 0 --ops 4000000"),
                ran.err);
        assertTrue(ran.err.contains("violations=1 must be 0"), ran.err);
    }

    @Test
    void shouldRepeatOneShard() {
        final String whole = run(Strategies::named, "--strategy=tlsf", "--seed=3", "--ops=10000", "--format=json").out;
        final String shard =
                run(Strategies::named, "--strategy=tlsf", "--seed=3", "--ops=10000", "--format=json", "--shard=0").out;
        final String other =
                run(Strategies::named, "--strategy=tlsf", "--seed=3", "--ops=10000", "--format=json", "--shard=1").out;

        assertEquals(digest(whole), digest(shard));
        assertFalse(digest(whole).equals(digest(other)));
    }

    private static String digest(final String json) {
        return json.replaceAll("(?s).*\"digest\":\"([0-9a-f]+)\".*", "$1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--ops=many      | '--ops': 'many' must be a whole number from 1 to 1e15, such as 1000000 or 1e6",
                "--threads=0     | --threads=0 must be >= 1 and <= 1000",
                "--strategy=foo  | --strategy=foo must be one of",
                "--shard=-1      | --shard=-1 must be >= 0",
                "--shard=3       | --shard=3 must be of one strategy, and without --out",
                "--seed=x        | 'x' is not a long"
            })
    void shouldNameAWrongArgument(final String option, final String message) {
        final Ran ran = run(Strategies::named, option);

        assertTrue(ran.exitCode != 0, ran.out);
        assertTrue(ran.err.contains(message), ran.err);
    }

    @Test
    void shouldNameAFolderThatCannotBeMade() throws Exception {
        final Path file = Files.writeString(folder.resolve("file"), "");

        final Ran ran = run(Strategies::named, "--ops=100", "--strategy=tlsf", "--out=" + file);

        assertTrue(ran.err.contains("--out=" + file + " must be a folder in which files can be written"), ran.err);
    }

    private StrategyProvider count(final String name) {
        made.incrementAndGet();
        return Strategies.named(name);
    }

    private record Ran(int exitCode, String out, String err) {}

    private static Ran run(final Function<String, StrategyProvider> providers, final String... arguments) {
        final StringWriter out = new StringWriter();
        final StringWriter err = new StringWriter();
        final CommandLine commandLine = new CommandLine(new CheckCommand(providers))
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setExecutionExceptionHandler((exception, command, result) -> {
            command.getErr().println(exception.getMessage());
            return FAILED;
        });
        final int exitCode = commandLine.execute(arguments);
        commandLine.getErr().flush();
        return new Ran(exitCode, out.toString(), err.toString());
    }
}
