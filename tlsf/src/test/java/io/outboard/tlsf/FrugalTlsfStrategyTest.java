package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** These tests say which block of a list is divided first. */
class FrugalTlsfStrategyTest {

    private static final long BASE = 1L << 40;

    private final Strategy strategy =
            new FrugalTlsfStrategy(new Region(BASE, 1000 * 256), new StrategyOptions(256, 1024));

    private long low;
    private long middle;
    private long high;

    @BeforeEach
    void allocateThreeThatCantMerge() {
        low = allocate();
        middle = allocate();
        high = allocate();
    }

    private long allocate() {
        final long address = strategy.allocate(7 * 256);
        strategy.allocate(256);
        return address;
    }

    @Test
    void shouldTakeTheLowestThoughAHigherOneWasFreedLast() {
        strategy.free(low);
        strategy.free(high);

        assertEquals(low, strategy.allocate(7 * 256));
        assertEquals(high, strategy.allocate(7 * 256));
    }

    @Test
    void shouldTakeALowerOneThatWasFreedLast() {
        strategy.free(high);
        strategy.free(low);

        assertEquals(low, strategy.allocate(7 * 256));
    }

    /** The strategy only looks at two blocks of a list. */
    @Test
    void shouldTakeTheOneThatCameLastOfThoseThatAreNotFirst() {
        strategy.free(low);
        strategy.free(middle);
        strategy.free(high);

        assertEquals(low, strategy.allocate(7 * 256));
        assertEquals(high, strategy.allocate(7 * 256));
        assertEquals(middle, strategy.allocate(7 * 256));
    }

    /** Offsets are unsigned: the higher block lies behind 2^31 granules. */
    @Test
    void shouldCompareOffsetsAsUnsignedNumbers() {
        final Strategy large =
                new FrugalTlsfStrategy(new Region(BASE, (3L << 30) * 256), new StrategyOptions(256, 1024));
        final long first = large.allocate(7 * 256);
        large.allocate((5L << 29) * 256);
        final long last = large.allocate(7 * 256);
        large.allocate(256);
        large.free(last);
        large.free(first);

        assertEquals(first, large.allocate(7 * 256));
    }
}
