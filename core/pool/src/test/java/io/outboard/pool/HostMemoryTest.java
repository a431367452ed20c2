package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * In random programs, one allocation of host memory fails. The pool loses nothing, never hands out memory twice or
 * without anything behind it, and its numbers are right.
 */
class HostMemoryTest {

    private static final long MIB = 1L << 20;
    private static final long DEVICE_BYTES = 1000 * MIB;
    private static final long LIMIT_BYTES = 100 * MIB;

    private static final int PROGRAMS = 48;
    private static final int FAILURES = 24;
    private static final int STEPS = 70;
    private static final int STREAMS = 3;

    private static final FailingHostMemory HOST = new FailingHostMemory();

    private enum Mode {
        IN_PLACE(2000, ReusePolicy.STRICT, 0, "tlsf"),
        FEW_ADDRESSES(160, ReusePolicy.STRICT, 0, "tlsf"),
        TWO_ARENAS(2000, ReusePolicy.STRICT, 2, "tlsf"),
        TWO_ARENAS_WITH_FEW_ADDRESSES(160, ReusePolicy.STRICT, 2, "tlsf"),
        STREAM_ORDERED(160, ReusePolicy.STREAM_ORDERED, 0, "tlsf"),
        IMMEDIATE(160, ReusePolicy.IMMEDIATE, 0, "tlsf"),
        WHOLE_REGIONS(0, ReusePolicy.STRICT, 0, "tlsf"),
        WHOLE_REGIONS_OF_TWO_ARENAS(0, ReusePolicy.STREAM_ORDERED, 2, "tlsf"),
        UNMOVED(2000, ReusePolicy.STRICT, 0, "hal-best-fit");

        final long addressBytes;
        final ReusePolicy policy;
        final int arenas;
        final String strategy;

        Mode(final long addressMiB, final ReusePolicy policy, final int arenas, final String strategy) {
            addressBytes = addressMiB * MIB;
            this.policy = policy;
            this.arenas = arenas;
            this.strategy = strategy;
        }
    }

    /** In each program, those allocations fail whose way through the code has failed the least so far. */
    @ParameterizedTest
    @EnumSource(Mode.class)
    void shouldLoseNothingWhicheverAllocationFails(final Mode mode) throws Exception {
        final Map<Long, Integer> failures = new HashMap<>();
        final int programs = Effort.tries(PROGRAMS);
        final int firstSeed = RandomGenerator.getDefault().nextInt(Integer.MAX_VALUE - programs);
        for (int seed = firstSeed; seed < firstSeed + programs; seed++) {
            run(mode, seed, -1);
            final long[] ways = FailingHostMemory.passed();
            final List<Integer> allocations =
                    Arrays.asList(IntStream.range(0, ways.length).boxed().toArray(Integer[]::new));
            Collections.shuffle(allocations, new Random(seed));
            for (int i = 0; i < FAILURES; i++) {
                final int failing = Collections.min(
                        allocations, Comparator.comparing(each -> failures.getOrDefault(ways[each], 0)));
                failures.merge(ways[failing], 1, Integer::sum);
                run(mode, seed, failing);
            }
        }
    }

    /** Runs a program. The message of a failure has this call with its arguments, so that a developer can repeat it. */
    private static void run(final Mode mode, final int seed, final int failing) throws Exception {
        FailingHostMemory.failAt(failing);
        final Runnable program = (Runnable) HOST.loadClass(Program.class.getName())
                .getDeclaredConstructor(String.class, int.class)
                .newInstance(mode.name(), seed);
        try {
            ArenaThreads.call(0, Executors.callable(program));
        } catch (final ExecutionException e) {
            final OutOfMemoryError thrown = FailingHostMemory.thrown();
            final AssertionError error = new AssertionError(
                    "run(Mode." + mode + ", " + seed + ", " + failing + ") at " + placeOf(thrown), e.getCause());
            if (thrown != null) {
                error.addSuppressed(thrown);
            }
            throw error;
        }
    }

