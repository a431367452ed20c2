package io.outboard.bench.cli.common;

import java.io.IOException;

/**
 * A sink receives each result as soon as it is known, and keeps it.
 *
 * @param <T> type of a result
 */
@FunctionalInterface
public interface ResultSink<T> {

    /**
     * Receives one more result.
     *
     * @param result the result
     * @throws IOException if the result can't be kept; the measurement then stops
     */
    void accept(T result) throws IOException;
}
