package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LargestProblemTest {

    @Test
    void shouldFindTheLargestNumberToA128th() {
        for (int limit = 3; limit < 5000; limit++) {
            final int most = limit;
            final int found = LargestProblem.find(3, number -> number <= most);

            assertTrue(found <= limit && limit - found <= found / 128, found + " for " + limit);
        }
    }

    @Test
    void shouldFindNothingWhereTheFirstDoesNotPass() {
        final List<Integer> tried = new ArrayList<>();

        final int found = LargestProblem.find(8, number -> {
            tried.add(number);
            return false;
        });

        assertEquals(0, found);
        assertEquals(List.of(8), tried);
    }
}
