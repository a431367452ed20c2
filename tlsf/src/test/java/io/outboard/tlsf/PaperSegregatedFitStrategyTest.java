package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Sizes and starts count granules of a byte. */
class PaperSegregatedFitStrategyTest {

    private static final StrategyOptions OPTIONS = new StrategyOptions(1, 2048);

    /** Half of the region, but for what the first filling couldn't use: the 50 % of Bell et al. (2024), section VI. */
    @Test
    void shouldLoseHalfOfARegionWhoseFreeBlocksFitExactly() {
        final Strategy paper = new PaperSegregatedFitStrategy(new Region(0, 1024), OPTIONS);
        freeEverySecond(paper, fill(paper, 5));

        assertEquals(1024 - 102 * 5, paper.freeBytes());
        assertEquals(Strategy.NO_SPACE, paper.allocate(5));
    }

    @Test
    void shouldLoseNothingOfThatRegionByDefault() {
        final Strategy usual = new SegregatedFitStrategy(new Region(0, 1024), OPTIONS);
        freeEverySecond(usual, fill(usual, 5));

        fill(usual, 5);

        assertEquals(1024 % 5, usual.freeBytes());
    }

    /** The block of 8 that takes in the 1 behind it is put first again, and a block of 8 that lies lower is second. */
    @Test
    void shouldPutAFreeBlockThatGrowsFirstInItsList() {
        final Region region = new Region(0, 64);
        final Strategy paper = new PaperSegregatedFitStrategy(region, OPTIONS);
        final Strategy usual = new SegregatedFitStrategy(region, OPTIONS);

        assertEquals(0, firstOfTwoAfterOneGrows(paper));
        assertEquals(10, firstOfTwoAfterOneGrows(usual));
    }

    private static long firstOfTwoAfterOneGrows(final Strategy strategy) {
        final long first = strategy.allocate(8);
        final long behindFirst = strategy.allocate(1);
        strategy.allocate(1);
        final long second = strategy.allocate(8);
        for (final int rest : new int[] {32, 8, 4, 2}) {
            strategy.allocate(rest);
        }
        assertEquals(0, strategy.freeBytes());
        strategy.free(first);
        strategy.free(second);
        strategy.free(behindFirst);
        return strategy.allocate(8);
    }

    @Test
    void shouldGrantAPowerOfTwoFromItsOwnList() {
        final Strategy paper = new PaperSegregatedFitStrategy(new Region(0, 15), OPTIONS);

        assertEquals(Strategy.NO_SPACE, paper.allocate(9));
        assertEquals(Strategy.NO_SPACE, paper.allocate(9, 2));
        assertEquals(0, paper.allocate(8));
    }

    @Test
    void shouldAskForARegionOfAPowerOfTwo() {
        final StrategyOptions granules = OPTIONS.withGranuleBytes(256);

        assertEquals(1280, Strategies.named("segregated-fit").regionBytesFor(1100, 1, granules));
        assertEquals(2048, Strategies.named("segregated-fit-paper").regionBytesFor(1100, 1, granules));
        assertEquals(1024, Strategies.named("segregated-fit-paper").regionBytesFor(1024, 1, granules));
    }

    private static List<Long> fill(final Strategy strategy, final long size) {
        final List<Long> blocks = new ArrayList<>();
        for (long block = strategy.allocate(size); block != Strategy.NO_SPACE; block = strategy.allocate(size)) {
            blocks.add(block);
        }
        return blocks;
    }

    private static void freeEverySecond(final Strategy strategy, final List<Long> blocks) {
        assertNotEquals(List.of(), blocks);
        for (int i = 0; i < blocks.size(); i += 2) {
            strategy.free(blocks.get(i));
        }
    }
}
