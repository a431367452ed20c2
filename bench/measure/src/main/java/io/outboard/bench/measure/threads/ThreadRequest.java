package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.cuda.CudaDevice;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request is what the user asked for, checked.
 *
 * @param options those that only threads have
 * @param strategies names of strategies in the pools
 * @param policies names of {@link io.outboard.pool.ReusePolicy}'s constants
 * @param threads numbers of threads, each {@code > 0}
 * @param gpu what to measure on, null for addresses only
 * @param regionBytes most that a pool may hold, and its first region; 0 for a pool's defaults
 * @param output what to print, and where to write
 * @param out where to print
 */
public record ThreadRequest(
        ThreadOptions options,
        List<String> strategies,
        List<String> policies,
        List<Integer> threads,
        @Nullable CudaDevice gpu,
        long regionBytes,
        OutputOptions output,
        PrintWriter out) {

    /**
     * Returns the settings for one number of threads: pools of each strategy and policy, and on a GPU facades and the
     * driver too, as far as the user asked for them.
     */
    List<ThreadSettings> settings(
            final ThreadProfile profile,
            final int count,
            final long smallestBytes,
            final long largestBytes,
            final int liveBlocks) {
        final List<ThreadSettings> all = new ArrayList<>();
        final List<ThreadSettings.Kind> kinds = gpu == null
                ? List.of(ThreadSettings.Kind.POOL)
                : List.of(ThreadSettings.Kind.POOL, ThreadSettings.Kind.FACADE);
        for (final String strategy : strategies) {
            for (final ThreadSettings.Kind kind : kinds) {
                for (final String policy : policies) {
                    all.add(new ThreadSettings(
                            profile,
                            kind,
                            strategy,
                            policy,
                            gpu == null ? ThreadSettings.NO_DEVICE : gpu.ordinal(),
                            regionBytes,
                            count,
                            options.others(),
                            options.launchers(),
                            smallestBytes,
                            largestBytes,
                            liveBlocks,
                            options.roundMillis()));
                }
            }
        }
        if (gpu != null) {
            all.add(all.get(0).of(ThreadSettings.Kind.CUDA_MALLOC));
            all.add(all.get(0).of(ThreadSettings.Kind.CU_MEM_ALLOC_ASYNC));
        }
        all.removeIf(settings -> !options.has(settings.kind()));
        return all;
    }

    /** Returns what prints the results, and writes them to a file in the folder of results. */
    ResultOutput results(final ResultsSection.Kind kind) {
        return new ResultOutput(output, kind, out, gpu);
    }
}
