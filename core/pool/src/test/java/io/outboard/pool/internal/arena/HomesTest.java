package io.outboard.pool.internal.arena;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** These tests say which arena each thread uses. */
class HomesTest {

    private final Arenas arenas = new Arenas(false, 0, Long.MAX_VALUE, 0);
    private final List<ExecutorService> threads = new ArrayList<>();

    private ExecutorService thread() {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        threads.add(thread);
        return thread;
    }

    private static <T> T call(final ExecutorService thread, final Callable<T> action) throws Exception {
        return thread.submit(action).get();
    }

    private Arena moveApart() {
        arenas.moveApart(arenas.home());
        return arenas.home();
    }

    @AfterEach
    void end() {
        threads.forEach(ExecutorService::shutdownNow);
    }

    /**
     * The first arena used to lose its last thread, and kept a third of what sixteen threads with large blocks held.
     */
    @Test
    void shouldLeaveNoArenaWithoutAThread() throws Exception {
        for (int i = 0; i < Runtime.getRuntime().availableProcessors() + 1; i++) {
            call(thread(), arenas::home);
        }

        for (int round = 0; round < 2; round++) {
            final Set<Arena> homes = new HashSet<>();
            for (final ExecutorService thread : threads) {
                homes.add(call(thread, this::moveApart));
            }
            assertEquals(threads.size(), arenas.count());
            assertEquals(Set.of(arenas.all()), homes);
        }
    }

    @Test
    void shouldMakeNoArenaForAThreadThatIsAlone() throws Exception {
        final Arena home = call(thread(), arenas::home);

        assertEquals(home, call(threads.get(0), this::moveApart));
        assertEquals(1, arenas.count());
    }

    /** More threads than arenas are spread evenly. */
    @Test
    void shouldSpreadThreadsEvenly() throws Exception {
        final int most = Runtime.getRuntime().availableProcessors() + 1;
        for (int i = 0; i < 2 * most; i++) {
            call(thread(), arenas::home);
        }

        for (int round = 0; round < 3; round++) {
            for (final ExecutorService thread : threads) {
                call(thread, this::moveApart);
            }
        }

        for (final Arena arena : arenas.all()) {
            assertEquals(2, arena.homes, () -> "threads of arena " + arena.number);
        }
        assertEquals(most, arenas.count());
    }
}
