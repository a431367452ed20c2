package io.outboard.bench.cli.trace;

import java.util.Arrays;

/**
 * An operation list is a growing array of operations. The caller keeps it within {@link Trace#maximumOperations()}.
 *
 * <p>Thread-safety: confined to one thread. Cost: the array grows by half, so it takes at most 20 host bytes an
 * operation while it copies.
 */
final class OperationList {

    private long[] operations;
    private int size;

    OperationList(final int capacity) {
        operations = new long[Math.max(2, capacity)];
    }

    int size() {
        return size;
    }

    void add(final long operation) {
        if (size == operations.length) {
            operations = Arrays.copyOf(operations, size + (size >>> 1));
        }
        operations[size++] = operation;
    }

    /** Returns the operations in an array of exactly their number; a copy unless the list is full. */
    long[] toArray() {
        return size == operations.length ? operations : Arrays.copyOf(operations, size);
    }
}
