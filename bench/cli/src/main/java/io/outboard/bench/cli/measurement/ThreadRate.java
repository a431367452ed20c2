package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;

/**
 * A rate tells how many operations several threads did on one pool.
 *
 * @param strategy name of the pool's strategy
 * @param reusePolicy when freed memory was handed out again
 * @param threads number of threads
 * @param opsPerSecond allocations and frees a second, of all threads together
 */
public record ThreadRate(String strategy, String reusePolicy, int threads, double opsPerSecond) {

    /** Formats one line of {@code threads.jsonl}. */
    public JsonLine json(final Trace trace) {
        return new JsonLine()
                .put("trace", trace.name())
                .put("strategy", strategy)
                .put("reusePolicy", reusePolicy)
                .put("threads", (long) threads)
                .put("opsPerSecond", opsPerSecond, 0)
                .put("jdk", Environment.jdk())
                .put("cpu", Environment.cpu())
                .put("commit", Environment.commit());
    }
}
