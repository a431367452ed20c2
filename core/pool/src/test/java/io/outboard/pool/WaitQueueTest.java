package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import org.junit.jupiter.api.Test;

/** These tests say which requests are in the queue. */
class WaitQueueTest {

    private static final long MIB = 1L << 20;

    private final Arenas arenas = new Arenas(false, MIB, Long.MAX_VALUE, 0);
    private final Arena arena = arenas.home();
    private final WaitQueue queue = new WaitQueue(arenas);

    WaitQueueTest() {
        final Region region = new Region(MIB, MIB);
        arena.lock();
        arena.add(new Segment(
                arena,
                region,
                Strategies.named("tlsf").create(region, new StrategyOptions(256, 1024)),
                null,
                1024,
                1024));
        arena.unlock();
    }

    private WaitQueue.Request enter(final long sizeBytes) {
        final WaitQueue.Request request = new WaitQueue.Request(arena, sizeBytes, 1);
        queue.enter(request);
        return request;
    }

    /**
     * A served request takes long to wake. With many threads, all used to stand behind such requests, and the queue
     * never ended.
     */
    @Test
    void shouldHoldNobodyUpForThoseWhoHaveBeenServed() {
        final WaitQueue.Request first = enter(256);
        final WaitQueue.Request second = enter(256);
        final WaitQueue.Request third = enter(256);

        queue.serveBehind(first);
        queue.leave(first);

        assertTrue(second.address >= 0 && third.address >= 0);
        assertFalse(arenas.isAwaited());
        final WaitQueue.Request fourth = enter(256);
        queue.serveBehind(second);
        assertTrue(fourth.address >= 0);
        assertFalse(arenas.isAwaited());
    }

    @Test
    void shouldKeepThoseWhoCouldNotBeServed() {
        final WaitQueue.Request first = enter(256);
        final WaitQueue.Request second = enter(2 * MIB);
        final WaitQueue.Request third = enter(256);

        queue.serveBehind(first);
        queue.leave(first);

        assertEquals(-1, Math.max(second.address, third.address));
        assertTrue(arenas.isAwaited());
        queue.leave(second);
        queue.leave(third);
        assertFalse(arenas.isAwaited());
    }

    /** What has come back is first tried for the oldest request, whose thread may be awake and wait for the device. */
    @Test
    void shouldLetNobodyOvertakeTheOldest() {
        final WaitQueue.Request first = enter(256);
        final WaitQueue.Request second = enter(256);
        final WaitQueue.Request large = enter(2 * MIB);
        final WaitQueue.Request small = enter(256);
        queue.serveBehind(first);
        queue.leave(first);
        queue.awaitTurn(large);

        queue.serveBehind(second);

        assertTrue(second.address >= 0);
        assertEquals(-1, Math.max(large.address, small.address));
        assertTrue(queue.isAnyWaking());
        queue.leave(second);
        assertFalse(queue.isAnyWaking());
    }
}
