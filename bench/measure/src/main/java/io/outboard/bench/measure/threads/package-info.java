/**
 * This package measures many threads on one pool: thread profiles, memory by threads, and latency by size. It has the
 * requests, the results, and their output for people and programs; the threads themselves are in {@code isolated}.
 */
@NullMarked
package io.outboard.bench.measure.threads;

import org.jspecify.annotations.NullMarked;
