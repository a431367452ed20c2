package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** This class tests the rules of the plate on the CPU, with which its twin on the device is compared. */
class StructureReferenceTest {

    private static final int COLUMNS = 64;
    private static final int NODES = COLUMNS * Structure.ROWS;
    /** Where a spring leads, by the bits of a picture: to nodes after a node, then to those before. */
    private static final int[] AWAY = {1, COLUMNS - 1, COLUMNS, COLUMNS + 1, -1, 1 - COLUMNS, -COLUMNS, -COLUMNS - 1};

    @Test
    void shouldBreakInTwoAndLoseWhatComesOff() {
        final StructureReference plate = new StructureReference(COLUMNS);
        boolean isJoined = true;

        for (int step = 1; step <= 400; step++) {
            plate.step();
            if (step % Structure.STEPS_A_SEARCH == 0) {
                final int[] picture = plate.picture();
                final boolean[] above = joinedTo(picture, 0);
                final boolean[] below = joinedTo(picture, NODES - COLUMNS);
                for (int node = 0; node < NODES; node++) {
                    final boolean exists = picture[3 * node + 2] != 0;
                    assertEquals(exists, above[node] || below[node], "step " + step + ", node " + node);
                }
                isJoined = above[NODES - COLUMNS];
            }
        }

        assertTrue(plate.counts()[0] < NODES, "nothing has come off");
        assertFalse(isJoined, "the plate is whole");
    }

    /** Returns which nodes springs join to those of a row, by a picture. */
    private static boolean[] joinedTo(final int[] picture, final int row) {
        final boolean[] joined = new boolean[NODES];
        final Deque<Integer> waiting = new ArrayDeque<>();
        for (int node = row; node < row + COLUMNS; node++) {
            joined[node] = true;
            waiting.push(node);
        }
        while (!waiting.isEmpty()) {
            final int node = waiting.pop();
            for (int bit = 0; bit < AWAY.length; bit++) {
                final int other = node + AWAY[bit];
                if ((picture[3 * node + 2] >> (1 + bit) & 1) != 0 && !joined[other]) {
                    joined[other] = true;
                    waiting.push(other);
                }
            }
        }
        return joined;
    }
}
