package io.outboard.pool.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When there is no room for a mark, these tests say which one goes. */
class MarksTest {

    private static final int MOST = 16;

    @ParameterizedTest
    @ValueSource(ints = {17, 20, 31, 33, 100, 1000, 12_345})
    void shouldSpreadMarksOverAllThatWereMade(final int made) {
        final Marks marks = new Marks(MOST);
        for (int i = 0; i < made; i++) {
            marks.add(-i, i);
            if (marks.isFull()) {
                marks.removeClosest();
            }
        }

        final List<Long> left = new ArrayList<>();
        while (!marks.isEmpty()) {
            left.add(marks.oldestNumber());
            assertEquals(-marks.oldestNumber(), marks.oldest());
            assertEquals(-left.get(left.size() - 1), marks.removeOldest());
        }
        assertEquals(MOST, left.size());
        assertEquals(0, left.get(0), "somebody may wait for the oldest");
        assertEquals(made - 1, left.get(MOST - 1), "nothing is behind the youngest");
        for (int i = 1; i < MOST; i++) {
            final long gap = left.get(i) - left.get(i - 1);
            assertTrue(gap >= 1 && gap <= Math.max(2, made / 8), left::toString);
        }
    }
}
