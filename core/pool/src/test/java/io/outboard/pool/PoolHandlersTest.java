package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers are called without any lock held, so they may call the pool themselves, or have other threads do so. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolHandlersTest {

    private static final long MIB = 1L << 20;

    private static Pool pool(final ReusePolicy policy) {
        return Pool.over(new VirtualMemorySource(16 * MIB))
                .growInPlace(false)
                .firstRegionBytes(16 * MIB)
                .limitBytes(16 * MIB)
                .reuse(policy, new IdleDevice())
                .build();
    }

    private static Deque<Long> fill(final Pool pool) {
        final Deque<Long> cache = new ArrayDeque<>();
        for (int i = 0; i < 16; i++) {
            cache.add(pool.allocate(MIB));
        }
        return cache;
    }

    private static void end(final Pool pool, final Deque<Long> cache) {
        cache.forEach(pool::free);
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
        pool.close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldLetAHandlerFree(final ReusePolicy policy) {
        final Pool pool = pool(policy);
        final Deque<Long> cache = fill(pool);
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (cache.isEmpty()) {
                return false;
            }
            pool.free(cache.remove());
            return true;
        });

        cache.add(pool.allocate(3 * MIB));

        assertEquals(14, cache.size());
        end(pool, cache);
    }

    @ParameterizedTest
    @EnumSource
    void shouldLetAHandlerAllocate(final ReusePolicy policy) {
        final Pool pool = pool(policy);
        final Deque<Long> cache = fill(pool);
        final AtomicInteger calls = new AtomicInteger();
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (calls.incrementAndGet() > 4) {
                return false;
            }
            pool.free(cache.remove());
            cache.addLast(pool.allocate(MIB / 2));
            return true;
        });

        try {
            cache.add(pool.allocate(2 * MIB));
        } catch (final DeviceOutOfMemoryException e) {
            assertEquals(5, calls.get());
        }

        end(pool, cache);
    }

    /** A handler's own request may ask the handler again. */
    @ParameterizedTest
    @EnumSource
    void shouldLetAHandlerRunOutOfMemoryItself(final ReusePolicy policy) {
        final Pool pool = pool(policy);
        final Deque<Long> cache = fill(pool);
        final AtomicInteger depth = new AtomicInteger();
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (depth.incrementAndGet() < 3) {
                try {
                    cache.add(pool.allocate(MIB));
                } catch (final DeviceOutOfMemoryException e) {
                    depth.decrementAndGet();
                    return false;
                }
            }
            depth.decrementAndGet();
            if (depth.get() > 0 && bytes == MIB) {
                pool.free(cache.remove());
                return true;
            }
            return false;
        });

        final Throwable[] thrown = new Throwable[1];
        try {
            pool.allocate(4 * MIB);
        } catch (final DeviceOutOfMemoryException e) {
            thrown[0] = e;
        }

        assertInstanceOf(DeviceOutOfMemoryException.class, thrown[0]);
        end(pool, cache);
    }

    @ParameterizedTest
    @EnumSource
    void shouldLetAHandlerWaitForAnotherThreadThatFrees(final ReusePolicy policy) {
        final Pool pool = pool(policy);
        final Deque<Long> cache = fill(pool);
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (cache.size() < 4) {
                return false;
            }
            final Thread other = new Thread(() -> {
                pool.free(cache.remove());
                pool.trim(cache.element(), MIB / 2);
                pool.statistics();
                pool.largestHolders();
                pool.trimTo(0);
            });
            other.start();
            join(other);
            return true;
        });

        cache.add(pool.allocate(3 * MIB));

        end(pool, cache);
    }

    private static void join(final Thread thread) {
        try {
            thread.join();
        } catch (final InterruptedException e) {
            throw new IllegalStateException("nobody interrupts", e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeOthersAfterAHandlerThrew(final ReusePolicy policy) throws Exception {
        final Pool pool = pool(policy);
        final Deque<Long> cache = fill(pool);
        final AtomicInteger calls = new AtomicInteger();
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (calls.incrementAndGet() == 1) {
                throw new UnsupportedOperationException("handler");
            }
            return false;
        });

        assertInstanceOf(
                UnsupportedOperationException.class,
                Request.start(() -> pool.allocate(MIB)).thrown());
        assertInstanceOf(
                DeviceOutOfMemoryException.class,
                Request.start(() -> pool.allocate(MIB)).thrown());
        pool.free(cache.remove());
        cache.add(Request.start(() -> pool.allocate(MIB)).get());

        assertTrue(calls.get() >= 2);
        end(pool, cache);
    }
}
