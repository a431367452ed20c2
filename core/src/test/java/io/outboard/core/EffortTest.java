package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
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
    @ValueSource(ints = {1, 4, 5})
    void shouldRunOneClassOfThoseThatTakeLongOrAll(final int of) {
        final long inTurn = IntStream.range(0, of)
                .filter(index -> Effort.isClassInTurn(index, of))
                .count();

        assertEquals(Effort.isThorough() ? of : 1, inTurn);
    }

    /** Each of a build's JVMs drew a class of its own, so that none to all of those that take long ran. */
    @Test
    void shouldHaveOneTurnInAllJvmsOfABuild() {
        final String build = System.getProperty("outboard.turn");
        assumeTrue(build != null, "no build runs these tests");

        for (int index = 0; index < 4; index++) {
            assertEquals(Effort.isThorough() || Effort.turn(build) % 4 == index, Effort.isClassInTurn(index, 4), build);
        }
    }

    @Test
    void shouldComeToEveryClassInManyBuilds() {
        final BitSet inTurn = new BitSet();
        for (int second = 10; second < 60; second++) {
            inTurn.set(Effort.turn("2026-11-25T12:00:" + second + "Z") % 4);
        }

        assertEquals(4, inTurn.cardinality());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 1000})
    void shouldTrySomethingAlways(final int all) {
        assertTrue(Effort.tries(all) >= 1);
    }
}