    /** A closed buffer can't be closed again, so the close must free it. */
    @Test
    void shouldFreeABufferThatIsClosedWhicheverAllocationFails() throws Exception {
        failEach(Closing.class);
    }

    /** A stream is forgotten and comes back. A block that was freed on it used to be lost. */
    @Test
    void shouldFindWhatWasFreedOnAStreamWhicheverAllocationFailsWhileStreamsAreForgotten() throws Exception {
        failEach(Forgetting.class);
    }

    /** Runs the program again and again, until no allocation fails any more. */
    private static void failEach(final Class<? extends Runnable> program) throws Exception {
        int failing = -1;
        do {
            failing++;
            FailingHostMemory.failAt(failing);
            ((Runnable) HOST.loadClass(program.getName())
                            .getDeclaredConstructor()
                            .newInstance())
                    .run();
        } while (FailingHostMemory.thrown() != null);
    }

    /** This program forgets streams in which nothing waits; one of the streams comes back. */
    public static final class Forgetting implements Runnable {

        private static final long COMES_BACK = 7;

        @Override
        public void run() {
            try (Pool pool = Pool.over(new VirtualMemorySource())
                    .reuse(ReusePolicy.STREAM_ORDERED, new IdleDevice())
                    .build()) {
                for (long stream = 0; stream < 40; stream++) {
                    pool.freeAsync(pool.allocate(4096), stream);
                }
                FailingHostMemory.counts(true);
                try {
                    pool.marks.askAll(pool.arenas.closeAll());
                } catch (final OutOfMemoryError e) {
                    // A program may see this error.
                } finally {
                    FailingHostMemory.counts(false);
                }
                final long block = pool.allocate(MIB);
                pool.freeAsync(block, COMES_BACK);

                pool.arenas.streams.releaseFinished();

                assertEquals(block, pool.allocateAsync(MIB, COMES_BACK));
                pool.free(block);
            }
        }
    }

    /** This program closes a buffer that is watched for leaks. */
    public static final class Closing implements Runnable {

        @Override
        public void run() {
            try (Pool pool = Pool.over(new VirtualMemorySource())
                    .leakLevel(LeakLevel.ALL)
                    .build()) {
                final DeviceBuffer buffer = pool.buffer(MIB);
                FailingHostMemory.counts(true);
                try {
                    buffer.close();
                } catch (final OutOfMemoryError e) {
                    // A program may see this error.
                } finally {
                    FailingHostMemory.counts(false);
                }
                assertEquals(0, pool.statistics().usedBytes());
            }
        }
    }

    private static String placeOf(final @Nullable OutOfMemoryError thrown) {
        return Stream.ofNullable(thrown)
                .flatMap(error -> Arrays.stream(error.getStackTrace()))
                .filter(frame -> !frame.getClassName().equals(FailingHostMemory.class.getName()))
                .map(StackTraceElement::toString)
                .findFirst()
                .orElse("no place");
    }

    /** This program makes calls of every kind, the same for the same seed. It skips calls that fail. */
    public static final class Program implements Runnable {

        private final FailingMemorySource source = new FailingMemorySource(DEVICE_BYTES);
        private final SimulatedDevice device = new SimulatedDevice();
        private final NavigableMap<Long, Long> live = new TreeMap<>();
        private final Mode mode;
        private final Random random;
        private final Pool pool;

        public Program(final String mode, final int seed) {
            this.mode = Mode.valueOf(mode);
            random = new Random(seed);
            if (this.mode.addressBytes > 0) {
                source.growingInPlace().withAddresses(this.mode.addressBytes);
            }
            pool = Pool.over(source)
                    .strategy(this.mode.strategy, new StrategyOptions(256, 1024))
                    .firstRegionBytes(2 * MIB)
                    .limitBytes(LIMIT_BYTES)
                    .reuse(this.mode.policy, device)
                    .spread(this.mode.arenas)
                    .build();
        }

