package io.outboard.pool.internal.arena;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import org.junit.jupiter.api.Test;

/** Limbo stays small as long as the device finishes its work at once. */
class LimboTest {

    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final int TRIMS = 6;

    private final Region region = new Region(0, 512 * MIB);
    private final Strategy strategy = Strategies.named("tlsf").create(region, new StrategyOptions(256, 1 << 16));
    private final Arenas arenas = new Arenas(false, 16 * MIB, Long.MAX_VALUE, 0);
    private final Arena arena = arenas.home();
    private final Segment segment = new Segment(arena, region, strategy, null, 1 << 16, 1 << 16);

    private void askIfWanted() {
        if (arena.wantsAsking()) {
            arena.asking();
            arenas.progress.finish(arenas.progress.begin());
        }
    }

    /** A trim used to retire a tail and release nothing, so that blocks piled up which were ready. */
    @Test
    void shouldReleaseAsMuchAsTrimsRetire() {
        arena.add(segment);
        long mostBytes = 0;
        for (int i = 0; i < 10_000; i++) {
            final long block = arena.allocate(4 * KIB * (TRIMS + 1), 1);
            for (int left = TRIMS; left > 0; left--) {
                arena.trim(segment, block, 4 * KIB * left);
            }
            arena.free(segment, block);
            askIfWanted();
            mostBytes = Math.max(mostBytes, arena.limboBytes());
        }

        final long most = mostBytes;
        assertTrue(most <= 32 * MIB, () -> most + " bytes in limbo of " + region.sizeBytes());
    }
}
