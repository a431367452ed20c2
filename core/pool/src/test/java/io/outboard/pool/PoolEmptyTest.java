package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemorySource;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A pool with nothing in use serves whatever fits the limit and the device, whatever it has served before. */
class PoolEmptyTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long[] LIMITS = {3 * MIB, 10_000_000, GIB, PoolBuilder.NO_LIMIT};
    private static final long[] DEVICES = {MIB, 6 * MIB, GIB, 80 * GIB, 141 * GIB};
    private static final ReusePolicy[] POLICIES = {ReusePolicy.IMMEDIATE, ReusePolicy.STRICT, ReusePolicy.STREAM_ORDERED
    };
    private static final int OPERATIONS = 30;

    static Stream<String> strategies() {
        return Strategies.all().stream().map(StrategyProvider::name);
    }

    @Tag("thorough")
    @ParameterizedTest
    @MethodSource("strategies")
    void shouldServeWhateverFits(final String strategy) {
        final SplittableRandom random = new SplittableRandom(47);
        for (final long deviceBytes : DEVICES) {
            for (final long limitBytes : LIMITS) {
                for (final ReusePolicy policy : POLICIES) {
                    for (final boolean inPlace : new boolean[] {true, false}) {
                        final MemorySource source = new VirtualMemorySource(deviceBytes);
                        try (source) {
                            final PoolBuilder builder = Pool.over(source)
                                    .strategy(strategy)
                                    .limitBytes(limitBytes)
                                    .growInPlace(inPlace)
                                    .reuse(policy, new IdleDevice());
                            serveWhateverFits(builder, Math.min(deviceBytes, limitBytes), random.split());
                        } catch (final DeviceOutOfMemoryException e) {
                            throw new AssertionError(
                                    "device " + deviceBytes + ", " + policy + (inPlace ? ", in place" : "") + ": " + e,
                                    e);
                        }
                    }
                }
            }
        }
    }

    /**
     * The columns are the limit in MiB, more bytes of the limit, and a request with its alignment. The request is
     * refused, since a small block is in use.
     */
    @ParameterizedTest
    @CsvSource({
        "1024, 0, 629145600, 536870912",
        "1024, 0, 1072693248, 2097152",
        "1025, 0, 1074790144, 1",
        "1024, 1000, 1073742500, 1"
    })
    void shouldGiveNothingBackForARequestThatIsRefused(
            final long limitMiB, final long moreBytes, final long sizeBytes, final long alignmentBytes) {
        for (final String strategy : new String[] {"tlsf", "hal-best-fit"}) {
            try (MemorySource source = new VirtualMemorySource(80 * GIB);
                    Pool pool = Pool.over(source)
                            .strategy(strategy)
                            .limitBytes(limitMiB * MIB + moreBytes)
                            .build()) {
                final long small = pool.allocate(1);
                pool.free(pool.allocate(800 * MIB));
                final long heldBytes = pool.statistics().heldBytes();

                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(sizeBytes, alignmentBytes));

                assertEquals(heldBytes, pool.statistics().heldBytes());
                pool.free(small);
            }
        }
    }

    /** JDK 17 to 21 only have whole regions, so an empty region that is too small goes back first. */
    @ParameterizedTest
    @EnumSource(names = "TRACKED", mode = EnumSource.Mode.EXCLUDE)
    void shouldServeMoreThanTheEmptyRegionHas(final ReusePolicy policy) {
        try (MemorySource source = new VirtualMemorySource(80 * GIB);
                Pool pool = Pool.over(source)
                        .limitBytes(GIB)
                        .growInPlace(false)
                        .reuse(policy, new IdleDevice())
                        .build()) {
            pool.free(pool.allocate(512 * MIB));

            pool.free(pool.allocate(768 * MIB));
        }
    }

    /** The request is served even if a granule is large. */
    @ParameterizedTest
    @ValueSource(longs = {256, 512, 4096, 65_536})
    void shouldServeARequestAsLargeAsTheLimit(final long granuleBytes) {
        for (final long limitBytes : new long[] {10_000_000, GIB, GIB + MIB}) {
            for (final boolean inPlace : new boolean[] {true, false}) {
                try (MemorySource source = new VirtualMemorySource(80 * GIB);
                        Pool pool = Pool.over(source)
                                .strategy("tlsf", new StrategyOptions(granuleBytes, 4096))
                                .limitBytes(limitBytes)
                                .growInPlace(inPlace)
                                .build()) {
                    pool.free(pool.allocate(limitBytes));
                    assertTrue(pool.statistics().heldBytes() <= limitBytes + 2 * granuleBytes);
                }
            }
        }
    }

    private static void serveWhateverFits(
            final PoolBuilder builder, final long mostBytes, final SplittableRandom random) {
        final StrategyProvider provider = Strategies.named(builder.strategy);
        try (Pool pool = builder.build()) {
            for (int round = 0; round < 2; round++) {
                useAtRandom(pool, mostBytes, random);
                assertEquals(0, pool.statistics().usedBytes());
                long sizeBytes = mostBytes;
                while (provider.regionBytesFor(sizeBytes, 1, builder.strategyOptions)
                        > Math.max(mostBytes, sizeBytes + 255)) {
                    sizeBytes /= 2;
                }
                final long address = pool.allocate(sizeBytes);
                assertTrue(pool.sizeOf(address) >= sizeBytes);
                pool.free(address);
            }
        }
    }

    private static void useAtRandom(final Pool pool, final long mostBytes, final SplittableRandom random) {
        final List<Long> live = new ArrayList<>();
        for (int i = 0; i < OPERATIONS; i++) {
            if (!live.isEmpty() && random.nextInt(3) == 0) {
                pool.free(live.remove(random.nextInt(live.size())));
            }
            try {
                live.add(pool.allocate(1 + random.nextLong(Math.max(1, mostBytes >> (2 + random.nextInt(8))))));
            } catch (final DeviceOutOfMemoryException ignored) {
                // The pool may be full by then.
            }
        }
        live.forEach(pool::free);
    }
}
