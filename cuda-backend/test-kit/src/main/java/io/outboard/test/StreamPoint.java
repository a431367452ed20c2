package io.outboard.test;

import io.outboard.pool.PoolListener;
import java.util.HashMap;
import java.util.Map;

/**
 * A stream point is a place in a stream, with what has ended before it of other streams: how far, by their handles. It
 * is immutable.
 */
record StreamPoint(long stream, Map<Long, Long> ended) {

    /** The point that lies in no stream, and has nothing before it. */
    static final StreamPoint NONE = new StreamPoint(PoolListener.NO_STREAM, Map.of());

    /** {@return whether a launch that came earlier ends before this point, whenever it runs} */
    boolean isAfter(final Launch launch) {
        return launch.stream == stream || ended.getOrDefault(launch.stream, 0L) >= launch.number;
    }

    /** {@return a point of the same stream that also lies behind another stream's work up to a number} */
    StreamPoint behind(final StreamPoint other, final long number) {
        final Map<Long, Long> both = new HashMap<>(ended);
        other.ended.forEach((handle, end) -> both.merge(handle, end, Math::max));
        both.merge(other.stream, number, Math::max);
        return new StreamPoint(stream, Map.copyOf(both));
    }
}
