package io.outboard.bench.measure.check;

import io.outboard.bench.cli.common.Progress;
import io.outboard.core.StrategyProvider;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs shards on several threads. A strategy that did something wrong is left alone from then on. */
final class ShardPool {

    private final Function<String, StrategyProvider> providers;
    private final int threads;
    private final Progress progress;
    private final Set<String> failed = new HashSet<>();

    /** {@code providers}: make strategies, by name. */
    ShardPool(final Function<String, StrategyProvider> providers, final int threads, final Progress progress) {
        this.providers = providers;
        this.threads = threads;
        this.progress = progress;
    }

    /**
     * Runs what isn't finished.
     *
     * @param state knows what is finished and is told of more, null without any
     * @return what came of each shard that was done, now or before, in the order that was given
     */
    List<ShardResult> run(final List<Shard> shards, final @Nullable StateFile state)
            throws IOException, InterruptedException {
        final ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            final List<Future<Optional<ShardResult>>> futures = new ArrayList<>();
            for (final Shard shard : shards) {
                futures.add(executor.submit(() -> run(shard, state)));
            }
            final List<ShardResult> results = new ArrayList<>();
            for (final Future<Optional<ShardResult>> future : futures) {
                future.get().ifPresent(results::add);
            }
            return results;
        } catch (final ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IllegalStateException(String.valueOf(e.getCause()), e);
        } finally {
            executor.shutdownNow();
        }
    }

    private Optional<ShardResult> run(final Shard shard, final @Nullable StateFile state) throws IOException {
        final Optional<ShardResult> before = state == null ? Optional.empty() : state.find(shard);
        if (before.isPresent()) {
            progress.step(shard.operations());
            return before;
        }
        if (hasFailed(shard)) {
            return Optional.empty();
        }
        final ShardResult result = new ShardRun(providers.apply(shard.strategy()), shard).run(progress::step);
        if (result.violation() != null) {
            fail(shard);
        } else if (state != null) {
            state.add(result);
        }
        return Optional.of(result);
    }

    private synchronized boolean hasFailed(final Shard shard) {
        return failed.contains(shard.strategy());
    }

    private synchronized void fail(final Shard shard) {
        failed.add(shard.strategy());
    }
}
