package io.outboard.pool.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams are made and forgotten. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StreamsTest {

    private static final long MIB = 1L << 20;
    private static final long STREAM = 7;

    private final Region region = new Region(0, MIB);
    private final Strategy strategy = Strategies.named("tlsf").create(region, new StrategyOptions(256, 1024));
    private final Arenas arenas = new Arenas(false, 0, Long.MAX_VALUE, 0);
    private final Arena arena = arenas.home();
    private final Segment segment = new Segment(arena, region, strategy, null, 1024, 1024);

    private long place() {
        return arena.placeAgain(256, 1);
    }

    /**
     * A thread whose stream was forgotten used to look for the stream's next limbo again and again, and left no core to
     * the thread that had to make the limbo. So virtual threads stood still forever.
     */
    @Test
    void shouldWaitForWhoForgetsAStream() throws Exception {
        arena.add(segment);
        arenas.streams.free(segment, place(), STREAM, MIB);
        assertEquals(0, arenas.streams.allocate(256, STREAM, true));
        final StreamLimbo forgotten = arenas.streams.all()[0];
        final long block = place();
        final FutureTask<Object> frees = new FutureTask<>(() -> arenas.streams.free(segment, block, STREAM, MIB), true);

        synchronized (arenas.streams) {
            assertTrue(forgotten.forget());
            final Thread thread = new Thread(frees);
            thread.start();
            while (thread.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
        }
        frees.get();

        assertEquals(block, arenas.streams.allocate(256, STREAM, true));
        assertNotSame(forgotten, arenas.streams.all()[1]);
    }
}
