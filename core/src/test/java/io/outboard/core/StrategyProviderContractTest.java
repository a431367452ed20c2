package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * These tests say what {@link StrategyProvider} promises, for every provider on the class path. Each module has a
 * subclass for its own providers.
 */
public abstract class StrategyProviderContractTest {

    private static final long GRANULE = 256;
    private static final StrategyOptions OPTIONS = new StrategyOptions(GRANULE, 4096);

    static Stream<StrategyProvider> providers() {
        return Strategies.all().stream();
    }

    /**
     * A request size in granules for which the next size class of both buddy systems is larger than a region may be.
     */
    private static final long BEYOND_BUDDIES = 2_971_215_074L;

    private static List<Long> sizes() {
        final List<Long> sizes = new ArrayList<>();
        for (long granules = 1; granules <= 40; granules++) {
            sizes.add(granules * GRANULE);
        }
        for (int log2 = 14; log2 < 30; log2++) {
            sizes.addAll(List.of((1L << log2) - 1, 1L << log2, (1L << log2) + 1));
        }
        return sizes;
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldServeARequestOfTheRegionThatItAsksForAndOfEveryLargerOne(final StrategyProvider provider) {
        for (final long sizeBytes : sizes()) {
            final long leastBytes = provider.regionBytesFor(sizeBytes, 1, OPTIONS);

            for (final long moreBytes : new long[] {0, 1, GRANULE, 5 * GRANULE, leastBytes - GRANULE, leastBytes}) {
                final Region region = new Region((1L << 40) + 3 * GRANULE, leastBytes + moreBytes);
                final Strategy strategy = provider.create(region, OPTIONS);
                assertNotEquals(
                        Strategy.NO_SPACE, strategy.allocate(sizeBytes), () -> sizeBytes + " bytes of " + region);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldServeAnAlignedRequestOfTheRegionThatItAsksFor(final StrategyProvider provider) {
        for (final long alignmentBytes : new long[] {256, 512, 4096, 1 << 20}) {
            // Buddies need a region that starts at a large power of two; the others serve regions that start anywhere.
            final boolean anywhere = !provider.name().startsWith("buddy");
            final long address = (1L << 40) + (anywhere ? GRANULE : 0);
            for (final long sizeBytes : sizes()) {
                final Region region = new Region(address, provider.regionBytesFor(sizeBytes, alignmentBytes, OPTIONS));

                final long block = provider.create(region, OPTIONS).allocate(sizeBytes, alignmentBytes);

                assertNotEquals(Strategy.NO_SPACE, block, () -> sizeBytes + " bytes of " + region);
                assertEquals(0, block % alignmentBytes);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldAskForARegionOfAnySizeWithoutOverflow(final StrategyProvider provider) {
        for (final long granuleBytes : new long[] {1, 256, 1 << 30}) {
            final StrategyOptions options = OPTIONS.withGranuleBytes(granuleBytes);
            for (final long sizeBytes : new long[] {
                1,
                1L << 40,
                BEYOND_BUDDIES * granuleBytes,
                StrategyProvider.MOST_GRANULES * granuleBytes,
                (StrategyProvider.MOST_GRANULES + 1) * granuleBytes,
                (1L << 62) - 1,
                1L << 62,
                Long.MAX_VALUE
            }) {
                for (final long alignmentBytes : new long[] {1, 1 << 20, 1L << 61, 1L << 62}) {
                    final long regionBytes = provider.regionBytesFor(sizeBytes, alignmentBytes, options);

                    assertTrue(regionBytes >= sizeBytes);
                    assertTrue(regionBytes == Long.MAX_VALUE || regionBytes % granuleBytes == 0);
                    assertTrue(
                            regionBytes == Long.MAX_VALUE
                                    || regionBytes / granuleBytes <= StrategyProvider.MOST_GRANULES,
                            () -> regionBytes + " bytes for " + sizeBytes);
                }
            }
            assertEquals(Long.MAX_VALUE, provider.regionBytesFor(Long.MAX_VALUE, 1, options));
        }
    }

    /**
     * A class whose first use ends a thread's stack is lost to the whole program. So calls, and messages of refused
     * ones, must need no class that has anything to initialise, neither of ours nor of the JDK's.
     */
    @Test
    void shouldMakeStrategiesThatWorkAfterCallsOfOthersEndedAStack() throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:MaxJavaStackTraceDepth=8",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StackEnds.class.getName())
                .redirectErrorStream(true)
                .start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertEquals(0, process.waitFor(), output);
        assertTrue(
                output.matches("(address=0x\\w+ must be the start of a block in use: "
                        + "it lies 1 bytes inside the block \\[0x\\w+, .+] in use\n){"
                        + providers().count() + "}"),
                output);
    }

    /**
     * This program calls strategies of each kind wherever a stack is about to end. In the end it prints what a new
     * strategy says to a wrong address.
     */
    static final class StackEnds {

        private static final Region REGION = new Region(1 << 20, 1 << 20);

        /** The most frames that the calls need, even if each frame is as small as a compiled one. */
        private static final int MOST_FRAMES = 300;

        private StackEnds() {}

        @SuppressWarnings("ReturnValueIgnored") // The request for methods is what counts.
        public static void main(final String... args) throws InterruptedException {
            // Loading and linking, here by a request for methods, take more stack than initialising does. A program
            // that has done the one may lack the stack for the other.
            for (final Class<?> type : List.of(
                    ByteSize.class,
                    InvalidAddressException.class,
                    InvalidAddressException.class.getDeclaredClasses()[0])) {
                type.getDeclaredMethods();
            }
            for (final StrategyProvider provider : Strategies.all()) {
                final Strategy[] strategies = Stream.generate(() -> create(provider))
                        .limit(MOST_FRAMES)
                        .toArray(Strategy[]::new);
                final Thread deep = new Thread(null, () -> descend(strategies), "deep", 256 << 10);
                deep.start();
                deep.join();
                final Strategy strategy = create(provider);
                try {
                    strategy.free(strategy.allocate(2 * GRANULE) + 1);
                } catch (final InvalidAddressException e) {
                    System.out.println(e.getMessage());
                }
            }
        }

        private static Strategy create(final StrategyProvider provider) {
            return provider.create(REGION, new StrategyOptions(GRANULE, 64));
        }

        /** Calls another strategy at each depth, since one that ended a stack must not be used again. */
        @SuppressWarnings("InfiniteRecursion") // The stack ends.
        private static int descend(final Strategy[] strategies) {
            int below;
            try {
                below = descend(strategies) + 1;
            } catch (final StackOverflowError e) {
                below = 0;
            }
            if (below < strategies.length) {
                try {
                    strategies[below].free(strategies[below].allocate(2 * GRANULE) + 1);
                } catch (final StackOverflowError | InvalidAddressException e) {
                    // One or the other comes; anything else ends the thread with a message.
                }
            }
            return below;
        }
    }
}
