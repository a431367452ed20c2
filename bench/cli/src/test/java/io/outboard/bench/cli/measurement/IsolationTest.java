package io.outboard.bench.cli.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.isolated.IsolatedBench;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** These tests compare strategies in classes of their own with the same strategies in shared classes. */
class IsolationTest {

    private static final int MAX_BLOCKS = 1 << 18;
    private static final long ADDRESS = 1L << 40;

    /** The region is too small for the whole trace, so that failures are compared too. */
    private static final long REGION_BYTES = 128L << 20;

    private final Trace trace = Profiles.named("paper", 5_000);

    @TempDir
    private Path folder;

    static List<String> strategies() {
        return Strategies.all().stream().map(StrategyProvider::name).toList();
    }

    @Test
    void shouldDefineClassesAnewForEachStrategy() throws Exception {
        final ClassLoader one = loaderOf("tlsf");
        final ClassLoader other = loaderOf("segregated-fit");

        for (final String name : List.of(
                "io.outboard.core.Strategy",
                "io.outboard.core.spi.AbstractStrategy",
                "io.outboard.tlsf.BlockTable",
                "io.outboard.tlsf.TlsfStrategy",
                "io.outboard.bench.cli.isolated.Replay",
                "io.outboard.bench.cli.isolated.TargetMeasurement")) {
            assertNotSame(one.loadClass(name), other.loadClass(name));
            assertSame(one, one.loadClass(name).getClassLoader());
        }
        assertNotSame(Strategy.class, one.loadClass(Strategy.class.getName()));
    }

    @Test
    void shouldShareWhatCrossesTheBorder() throws Exception {
        final ClassLoader loader = loaderOf("tlsf");

        for (final Class<?> shared : List.of(
                Trace.class,
                Measurement.class,
                Latencies.class,
                MemorySample.class,
                WrongUseException.class,
                org.HdrHistogram.Histogram.class,
                String.class)) {
            assertSame(shared, loader.loadClass(shared.getName()));
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void shouldPlaceEveryBlockWhereItLiesWithoutIsolation(final String strategy) throws Exception {
        final Path isolated = folder.resolve("isolated.csv");
        final Path plain = folder.resolve("plain.csv");

        StrategyBench.open(strategy, trace, MAX_BLOCKS).writePlacements(ADDRESS, REGION_BYTES, isolated);
        new IsolatedBench(strategy, trace, MAX_BLOCKS).writePlacements(ADDRESS, REGION_BYTES, plain);

        assertTrue(Files.size(plain) > 10_000);
        assertEquals(-1, Files.mismatch(plain, isolated));
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void shouldMeasureWhatIsMeasuredWithoutIsolation(final String strategy) {
        final Measurement isolated = measure(StrategyBench.open(strategy, trace, MAX_BLOCKS));
        final Measurement plain = measure(new IsolatedBench(strategy, trace, MAX_BLOCKS));

        assertTrue(plain.failures() > 0);
        assertEquals(plain.strategy(), isolated.strategy());
        assertEquals(plain.failures(), isolated.failures());
        assertEquals(plain.peakExtentBytes(), isolated.peakExtentBytes());
        assertEquals(plain.externalFragmentation(), isolated.externalFragmentation());
        assertEquals(plain.internalFragmentation(), isolated.internalFragmentation());
        assertEquals(plain.hostBytes(), isolated.hostBytes());
        assertEquals(plain.memory(), isolated.memory());
        assertEquals(isolated.cpuNsPerOp(), isolated.nsPerOp(), "a strategy's time is CPU time");
        assertEquals(Collections.min(isolated.turnsNs()), isolated.nsPerOp());
        assertEquals(Passes.TURNS, isolated.turnsNs().size());
    }

    @Test
    void shouldPassOnWhatTheStrategysClassesThrow() {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> StrategyBench.open("foo", trace, MAX_BLOCKS));

        assertTrue(String.valueOf(thrown.getMessage()).startsWith("strategy=foo must be one of:"));
    }

    @Test
    void shouldNameARegionThatTheStrategyCannotDivide() {
        final StrategyBench bench = StrategyBench.open("tlsf", trace, MAX_BLOCKS);

        final WrongUseException thrown = assertThrows(
                WrongUseException.class, () -> bench.measure(ADDRESS, 1, false, "none", null, new Progress(1)));

        assertTrue(String.valueOf(thrown.getMessage()).startsWith("--region=1 must suit tlsf:"));
    }

    private Measurement measure(final StrategyBench bench) {
        return bench.measure(ADDRESS, REGION_BYTES, false, "none", null, new Progress(1));
    }

    private ClassLoader loaderOf(final String strategy) {
        return StrategyBench.open(strategy, trace, MAX_BLOCKS).getClass().getClassLoader();
    }
}
