package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.MemoryUser;
import io.outboard.core.Region;
import io.outboard.core.VirtualMemorySource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A memory source says that others need memory. */
class PoolPressureTest {

    private static final long MIB = 1L << 20;

    private static final class SharedSource implements MemorySource {

        private final VirtualMemorySource memory = new VirtualMemorySource(256 * MIB);
        private final List<MemoryUser> users = new ArrayList<>();

        @Override
        public Region take(final long sizeBytes) {
            return memory.take(sizeBytes);
        }

        @Override
        public void giveBack(final Region region) {
            memory.giveBack(region);
        }

        @Override
        public Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
            return memory.reserve(bytes, addressBytes);
        }

        @Override
        public long availableBytes() {
            return memory.availableBytes();
        }

        @Override
        public void addUser(final MemoryUser user) {
            users.add(user);
        }

        @Override
        public void removeUser(final MemoryUser user) {
            users.remove(user);
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    private final SharedSource source = new SharedSource();

    @Test
    void shouldGiveBackWhatIsWantedAndFree() {
        try (Pool pool = Pool.over(source).firstRegionBytes(2 * MIB).build()) {
            final long kept = pool.allocate(4 * MIB);
            final long freed = pool.allocate(64 * MIB);
            pool.free(freed);
            final long heldBytes = pool.statistics().heldBytes();
            final MemoryUser user = source.users.get(0);
            assertEquals(4 * MIB, user.usedBytes());

            user.giveBack(16 * MIB);
            final long lessBytes = pool.statistics().heldBytes();
            assertTrue(lessBytes <= heldBytes - 16 * MIB && lessBytes > 16 * MIB, "holds " + lessBytes);

            user.giveBack(1024 * MIB);
            assertTrue(pool.statistics().heldBytes() < 8 * MIB, pool::toString);
            assertEquals(4 * MIB, pool.sizeOf(kept));
            pool.free(kept);
        }
    }

    /** Code that interrupts stray threads used to end the pool's. Then the pool wasn't told when the context ended. */
    @Test
    void shouldStayAUserThoughItsThreadWasInterrupted() throws InterruptedException {
        final Set<Thread> before = Thread.getAllStackTraces().keySet();
        try (Pool pool = Pool.over(source).name("stray").leave(MIB).build()) {
            final List<Thread> idle = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("outboard-idle") && !before.contains(thread))
                    .toList();

            for (final Thread thread : idle) {
                thread.interrupt();
                thread.join(10_000);
            }

            assertEquals(1, idle.size());
            assertEquals(List.of(pool.idle), source.users);
        }
        assertEquals(List.of(), source.users);
    }

    /** A context may end while its pool is being closed. Until the pool is closed, its thread may use the context. */
    @Test
    void shouldStayAUserUntilItIsClosed() {
        final List<MemoryUser> whileClosing = new ArrayList<>();
        final Pool pool = Pool.over(source)
                .reuse(ReusePolicy.STRICT, new IdleDevice() {
                    @Override
                    public void awaitAll() {
                        whileClosing.addAll(source.users);
                    }
                })
                .build();

        pool.close();

        assertEquals(List.of(pool.idle), whileClosing);
        assertEquals(List.of(), source.users);
    }

    @Test
    void shouldKeepWhatItWasToldToKeep() {
        try (Pool pool = Pool.over(source)
                .firstRegionBytes(2 * MIB)
                .keep(Duration.ofDays(1), 32 * MIB)
                .build()) {
            pool.free(pool.allocate(64 * MIB));

            source.users.get(0).giveBack(1024 * MIB);

            assertTrue(pool.statistics().heldBytes() >= 32 * MIB, pool::toString);
        }
    }

    @Test
    void shouldNotBeAskedOnceItIsClosed() {
        final Pool pool = Pool.over(source).build();
        assertEquals(1, source.users.size());
        final MemoryUser user = source.users.get(0);

        pool.close();

        assertEquals(List.of(), source.users);
        user.giveBack(MIB);
        assertEquals(0, user.usedBytes());
    }
}
