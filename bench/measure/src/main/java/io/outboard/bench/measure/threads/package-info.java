/**
 * Many threads on one pool: thread profiles, memory by threads, and latency by size. What is asked for, what was found,
 * and how people and programs read it; the threads themselves are in {@code isolated}.
 */
@NullMarked
package io.outboard.bench.measure.threads;

import org.jspecify.annotations.NullMarked;
