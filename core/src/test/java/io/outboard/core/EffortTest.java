package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EffortTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 19, 20, 21, 40, 999})
    void shouldComeToEachSeedInSomeRun(final int all) {
        final SplittableRandom random = new SplittableRandom(1);
        final BitSet tried = new BitSet();
        for (int run = 0; run < 20_000; run++) {
            final Effort.Seeds seeds = Effort.part(all, random);
            assertTrue(1 <= seeds.first() && seeds.last() <= all, seeds::toString);
            assertEquals((all + Effort.SEEDS_PART - 1) / Effort.SEEDS_PART, seeds.last() - seeds.first() + 1);
            tried.set((int) seeds.first(), (int) seeds.last() + 1);
        }

        assertEquals(all, tried.cardinality());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4})
    void shouldHaveATurnForOneAtLeast(final int of) {
        int inTurn = 0;
        for (int index = 0; index < of; index++) {
            inTurn += Effort.isInTurn(index, of) ? 1 : 0;
        }

        assertTrue(inTurn == 1 || inTurn == of, "in turn: " + inTurn);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 1000})
    void shouldTrySomethingAlways(final int all) {
        assertTrue(Effort.tries(all) >= 1);
    }
}
