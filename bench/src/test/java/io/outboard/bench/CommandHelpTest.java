package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.CommandRun;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what helps a user who doesn't know the commands by heart. */
class CommandHelpTest {

    @ParameterizedTest
    @CsvSource({
        "malloc-large --stratgy tlsf, did you mean --strategy?",
        "malloc-large --pofile=large, did you mean --profile?",
        "repaly trace.csv, did you mean replay?",
        "malloc-larg, did you mean malloc-large?",
        "malloc-large --strategy tslf, did you mean tlsf?",
        "check --strategy bitmsk, did you mean bitmask?",
        "soak --strategy poold, did you mean pooled?",
        "malloc-large --profile lrage --ops 1000, did you mean large?",
        "pool --profile smal --ops 1000, did you mean small?",
    })
    void shouldSayWhatSomebodyMayHaveMeant(final String arguments, final String suggestion) {
        final CommandRun outcome = CommandRun.of(arguments.split(" "));

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains(suggestion), outcome.err());
    }

    @Test
    void shouldSuggestNothingThatIsNotSimilar() {
        final CommandRun outcome = CommandRun.of("frobnicate");

        assertEquals(2, outcome.exitCode());
        assertFalse(outcome.err().contains("did you mean"), outcome.err());
    }

    @Test
    void shouldHelpByCommand() {
        final CommandRun all = CommandRun.of("help");
        final CommandRun one = CommandRun.of("help", "replay");

        assertEquals(0, all.exitCode(), all.err());
        assertEquals(CommandRun.of("--help").out(), all.out());
        assertEquals(0, one.exitCode(), one.err());
        assertEquals(CommandRun.of("replay", "--help").out(), one.out());
    }

    @Test
    void shouldWriteACompletionScriptThatKnowsCommandsOptionsAndNames() {
        final CommandRun outcome = CommandRun.of("completion");

        assertEquals(0, outcome.exitCode(), outcome.err());
        for (final String word : List.of("malloc-large", "compare", "--fail-on-oom", "segregated-fit", "pingpong")) {
            assertTrue(outcome.out().contains(word), word);
        }
        assertTrue(outcome.out().contains("complete -F _complete_outboard"), outcome.out());
    }
}
