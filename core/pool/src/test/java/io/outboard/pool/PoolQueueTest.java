package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that must wait for the device stand in a queue, and what comes back goes to the oldest one. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolQueueTest {

    private static final long MIB = 1L << 20;

    private final GatedDevice device = new GatedDevice();
    private final List<Request> requests = new ArrayList<>();

    private PoolBuilder builder(final long limitMiB) {
        return Pool.over(new VirtualMemorySource(limitMiB * MIB))
                .growInPlace(false)
                .firstRegionBytes(limitMiB * MIB)
                .limitBytes(limitMiB * MIB)
                .reuse(ReusePolicy.STRICT, device);
    }

    private Request startWaiting(final Pool pool, final long sizeBytes) {
        final Request request = Request.startWaiting(() -> pool.allocate(sizeBytes));
        requests.add(request);
        return request;
    }

    /** Ends all requests, so that no thread is left, whatever failed. */
    @AfterEach
    void finish() throws InterruptedException {
        device.capturing(false);
        device.finishAll();
        for (final Request request : requests) {
            request.thread().join(20_000);
        }
    }

    private static long[] allocate(final Pool pool, final int blocks, final long sizeBytes) {
        final long[] addresses = new long[blocks];
        for (int i = 0; i < blocks; i++) {
            addresses[i] = pool.allocate(sizeBytes);
        }
        return addresses;
    }

    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldServeTheOldestFirst(final ReusePolicy policy) throws Exception {
        final Pool pool = builder(8).reuse(policy, device).build();
        final long[] blocks = allocate(pool, 8, MIB);
        pool.free(blocks[0]);
        final List<Request> waiting = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiting.add(startWaiting(pool, MIB));
        }

        for (int i = 0; i < 4; i++) {
            // A request that was woken may not have made its mark yet.
            device.awaitWaiter();
            // The block of the next request is freed after all marks that are finished now.
            final long marks = device.marks();
            pool.free(blocks[i + 1]);
            device.finish(marks);
            waiting.get(i).assertServedWith(blocks[i]);
            for (int later = i + 1; later < 4; later++) {
                waiting.get(later).awaitWaiting();
            }
        }

        device.finishAll();
        pool.close();
        assertEquals(0, device.marksOut());
    }

    @Test
    void shouldNotLetASmallRequestHaveWhatALargerOneWaitsFor() throws Exception {
        final Pool pool = builder(4).build();
        final long[] blocks = allocate(pool, 4, MIB);
        pool.free(blocks[0]);
        pool.trimTo(0);
        final long marks = device.marks();
        pool.free(blocks[1]);
        final Request large = startWaiting(pool, 2 * MIB);

        device.finish(marks);
        final Request small = startWaiting(pool, MIB);
        assertFalse(large.isDone());
        pool.free(blocks[3]);
        device.finishAll();

        large.assertServedWith(blocks[0]);
        small.assertServedWith(blocks[3]);
        pool.close();
    }

    /**
     * What came back used to be taken and freed again before the oldest request had it. That request then counted as
     * waiting in vain.
     */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNotRefuseWhomOthersOvertake(final ReusePolicy policy) throws Exception {
        final Pool[] pool = new Pool[1];
        final AtomicInteger rounds = new AtomicInteger();
        final Thread test = Thread.currentThread();
        final IdleDevice slow = new IdleDevice() {
            private volatile long finished;

            @Override
            public long mark() {
                return finished + 1;
            }

            @Override
            public boolean isFinished(final long mark) {
                return mark <= finished;
            }

            /** While this thread waits, another one tries to take all that comes back, and frees it again. */
            @Override
            public void await(final long mark) {
                finished = mark;
                if (Thread.currentThread() == test) {
                    rounds.incrementAndGet();
                    final Thread other = new Thread(() -> pool[0].free(pool[0].allocate(60 * MIB)));
                    other.setDaemon(true);
                    other.start();
                    while (other.getState() == Thread.State.RUNNABLE) {
                        Thread.onSpinWait();
                    }
                }
            }
        };
        pool[0] = builder(64).reuse(policy, slow).build();
        pool[0].free(pool[0].allocate(60 * MIB));

        pool[0].free(pool[0].allocate(32 * MIB));

        assertEquals(1, rounds.get());
    }

    /** A small request may have memory that was free all along, since it takes nothing that came back. */
    @Test
    void shouldServeFromMemoryThatWasFreeAllAlongWhileAnotherWaits() throws Exception {
        final Pool pool = builder(8).build();
        final long[] blocks = allocate(pool, 4, MIB);
        pool.free(blocks[0]);
        final Request large = startWaiting(pool, 5 * MIB);

        final Request small = Request.start(() -> pool.allocate(256));

        assertTrue(small.get() > 0);
        assertFalse(large.isDone());
        device.finishAll();
        assertInstanceOf(DeviceOutOfMemoryException.class, large.thrown());
        pool.close();
    }

    @Test
    void shouldTellWhoWaitsThatThePoolIsClosed() throws Exception {
        final Pool pool = builder(4).build();
        pool.free(pool.allocate(4 * MIB));
        for (int i = 0; i < 3; i++) {
            startWaiting(pool, 4 * MIB);
        }

        final Request close = Request.start(() -> {
            pool.close();
            return 0;
        });
        while (!pool.isClosed()) {
            Thread.onSpinWait();
        }
        device.finishAll();

        close.get();
        for (final Request request : requests) {
            assertInstanceOf(IllegalStateException.class, request.thrown());
        }
        assertEquals(0, device.marksOut());
    }

    @Test
    void shouldKeepTheInterruptOfWhoWaits() throws Exception {
        final Pool pool = builder(4).build();
        final long[] blocks = allocate(pool, 2, 2 * MIB);
        final AtomicInteger interrupted = new AtomicInteger();
        pool.free(blocks[0]);
        pool.free(blocks[1]);
        for (int i = 0; i < 2; i++) {
            final Request request = Request.startWaiting(() -> {
                final long address = pool.allocate(2 * MIB);
                interrupted.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
                return address;
            });
            requests.add(request);
            request.thread().interrupt();
        }
        for (final Request request : requests) {
            request.awaitWaiting();
        }

        device.finishAll();

        assertNotEquals(requests.get(0).get(), requests.get(1).get());
        assertEquals(2, interrupted.get());
        pool.close();
    }

    @Test
    void shouldRefuseWhoCannotBeServedThoughAllHasFinished() throws Exception {
        final Pool pool = builder(4).build();
        final long[] blocks = allocate(pool, 4, MIB);
        pool.free(blocks[0]);
        pool.free(blocks[2]);
        // The free memory isn't in one place.
        final Request large = startWaiting(pool, 2 * MIB);
        final Request small = startWaiting(pool, MIB);

        device.finishAll();

        assertInstanceOf(DeviceOutOfMemoryException.class, large.thrown());
        final long served = small.get();
        assertTrue(served == blocks[0] || served == blocks[2]);
        assertEquals(1, pool.statistics().failures());
        pool.close();
    }

    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNotWaitWhileAStreamIsCaptured(final ReusePolicy policy) throws Exception {
        final Pool pool = builder(4).reuse(policy, device).build();
        final long block = pool.allocate(4 * MIB);
        pool.free(block);
        device.capturing(true);

        assertInstanceOf(
                DeviceOutOfMemoryException.class,
                Request.start(() -> pool.allocate(2 * MIB)).thrown());

        device.capturing(false);
        device.finishAll();
        Request.start(() -> pool.allocate(2 * MIB)).assertServedWith(block);
        pool.close();
    }

    /** Nothing comes back during a capture, and the thread that captures may wait for one of the requests. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldRefuseAllWhoWaitWhenACaptureBegins(final ReusePolicy policy) throws Exception {
        final Pool pool = builder(4).reuse(policy, device).build();
        final long block = pool.allocate(4 * MIB);
        pool.free(block);
        for (int i = 0; i < 3; i++) {
            startWaiting(pool, 3 * MIB);
        }

        device.capturing(true);

        for (final Request request : requests) {
            assertInstanceOf(DeviceOutOfMemoryException.class, request.thrown());
        }
        device.capturing(false);
        device.finishAll();
        Request.start(() -> pool.allocate(3 * MIB)).assertServedWith(block);
        pool.close();
        assertEquals(0, device.marksOut());
    }

    /** One request gets the failure, the others go on. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLoseNobodyWhenTheDeviceFailsOnce(final boolean error) throws Exception {
        final Pool pool = builder(4).build();
        for (final long block : allocate(pool, 4, MIB)) {
            pool.free(block);
        }
        for (int i = 0; i < 3; i++) {
            startWaiting(pool, MIB);
        }

        device.failOnce(() -> error ? new OutOfMemoryError("simulated") : new IllegalStateException("simulated"));
        int failed = 0;
        final long end = System.nanoTime() + 20_000_000_000L;
        while (failed == 0 && System.nanoTime() < end) {
            failed = (int) requests.stream().filter(Request::isDone).count();
        }
        device.finishAll();

        int thrown = 0;
        for (final Request request : requests) {
            try {
                request.get();
            } catch (final AssertionError e) {
                assertEquals("simulated", Objects.requireNonNull(e.getCause()).getMessage());
                thrown++;
            }
        }
        assertEquals(1, thrown);
        assertEquals(2, pool.statistics().liveBlocks());
        pool.close();
        assertEquals(0, device.marksOut());
    }

    /** A lock used to be held while the device worked. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldHoldNobodyUpWhoNeedsNoMemory(final ReusePolicy policy) throws Exception {
        final Pool pool = builder(4).reuse(policy, device).build();
        final long kept = pool.allocateAsync(4096, 2);
        final long other = pool.allocateAsync(4096, 2);
        final long large = pool.allocate(3 * MIB);
        pool.freeAsync(large, 1);
        final Request waiting = startWaiting(pool, 3 * MIB);

        final Request others = Request.start(() -> {
            pool.freeAsync(kept, 2);
            pool.trimTo(0);
            pool.statistics();
            pool.largestFreeBlockBytes();
            pool.largestHolders();
            pool.forEachBlock((address, sizeBytes, free) -> {});
            pool.trim(other, 256);
            pool.extend(other, 512);
            pool.free(other);
            return pool.statistics().liveBlocks();
        });

        assertEquals(0, others.get());
        waiting.awaitWaiting();
        device.finishAll();
        assertTrue(waiting.get() > 0);
        pool.close();
    }

    @Test
    void shouldKeepThePlaceOfWhoAsksHandlers() throws Exception {
        final Pool pool = builder(4).build();
        final long[] blocks = allocate(pool, 2, 2 * MIB);
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final AtomicBoolean first = new AtomicBoolean(true);
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (!first.getAndSet(false)) {
                return false;
            }
            asked.countDown();
            awaitLatch(go);
            return true;
        });
        final Request older = Request.start(() -> pool.allocate(2 * MIB));
        requests.add(older);
        asked.await();
        pool.free(blocks[0]);
        final Request younger = startWaiting(pool, 2 * MIB);
        final long marks = device.marks();
        pool.free(blocks[1]);
        go.countDown();
        older.awaitReturnFrom("awaitLatch");
        older.awaitWaiting();

        device.finish(marks);
        older.assertServedWith(blocks[0]);
        younger.awaitWaiting();
        device.finishAll();

        younger.assertServedWith(blocks[1]);
        pool.close();
    }

    private static void awaitLatch(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException e) {
            throw new IllegalStateException("nobody interrupts", e);
        }
    }
}
