package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.WrongUseException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StateFileTest {

    private static final Shard FIRST = new Shard("tlsf", -7, 0, 4_000_000);
    private static final Shard SECOND = new Shard("hal-best-fit", -7, 1, 12);
    private static final ShardResult OF_FIRST = new ShardResult(FIRST, 4_000_009, 700_000, 80, -1, 1.25, null);
    private static final ShardResult OF_SECOND = new ShardResult(SECOND, 13, 0, 0, 255, 0.5, null);

    @TempDir
    private Path folder;

    private Path file = Path.of("");

    @BeforeEach
    void nameFile() {
        file = folder.resolve("check-shards.jsonl");
    }

    private StateFile open() throws IOException {
        return new StateFile(folder, -7, "abc-dirty");
    }

    private void writeBoth() throws IOException {
        try (StateFile state = open()) {
            state.add(OF_FIRST);
            state.add(OF_SECOND);
        }
    }

    @Test
    void shouldKnowFinishedShardsWhenItIsOpenedAgain() throws IOException {
        writeBoth();

        try (StateFile state = open()) {
            assertEquals(Optional.of(OF_FIRST), state.find(FIRST));
            assertEquals(Optional.of(OF_SECOND), state.find(SECOND));
            assertEquals(Optional.empty(), state.find(new Shard("tlsf", -7, 0, 4_000_001)));
            assertEquals(Optional.empty(), state.find(new Shard("tlsf", -7, 1, 4_000_000)));
        }
        assertEquals(2, Files.readAllLines(file).size());
    }

    @Test
    void shouldNotKeepAShardWithAViolation() throws IOException {
        try (StateFile state = open()) {
            state.add(new ShardResult(FIRST, 4, 1, 1, 5, 0.1, "wrong"));
        }

        assertEquals(0, Files.size(file));
    }

    /** Wherever the file is cut off in its last line, all of the first shard is there, and nothing of the second. */
    @Test
    void shouldCutOffALineThatWasNotFinished() throws IOException {
        writeBoth();
        final byte[] whole = Files.readAllBytes(file);
        final int firstLine = Files.readAllLines(file).get(0).length() + 1;
        for (int length = firstLine; length < whole.length; length++) {
            Files.write(file, Arrays.copyOf(whole, length));

            try (StateFile state = open()) {
                assertEquals(Optional.of(OF_FIRST), state.find(FIRST));
                assertEquals(Optional.empty(), state.find(SECOND));
                state.add(OF_SECOND);
            }
            assertEquals(2, Files.readAllLines(file).size());
            assertEquals(whole.length, Files.size(file));
        }
    }

    @Test
    void shouldRefuseAFileOfSomethingElse() throws IOException {
        writeBoth();
        Files.writeString(file, "{\"strategy\":\"tlsf\"}\n", StandardOpenOption.APPEND);
        final byte[] before = Files.readAllBytes(file);

        final WrongUseException thrown = assertThrows(WrongUseException.class, this::open);

        assertTrue(String.valueOf(thrown.getMessage())
                .endsWith("check-shards.jsonl:3: must be a finished shard, as outboard check writes them"));
        assertEquals(-1, Arrays.mismatch(before, Files.readAllBytes(file)));
    }

    /**
     * The line names the same commit, as a build of changed sources does, but the numbers stood for other operations.
     */
    @ParameterizedTest
    @ValueSource(strings = {"", "\"version\":1,", "\"version\":2,", "\"version\":4,"})
    void shouldRefuseShardsOfAnotherVersion(final String version) throws IOException {
        final String line = "{" + version
                + "\"strategy\":\"tlsf\",\"seed\":-7,\"shard\":0,\"asked\":4000000,\"operations\":4000009,"
                + "\"digest\":\"ff\",\"seconds\":1.250,\"violations\":0,\"commit\":\"abc-dirty\"}\n";
        Files.writeString(file, line);

        final WrongUseException thrown = assertThrows(WrongUseException.class, this::open);

        assertTrue(
                String.valueOf(thrown.getMessage())
                        .endsWith(":1: must be of version 3, whose shards are others: choose another folder"),
                thrown.getMessage());
        assertEquals(line, Files.readString(file));
    }

    @ParameterizedTest
    @CsvSource({"-8, abc-dirty, :1: must be of seed -8", "-7, abc, :1: must be of commit abc"})
    void shouldRefuseAnotherRunsShards(final long seed, final String commit, final String message) throws IOException {
        writeBoth();

        final WrongUseException thrown =
                assertThrows(WrongUseException.class, () -> new StateFile(folder, seed, commit).close());

        assertTrue(String.valueOf(thrown.getMessage()).contains(message), thrown.getMessage());
    }

    @Test
    void shouldBeOpenOnceAtATime() throws IOException {
        try (StateFile state = open()) {
            final WrongUseException thrown = assertThrows(WrongUseException.class, this::open);

            assertTrue(String.valueOf(thrown.getMessage()).endsWith("must not be in use by another run"));
            state.add(OF_FIRST);
        }
        try (StateFile state = open()) {
            assertEquals(Optional.of(OF_FIRST), state.find(FIRST));
        }
    }
}
