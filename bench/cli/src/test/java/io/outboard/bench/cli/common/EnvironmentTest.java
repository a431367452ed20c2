package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class EnvironmentTest {

    /**
     * Without these options, results of a run that measured a twentieth, or with another policy, looked like results of
     * any other run.
     */
    @Test
    void shouldNameOptionsThatChangeWhatIsMeasured() {
        assertEquals(
                "-Xmx16g -Doutboard.bench.shorter=20 -Doutboard.free=barrier",
                Environment.flags(List.of("-Xmx16g", "-Doutboard.bench.shorter=20", "-Doutboard.free=barrier")));
    }

    @Test
    void shouldLeaveOutWhatTheLauncherSaysOfTheTerminal() {
        assertEquals(
                "none",
                Environment.flags(List.of(
                        "--enable-native-access=ALL-UNNAMED",
                        "-Doutboard.terminal=true",
                        "-Doutboard.columns=80",
                        "-Djava.io.tmpdir=/tmp/x")));
    }
}
