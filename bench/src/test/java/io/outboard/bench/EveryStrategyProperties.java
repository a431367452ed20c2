package io.outboard.bench;

import io.outboard.core.DifferentialProperties;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.util.List;
import java.util.function.LongBinaryOperator;

/**
 * Tests all strategies that the command line offers. The name of a strategy decides in what it may differ from most.
 */
class EveryStrategyProperties extends DifferentialProperties {

    @Override
    protected List<Subject> subjects(final Region region, final StrategyOptions options) {
        return Strategies.all().stream()
                .map(provider -> new Subject(
                        provider,
                        blockBytes(provider, region, options),
                        coalesces(provider),
                        searches(provider),
                        provider.name().equals("buddy-double")))
                .toList();
    }

    /** Returns whether a strategy merges free neighbours; buddies and slots keep them apart. */
    private static boolean coalesces(final StrategyProvider provider) {
        return !provider.name().startsWith("buddy-") && !provider.name().equals("pooled");
    }

    private static boolean searches(final StrategyProvider provider) {
        return !provider.name().equals("segregated-fit-paper");
    }

    private static LongBinaryOperator blockBytes(
            final StrategyProvider provider, final Region region, final StrategyOptions options) {
        if (provider.name().equals("bitmask")) {
            return (bytes, granuleBytes) -> Math.max(2, granules(bytes, granuleBytes)) * granuleBytes;
        }
        if (coalesces(provider)) {
            return (bytes, granuleBytes) -> granules(bytes, granuleBytes) * granuleBytes;
        }
        // The other strategies have sizes of their own, which depend only on what is asked for, so an empty twin tells
        // the size. A request that doesn't even fit into the twin needs more than the region.
        final Strategy twin = provider.create(region, options);
        return (bytes, granuleBytes) -> {
            final long asked = granules(bytes, granuleBytes) * granuleBytes;
            if (bytes <= 0) {
                return asked;
            }
            final long address = twin.allocate(bytes);
            if (address == Strategy.NO_SPACE) {
                return Math.max(asked, region.sizeBytes() + granuleBytes);
            }
            final long blockBytes = twin.sizeOf(address);
            twin.free(address);
            return blockBytes;
        };
    }

    private static long granules(final long bytes, final long granuleBytes) {
        return -Math.floorDiv(-bytes, granuleBytes);
    }
}
