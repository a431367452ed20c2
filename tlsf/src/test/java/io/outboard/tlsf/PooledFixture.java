package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.function.Executable;

/** This class has what the tests of pools share: eight windows, divided by TLSF behind a pool. */
abstract class PooledFixture {

    static final StrategyOptions OPTIONS = new StrategyOptions(256, 1 << 15);
    static final long BASE = 1L << 40;
    static final long WINDOW = 64 * 4096;
    static final int WINDOWS = 8;

    final TlsfStrategy backing = new TlsfStrategy(new Region(BASE, WINDOWS * WINDOW), OPTIONS);
    final PooledStrategy strategy = new PooledStrategy(backing);

    final long[] allocate(final int count, final long sizeBytes) {
        return LongStream.generate(() -> strategy.allocate(sizeBytes))
                .limit(count)
                .toArray();
    }

    final void freeAll(final long[] addresses) {
        Arrays.stream(addresses).forEach(strategy::free);
    }

    /** Holds a block behind all others. Without it, empty slabs would go back when nothing else is in use. */
    static void holdLastWindow(final Strategy strategy) {
        final long front = strategy.allocate(strategy.region().sizeBytes() - WINDOW);
        assertEquals(BASE + strategy.region().sizeBytes() - WINDOW, strategy.allocate(WINDOW));
        strategy.free(front);
    }

    final void keepEmptySlabs() {
        holdLastWindow(strategy);
        final long first = strategy.allocate(256);
        final long second = strategy.allocate(1024);
        strategy.free(first);
        strategy.free(second);
        assertEquals(3, backing.liveBlocks());
    }

    final void assertWhole() {
        assertEquals(List.of("free 0 2097152"), blocks(strategy));
        assertEquals(WINDOWS * WINDOW, strategy.freeBytes());
        assertEquals(WINDOWS * WINDOW, Statistics.of(strategy).largestFreeBlockBytes());
        assertEquals(0, strategy.liveBlocks());
    }

    final void assertRefused(final long address, final String message) {
        final List<Executable> calls = List.of(
                () -> strategy.free(address),
                () -> strategy.retire(address),
                () -> strategy.trim(address, 1),
                () -> strategy.extend(address, Long.MAX_VALUE),
                () -> strategy.sizeOf(address));
        for (final Executable call : calls) {
            assertUnchanged(() -> {
                final String thrown = String.valueOf(
                        assertThrows(InvalidAddressException.class, call).getMessage());
                assertTrue(thrown.contains(message), thrown);
            });
        }
    }

    final void assertRefused(final Executable call, final String message) {
        assertUnchanged(() -> assertEquals(
                message, assertThrows(IllegalArgumentException.class, call).getMessage()));
    }

    final void assertUnchanged(final Executable call) {
        final List<String> before = blocks(strategy);
        final long freeBytes = strategy.freeBytes();

        assertDoesNotThrow(call);

        assertEquals(before, blocks(strategy));
        assertEquals(freeBytes, strategy.freeBytes());
    }

    /** Lists what a walk shows, with offsets instead of addresses. */
    static List<String> blocks(final Strategy strategy) {
        final List<String> blocks = new ArrayList<>();
        strategy.forEachBlock((address, sizeBytes, free) ->
                blocks.add((free ? "free " : "used ") + (address - BASE) + " " + sizeBytes));
        return blocks;
    }

    static int granule(final long address) {
        return (int) ((address - BASE) / 256);
    }
}
