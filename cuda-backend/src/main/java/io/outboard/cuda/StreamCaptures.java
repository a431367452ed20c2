package io.outboard.cuda;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The captures into graphs that the facade has begun and not ended, by their streams. That spares a call of the driver
 * where there is none, which is nearly always. Safe for any number of threads.
 */
final class StreamCaptures {

    private final Set<Long> streams = ConcurrentHashMap.newKeySet();

    /** False if it was captured already. */
    boolean begun(final long stream) {
        return streams.add(stream);
    }

    /** Or its stream is gone. */
    void ended(final long stream) {
        streams.remove(stream);
    }

    boolean any() {
        return !streams.isEmpty();
    }
}
