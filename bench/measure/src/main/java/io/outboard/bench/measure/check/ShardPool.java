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

/** The pool runs shards on several threads. After a violation, no more shards of the same strategy are begun. */
final class ShardPool {

    private final Function<String, StrategyProvider> providers;
    private final int threads;
    private final Progress progress;
    private final Set<String> failed = new HashSet<>();

    /** {@code providers} finds what makes a strategy by the strategy's name. */
    ShardPool(final Function<String, StrategyProvider> providers, final int threads, final Progress progress) {
        this.providers = providers;
        this.threads = threads;
        this.progress = progress;
    }

    /**
     * Runs the shards that aren't finished.
     *
     * @param state knows which shards are finished and records more of them; null to run all and record none
     * @return the result of each finished shard, in the order of {@code shards}, whether it ran now or before
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
