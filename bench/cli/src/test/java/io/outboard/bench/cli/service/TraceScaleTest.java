package io.outboard.bench.cli.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceScaleTest {

    /** The trace is scaled down to hardly more than a granule for each block, and up beyond its own peak. */
    @ParameterizedTest
    @ValueSource(doubles = {0.001, 0.1, 1, 7})
    void shouldHaveThePeakButForAGranuleOfEachBlock(final double factor) {
        final Trace trace = Profiles.named("mid", 2000);
        final long least = TraceScale.leastPeakBytes(trace);
        final long peak = least + (long) (factor * trace.peakLiveBytes());

        final Trace scaled = TraceScale.scaled(trace, peak);

        assertTrue(scaled.peakLiveBytes() <= peak, scaled.peakLiveBytes() + " <= " + peak);
        assertTrue(scaled.peakLiveBytes() > peak - least, scaled.peakLiveBytes() + " > " + (peak - least));
        assertEquals(trace.operationCount(), scaled.operationCount());
        for (int i = 0; i < scaled.operationCount(); i++) {
            final long was = trace.operations()[i];
            final long is = scaled.operations()[i];
            assertEquals(Trace.slot(was), Trace.slot(is));
            assertEquals(Trace.isFree(was), Trace.isFree(is));
            assertEquals(0, Trace.bytes(is) % TraceScale.GRANULE_BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void shouldBeAGranuleForEachBlockAtLeast(final String profile) {
        final Trace trace = Profiles.named(profile, 2000);
        final long least = TraceScale.leastPeakBytes(trace);

        assertEquals(least, TraceScale.scaled(trace, least).peakLiveBytes());
    }
}
