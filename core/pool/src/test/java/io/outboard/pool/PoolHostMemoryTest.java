package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModule;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The host's memory ends while a strategy's tables change. */
class PoolHostMemoryTest {

    private static final long MIB = 1L << 20;

    /** This provider makes a TLSF strategy that has no host memory for a call, once. */
    public static final class Provider implements StrategyProvider, StrategyModule {

        static volatile String failing = "";

        @Override
        public List<StrategyProvider> strategies() {
            return List.of(this);
        }

        @Override
        public String name() {
            return "probing-failing";
        }

        @Override
        public String description() {
            return "TLSF that fails, for tests";
        }

        @Override
        public Strategy create(final Region region, final StrategyOptions options) {
            final Strategy strategy = Strategies.named("tlsf").create(region, options);
            return (Strategy) Proxy.newProxyInstance(
                    Strategy.class.getClassLoader(),
                    new Class<?>[] {PartRetiringStrategy.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals(failing)) {
                            failing = "";
                            throw new OutOfMemoryError("simulated");
                        }
                        try {
                            return method.invoke(strategy, arguments);
                        } catch (final InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
            return Strategies.named("tlsf").regionBytesFor(sizeBytes, alignmentBytes, options);
        }
    }

    /** Free memory that was to go into a hole used to stay retired: nobody was handed it, and it never went back. */
    @Test
    void shouldLoseNothingIfAHoleCannotBeDivided() {
        final FailingMemorySource few =
                new FailingMemorySource(1000 * MIB).growingInPlace().withAddresses(300 * MIB);
        final Pool pool = Pool.over(few)
                .strategy("probing-failing")
                .firstRegionBytes(2 * MIB)
                .limitBytes(252 * MIB)
                .build();
        final long begin = pool.allocate(80 * MIB);
        final long first = pool.allocate(20 * MIB);
        final long hole = pool.allocate(40 * MIB);
        final long middle = pool.allocate(60 * MIB);
        final long second = pool.allocate(40 * MIB);
        final long last = pool.allocate(10 * MIB);
        pool.free(hole);
        pool.trimTo(0);
        final long behind = pool.allocate(42 * MIB);
        pool.free(first);
        pool.free(second);
        Provider.failing = "splitRetired";

        assertThrows(OutOfMemoryError.class, () -> pool.allocate(50 * MIB));

        List.of(begin, middle, last, behind).forEach(pool::free);
        assertEquals(0, pool.trimTo(0));
    }

    /** Threads of other arenas free by the start of a block, which used to be lost. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepABlockInUseThatCannotBeRetired(final boolean async) {
        final Pool pool = Pool.over(new FailingMemorySource(100 * MIB))
                .strategy("probing-failing")
                .reuse(ReusePolicy.STREAM_ORDERED, new SteadyDevice(true))
                .spread(2)
                .build();
        final long block = pool.allocate(MIB);
        Provider.failing = "retire";

        assertThrows(OutOfMemoryError.class, () -> free(pool, block, async));

        assertEquals(MIB, pool.sizeOf(block));
        free(pool, block, async);
        assertEquals(0, pool.statistics().usedBytes());
    }

    private static void free(final Pool pool, final long block, final boolean async) {
        if (async) {
            pool.freeAsync(block, 1);
        } else {
            pool.free(block);
        }
    }
}
