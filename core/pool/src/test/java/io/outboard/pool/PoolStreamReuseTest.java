package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.StreamLimbo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All that was freed on a stream serves the stream's next requests at once, whatever runs there. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolStreamReuseTest {

    private static final long MIB = 1L << 20;
    private static final long STREAM = 1;
    private static final long OTHER = 2;

    /** The number of streams that come and go while another thread asks about all of them. */
    private static final int RACING_STREAMS = 40_000;

    /** This device has a kernel that never ends, once it runs. */
    private static final class NeverEnding extends IdleDevice {

        volatile boolean running;

        @Override
        public boolean isFinished(final long mark) {
            return !running;
        }

        @Override
        public void await(final long mark) {
            if (running) {
                throw new AssertionError("waits for a kernel that never ends");
            }
        }

        @Override
        public long idOf(final long stream) {
            return 100 + stream;
        }
    }

    private final NeverEnding device = new NeverEnding();

    private Pool pool(final long limitBytes, final int arenas) {
        final long bytes = (limitBytes + 2 * MIB - 1) & -(2 * MIB);
        return Pool.over(new VirtualMemorySource(bytes))
                .reuse(ReusePolicy.STREAM_ORDERED, device)
                .limitBytes(bytes)
                .firstRegionBytes(bytes)
                .spread(arenas)
                .build();
    }

    /** Of 63 blocks, all used to come back, and of 64 none, since their batch was full. */
    @ParameterizedTest
    @CsvSource({
        "1, 1048576",
        "63, 65536",
        "64, 65536",
        "65, 65536",
        "128, 4096",
        "1000, 65536",
        "1000, 256",
        "20, 16777216"
    })
    void shouldHandAllOutAgainAtOnce(final int blocks, final long sizeBytes) {
        final Pool pool = pool(blocks * sizeBytes, 0);
        final Set<Long> freed = allocate(pool, blocks, sizeBytes);
        device.running = true;
        freed.forEach(block -> pool.freeAsync(block, STREAM));

        final Set<Long> again = allocate(pool, blocks, sizeBytes);

        assertEquals(freed, again);
        assertEquals(0, pool.statistics().limboBytes());
        assertEquals(blocks * sizeBytes, pool.statistics().usedBytes());
        assertEquals(blocks, pool.statistics().liveBlocks());
    }

    private static Set<Long> allocate(final Pool pool, final int blocks, final long sizeBytes) {
        final Set<Long> addresses = new HashSet<>();
        for (int i = 0; i < blocks; i++) {
            assertTrue(addresses.add(pool.allocateAsync(sizeBytes, STREAM)));
        }
        return addresses;
    }

    /** Blocks are found by size in any order, however many of other sizes lie between. */
    @Test
    void shouldFindEachBySize() {
        final List<Long> sizes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            for (long sizeBytes = 1024; sizeBytes <= 64 << 10; sizeBytes *= 2) {
                sizes.add(sizeBytes);
            }
        }
        final Random random = new Random(7);
        Collections.shuffle(sizes, random);
        final Pool pool = pool(64 * MIB, 0);
        final List<Long> blocks = new ArrayList<>();
        sizes.forEach(sizeBytes -> blocks.add(pool.allocateAsync(sizeBytes, STREAM)));
        final Set<Long> freed = new HashSet<>(blocks);
        Collections.shuffle(blocks, random);
        device.running = true;
        blocks.forEach(block -> pool.freeAsync(block, STREAM));
        Collections.shuffle(sizes, random);

        for (final long sizeBytes : sizes) {
            assertTrue(freed.remove(pool.allocateAsync(sizeBytes, STREAM)), () -> sizeBytes + " bytes");
        }

        assertEquals(0, pool.statistics().limboBytes());
    }

    /** Blocks are found whichever thread allocated them, with or without a stream, and whichever thread freed them. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void shouldFindWhatAnyThreadFreed(final int arenas) throws Exception {
        final int each = 300;
        final Pool pool = pool(4 * each * 8192L, arenas);
        final List<Long> blocks = new ArrayList<>();
        for (int arena = 0; arena < 2; arena++) {
            ArenaThreads.call(arena, () -> {
                for (int i = 0; i < each; i++) {
                    blocks.add(pool.allocateAsync(8192, STREAM));
                    blocks.add(pool.allocate(8192));
                }
                return blocks;
            });
        }
        final Set<Long> freed = new HashSet<>(blocks);
        device.running = true;
        for (int arena = 0; arena < 2; arena++) {
            final int first = arena;
            ArenaThreads.call(1 - arena, () -> {
                for (int i = first; i < blocks.size(); i += 2) {
                    pool.freeAsync(blocks.get(i), STREAM);
                }
                return blocks;
            });
        }

        for (int arena = 0; arena < 2; arena++) {
            ArenaThreads.call(arena, () -> {
                for (int i = 0; i < 2 * each; i++) {
                    final long block = pool.allocateAsync(8192, STREAM);
                    assertTrue(freed.remove(block), () -> Long.toHexString(block));
                }
                return freed;
            });
        }

        assertEquals(0, pool.statistics().limboBytes());
    }

    @Test
    void shouldKeepStreamsApartHoweverMuchThereIs() {
        final Pool pool = pool(256 * 65_536, 0);
        final Set<Long> freed = allocate(pool, 256, 65_536);
        device.running = true;
        final List<Long> own = new ArrayList<>(freed);
        for (int i = 0; i < own.size(); i++) {
            pool.freeAsync(own.get(i), i % 2 == 0 ? STREAM : OTHER);
        }

        for (int i = 0; i < own.size(); i += 2) {
            final long block = pool.allocateAsync(65_536, STREAM);
            assertEquals(0, own.indexOf(block) % 2, "it's the other stream's");
        }

        assertEquals(128 * 65_536, pool.statistics().limboBytes());
    }

    /** Half of the block would be wasted, so the pool takes other memory. */
    @Test
    void shouldNotHandOutWhatIsMuchTooLarge() {
        final Pool pool = pool(8 * MIB, 0);
        final long large = pool.allocateAsync(4 * MIB, STREAM);
        device.running = true;
        pool.freeAsync(large, STREAM);

        assertFalse(pool.allocateAsync(MIB, STREAM) == large);
        assertEquals(4 * MIB, pool.statistics().limboBytes());
        assertEquals(large, pool.allocateAsync(4 * MIB - 1024, STREAM));
        assertEquals(0, pool.statistics().limboBytes());
        assertEquals(5 * MIB, pool.statistics().usedBytes());
    }

    /** A block that was freed once is handed out once, either by its stream or by a mark. */
    @Test
    void shouldHandEachOutOnceThoughItsWorkFinishes() {
        final Pool pool = pool(512 * 4096, 0);
        final Set<Long> freed = allocate(pool, 512, 4096);
        device.running = true;
        freed.forEach(block -> pool.freeAsync(block, STREAM));
        final Set<Long> again = allocate(pool, 200, 4096);

        device.running = false;
        for (int i = 200; i < 512; i++) {
            assertTrue(again.add(i % 2 == 0 ? pool.allocate(4096) : pool.allocateAsync(4096, STREAM)));
        }

        assertEquals(freed, again);
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocateAsync(4096, STREAM));
        again.forEach(pool::free);
        assertEquals(0, pool.trimTo(0));
    }

    /**
     * The stream couldn't be marked. A mark of all work does as well, and is made before the pool takes more memory.
     */
    @Test
    void shouldUseWhatAStreamHasFreedBeforeItGrows() {
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                .reuse(ReusePolicy.STREAM_ORDERED, new IdleDevice() {
                    @Override
                    public long mark(final long stream) {
                        return NO_MARK_LEFT;
                    }
                })
                .firstRegionBytes(2 * MIB)
                .slackBytes(0)
                .build();
        final long block = pool.allocate(2 * MIB);
        pool.freeAsync(block, STREAM);

        assertEquals(block, pool.allocate(2 * MIB));
        assertEquals(2 * MIB, pool.statistics().heldBytes());
        pool.close();
    }

    /** A stream that became idle between two checks used to leave a gap among those that were kept. */
    @Test
    void shouldForgetIdleStreamsWhileOthersAskWhetherTheyAre() throws Exception {
        final int streams = Effort.isThorough() ? RACING_STREAMS : Effort.tries(RACING_STREAMS);
        final AtomicLong questions = new AtomicLong();
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                .reuse(ReusePolicy.STREAM_ORDERED, new IdleDevice() {
                    @Override
                    public long mark(final long stream) {
                        return stream;
                    }

                    @Override
                    public boolean isFinished(final long mark) {
                        return mark == 0 || questions.incrementAndGet() % 32 == 0;
                    }
                })
                .build();
        final AtomicBoolean done = new AtomicBoolean();
        final FutureTask<@Nullable Void> other = new FutureTask<>(() -> {
            while (!done.get()) {
                pool.marks.askStreams();
            }
            return null;
        });
        new Thread(other).start();
        try {
            for (int stream = 1; stream < streams; stream++) {
                for (final long freed : allocate(pool, 64, 256)) {
                    pool.freeAsync(freed, stream);
                }
                for (int i = 0; stream % 40 == 0 && i < 200; i++) {
                    pool.marks.ask(pool.arenas.streams.closeAll());
                    pool.arenas.streams.releaseFinished();
                }
            }
        } finally {
            done.set(true);
        }
        other.get();
        pool.close();
    }

    private Pool ofTwoArenas() {
        return Pool.over(new VirtualMemorySource(1L << 30))
                .reuse(ReusePolicy.STREAM_ORDERED, device)
                .firstRegionBytes(16 * MIB)
                .spread(2)
                .build();
    }

    /**
     * With one lock for all streams, sixteen threads with a stream each did 0.4 million operations a second with 16
     * cores (2026-11-27).
     */
    @Test
    void shouldServeAStreamWhileAnotherIsInUse() throws Exception {
        try (Pool pool = ofTwoArenas()) {
            pool.freeAsync(ArenaThreads.call(0, () -> pool.allocateAsync(MIB, STREAM)), STREAM);
            final long block = ArenaThreads.call(1, () -> pool.allocateAsync(MIB, OTHER));
            final StreamLimbo locked = pool.arenas.streams.all()[0];

            locked.lock();
            try {
                final long again = ArenaThreads.call(1, () -> {
                    pool.freeAsync(block, OTHER);
                    return pool.allocateAsync(MIB, OTHER);
                });
                assertEquals(block, again);
            } finally {
                locked.unlock();
            }
        }
    }

    /**
     * A stream uses the same blocks again and again. Threads whose first blocks came from one arena always met there.
     */
    @Test
    void shouldNotWaitForAnotherArenaWhoseBlockItCouldHave() throws Exception {
        try (Pool pool = ofTwoArenas()) {
            final long theirs = ArenaThreads.call(0, () -> pool.allocateAsync(MIB, STREAM));
            pool.freeAsync(theirs, STREAM);
            final Arena first = pool.arenas.all()[0];

            first.lock();
            final long own;
            try {
                own = ArenaThreads.call(1, () -> pool.allocateAsync(MIB, STREAM));
            } finally {
                first.unlock();
            }

            assertNotEquals(theirs, own);
            assertEquals(theirs, ArenaThreads.call(1, () -> pool.allocateAsync(MIB, STREAM)));
        }
    }

    /** The block used to be in a stream's limbo that nobody looked into any more. */
    @Test
    void shouldFindABlockOfAStreamThatIsForgottenMeanwhile() throws Exception {
        try (Pool pool = ofTwoArenas()) {
            final long block = ArenaThreads.call(0, () -> pool.allocateAsync(MIB, STREAM));
            ArenaThreads.call(1, () -> releaseOn(pool, STREAM, 1));
            final FutureTask<Object> frees = new FutureTask<>(() -> pool.freeAsync(block, STREAM), true);
            final Arena first = pool.arenas.all()[0];
            first.lock();
            try {
                awaitLock(ArenaThreads.start(0, frees));

                ArenaThreads.call(1, () -> releaseOn(pool, OTHER, 17));
                assertEquals(0, pool.arenas.streams.all().length, "all are forgotten");
            } finally {
                first.unlock();
            }
            frees.get();

            assertEquals(block, ArenaThreads.call(0, () -> pool.allocateAsync(MIB, STREAM)));
        }
    }

    /** Frees a block on each of {@code count} streams, and returns whether the device has finished with all of them. */
    private static boolean releaseOn(final Pool pool, final long firstStream, final int count) {
        for (long stream = firstStream; stream < firstStream + count; stream++) {
            pool.freeAsync(pool.allocate(4096), stream);
        }
        final boolean finished = pool.marks.ask(pool.arenas.streams.closeAll());
        pool.arenas.streams.releaseFinished();
        return finished;
    }

    /**
     * The request used to give up at the other arena's lock. It then waited for a kernel, or was refused while a stream
     * was captured.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveItsStreamsBlockBeforeItWaitsOrIsRefused(final boolean capturing) throws Exception {
        final GatedDevice busy = new GatedDevice();
        final Pool pool = Pool.over(new VirtualMemorySource(4 * MIB))
                .reuse(ReusePolicy.STREAM_ORDERED, busy)
                .limitBytes(4 * MIB)
                .firstRegionBytes(4 * MIB)
                .spread(2)
                .build();
        final long block = ArenaThreads.call(0, () -> pool.allocateAsync(MIB, STREAM));
        ArenaThreads.call(0, () -> pool.allocateAsync(3 * MIB, STREAM));
        pool.freeAsync(block, STREAM);
        busy.capturing(capturing);
        final FutureTask<Long> allocates = new FutureTask<>(() -> pool.allocateAsync(MIB, STREAM));
        final Arena first = pool.arenas.all()[0];

        first.lock();
        try {
            awaitLock(ArenaThreads.start(1, allocates));
        } finally {
            first.unlock();
        }

        assertEquals(block, allocates.get());
    }

    /** Waits until the thread waits for a lock. */
    private static void awaitLock(final Thread thread) {
        while (Arrays.stream(thread.getStackTrace())
                .noneMatch(frame -> frame.getMethodName().equals("lockContended"))) {
            Thread.onSpinWait();
        }
    }

    /** An arena counts threads that meet over streams like those that meet with other requests. */
    @Test
    void shouldGiveThreadsThatMeetOverStreamsArenasOfTheirOwn() throws Exception {
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30))
                .reuse(ReusePolicy.STREAM_ORDERED, device)
                .build()) {
            final long end = System.nanoTime() + 30_000_000_000L;
            final List<FutureTask<Object>> tasks = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                final long stream = t;
                final FutureTask<Object> task = new FutureTask<>(() -> {
                    long block = pool.allocateAsync(4096, stream);
                    while (pool.arenas.count() == 1 && System.nanoTime() < end) {
                        for (int i = 0; i < 1000; i++) {
                            pool.freeAsync(block, stream);
                            block = pool.allocateAsync(4096, stream);
                        }
                    }
                    pool.freeAsync(block, stream);
                    return true;
                });
                tasks.add(task);
                new Thread(task).start();
            }
            for (final FutureTask<Object> task : tasks) {
                task.get();
            }

            assertTrue(pool.arenas.count() > 1, "another arena");
        }
    }
}
