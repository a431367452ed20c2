package io.outboard.pool.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import org.junit.jupiter.api.Test;

/** A program needs what it has in use, and what it used again after it was in limbo. */
class ArenaCountersTest {

    private static final long KIB = 1 << 10;
    private static final long BLOCK = 64 * KIB;

    private final Region region = new Region(0, 1024 * KIB);
    private final Strategy strategy = Strategies.named("tlsf").create(region, new StrategyOptions(256, 1024));
    private final Arenas arenas = new Arenas(false, 1024 * KIB, Long.MAX_VALUE, 0);
    private final Arena arena = arenas.home();
    private final Segment segment = new Segment(arena, region, strategy, null, 1024, 1024);

    private void allocateAndFree(final int blocks) {
        for (int i = 0; i < blocks; i++) {
            arena.free(segment, arena.placeAgain(BLOCK, 1));
        }
    }

    private void finishAll() {
        final long number = arenas.closeAll();
        arenas.progress.begin();
        arenas.progress.finish(number);
        arenas.releaseAll();
    }

    @Test
    void shouldNeedNothingForBlocksThatStayInLimbo() {
        arena.add(segment);

        allocateAndFree(4);

        assertEquals(4 * BLOCK, arenas.totals.limboBytes());
        assertEquals(BLOCK, arenas.totals.takePeakNeeded());
        assertEquals(0, arenas.totals.takePeakNeeded());
    }

    @Test
    void shouldNeedRoomForBlocksThatCameBackFromLimbo() {
        arena.add(segment);

        allocateAndFree(4);
        finishAll();

        assertEquals(0, arenas.totals.limboBytes());
        assertEquals(4 * BLOCK, arenas.totals.takePeakNeeded());
    }

    @Test
    void shouldKeepThePeakThatWasTaken() {
        arena.add(segment);
        allocateAndFree(1);

        arenas.totals.takePeakNeeded();

        assertEquals(BLOCK, arenas.totals.peakUsedBytes());
    }
}