        @Override
        public void run() {
            for (int i = 0; i < STEPS; i++) {
                step();
                check();
            }
            while (!live.isEmpty()) {
                free(live.firstKey());
            }
            device.finishAll();
            pool.trimTo(0);
            assertEquals(0, pool.trimTo(0), "kept though nothing is in use");
            check();
            assertEquals(0, pool.statistics().limboBytes());
            assertEquals(0, device.marksOut());
            pool.free(pool.allocate(LIMIT_BYTES));
            pool.close();
            assertEquals(0, source.regionsOut());
        }

        private void step() {
            device.submit(random.nextInt(STREAMS));
            device.finishNext(random.nextInt(STREAMS));
            final int kind = random.nextInt(20);
            if (kind < 10 || live.isEmpty()) {
                allocate(
                        random.nextInt(4) == 0
                                ? 1 + random.nextInt((int) MIB)
                                : (1 + random.nextInt(48)) * MIB / (1 + random.nextInt(2)));
                return;
            }
            final long block = List.copyOf(live.keySet()).get(random.nextInt(live.size()));
            final long sizeBytes = pool.sizeOf(block);
            final long moreBytes = sizeBytes + (1 + random.nextInt(4)) * MIB;
            switch (kind) {
                case 16, 17 -> call(() -> pool.extend(block, moreBytes));
                case 18 -> call(() -> pool.trim(block, 1 + sizeBytes / 2));
                case 19 -> call(() -> pool.trimTo(random.nextInt(2) * (40 * MIB)));
                default -> free(block);
            }
            live.computeIfPresent(block, (address, before) -> pool.sizeOf(address));
        }

        private void allocate(final long sizeBytes) {
            final long stream = random.nextInt(STREAMS);
            final long[] address = {-1};
            call(() -> address[0] = pool.allocateAsync(sizeBytes, stream));
            if (address[0] >= 0) {
                final Map.Entry<Long, Long> before = live.lowerEntry(address[0] + sizeBytes);
                assertTrue(before == null || before.getKey() + before.getValue() <= address[0], "handed out twice");
                assertTrue(source.takes() > 0 || source.hasMemory(address[0], sizeBytes), "no memory behind it");
                live.put(address[0], pool.sizeOf(address[0]));
            }
        }

        private void free(final long block) {
            final long stream = random.nextInt(STREAMS);
            if (call(() -> pool.freeAsync(block, stream)) || !isInUse(block)) {
                live.remove(block);
            }
        }

        private boolean isInUse(final long block) {
            try {
                return pool.sizeOf(block) > 0;
            } catch (final InvalidAddressException e) {
                return false;
            }
        }

        /**
         * Makes a call, mostly on this thread, which is of arena 0. Returns false if there was no host memory for the
         * call.
         */
        private boolean call(final Runnable call) {
            final FutureTask<?> task = new FutureTask<>(
                    () -> {
                        FailingHostMemory.counts(true);
                        try {
                            call.run();
                        } finally {
                            FailingHostMemory.counts(false);
                        }
                    },
                    null);
            try {
                if (mode.arenas > 0 && random.nextInt(4) == 0) {
                    ArenaThreads.start(1, task);
                } else {
                    task.run();
                }
                task.get();
                return true;
            } catch (final ExecutionException e) {
                final Throwable cause = e.getCause();
                if (cause instanceof OutOfMemoryError || cause instanceof DeviceOutOfMemoryException) {
                    return false;
                }
                throw new AssertionError(cause);
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private void check() {
            final PoolStatistics statistics = pool.statistics();
            assertEquals(live.size(), statistics.liveBlocks());
            assertEquals(live.values().stream().mapToLong(Long::longValue).sum(), statistics.usedBytes());
            assertEquals(DEVICE_BYTES - source.availableBytes(), statistics.heldBytes());
        }
    }
}
