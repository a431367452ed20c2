package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each test lists the blocks by their sizes, in the order of the region, free ones with an f; together they fill the
 * region.
 */
class BuddyTreeTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 | 8f 4f",
                "1 | 1 | 4 4f 4f",
                "1 | 1 | 2f 2 4f 2 2f",
                "1 | 1 | 1 1f 2f 4f 4",
                "1 | 2 | 13f 1f",
                "1 | 2 | 8f 5 1f",
                "1 | 2 | 5 3f 3 2f 1f",
                "1 | 2 | 3f 2 2 1f 5f 1",
                "2 | 2 | 8f 4 2f",
                "2 | 2 | 8f 6f 2f",
                "2 | 2 | 4 4f 2f 1 3 1f 1"
            })
    void shouldTakeNodesAsTheyCome(final int systems, final int step, final String blocks) {
        assertDoesNotThrow(() -> check(systems, step, blocks));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | 1 | 4f 4f 4      | both buddies at granule 0, of 8 granules together",
                "1 | 1 | 4 2f 2f 4    | both buddies at granule 4, of 4 granules together",
                "1 | 1 | 2 4 2 4      | a block at granule 2 is no node",
                "1 | 1 | 3 1 4 4      | a block at granule 0 is no node",
                "1 | 2 | 8f 5f 1      | both buddies at granule 0, of 13 granules together",
                "1 | 2 | 5 2f 1f 5 1  | both buddies at granule 5, of 3 granules together",
                "1 | 2 | 3 5 5 1      | a block at granule 3 is no node",
                "2 | 2 | 8 3f 3f 2    | both buddies at granule 8, of 6 granules together",
                "2 | 2 | 8 2f 1f 3 2  | both buddies at granule 8, of 3 granules together",
                "2 | 2 | 8 4 2 2      | a block at granule 8 is no node",
                "2 | 2 | 8 4 2 1 1f   | a block at granule 8 is no node"
            })
    void shouldFindWhatCannotBe(final int systems, final int step, final String blocks, final String message) {
        final ViolationException thrown = assertThrows(ViolationException.class, () -> check(systems, step, blocks));

        assertTrue(String.valueOf(thrown.getMessage()).contains(message), thrown.getMessage());
    }

    private static void check(final int systems, final int step, final String text) {
        final String[] blocks = text.split(" ", -1);
        final long[] starts = new long[blocks.length];
        final long[] sizes = new long[blocks.length];
        final boolean[] free = new boolean[blocks.length];
        long end = 0;
        for (int i = 0; i < blocks.length; i++) {
            starts[i] = end;
            sizes[i] = Long.parseLong(blocks[i].replace("f", ""));
            free[i] = blocks[i].endsWith("f");
            end += sizes[i];
        }
        new BuddyTree(systems, step, end).check(starts, sizes, free, blocks.length);
    }
}
