package io.outboard.bench.cli.common;

import java.io.IOException;

/**
 * Is told of each result as it is known, and keeps it.
 *
 * @param <T> what a result is
 */
@FunctionalInterface
public interface ResultSink<T> {

    /**
     * One more.
     *
     * @param result which
     * @throws IOException if it can't be kept; then nothing further is measured
     */
    void accept(T result) throws IOException;
}
