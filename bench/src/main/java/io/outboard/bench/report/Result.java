package io.outboard.bench.report;

import io.outboard.bench.device.DriverAllocators;

/**
 * One line of {@code results.json}: what one strategy, or one of the driver's own allocators, did on one trace.
 *
 * @param trace name of the trace
 * @param strategy name of the strategy or baseline
 * @param values the whole line
 */
record Result(String trace, String strategy, JsonObject values) {

    /** The baseline that speed-ups are told against. */
    static final String CUDA_MALLOC = DriverAllocators.CUDA_MALLOC;

    static Result of(final JsonObject line) {
        return new Result(line.requiredText("trace"), line.requiredText("strategy"), line);
    }

    static boolean isBaseline(final String strategy) {
        return DriverAllocators.names().contains(strategy);
    }

    boolean isBaseline() {
        return isBaseline(strategy);
    }

    /** A number of the line, or NaN where it was not measured. */
    double number(final String key) {
        return values.number(key);
    }

    /** A number one level down, or NaN where it was not measured. */
    double number(final String object, final String key) {
        return values.object(object).number(key);
    }

    /** The smallest region that serves the trace, as a multiple of peak live bytes; NaN where it was not measured. */
    double regionOverLive() {
        return number("smallestRegionBytes") / number("peakLiveBytes");
    }
}
