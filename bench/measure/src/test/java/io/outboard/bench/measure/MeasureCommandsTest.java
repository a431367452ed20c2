package io.outboard.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.CommandRun;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeasureCommandsTest {

    @ParameterizedTest
    @CsvSource({
        "pool --seeds 2, --seeds=2 must be 1",
        "pool --tail, --tail",
        "check --ops 2000 --out /proc, --out=/proc must be",
        "compare no-such-folder no-such-folder, no-such-folder",
    })
    void shouldNameAWrongArgumentInOneLineAndExitWithTwo(final String arguments, final String named) {
        final CommandRun outcome = CommandRun.of(arguments.split(" "));

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains(named), outcome.err());
        assertEquals("", outcome.out());
    }
}
