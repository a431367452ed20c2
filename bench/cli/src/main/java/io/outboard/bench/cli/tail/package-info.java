/**
 * This package measures the tail of latencies: many operations of a strategy, each with a clock around it, alternate
 * with the same loop doing nothing, which shows the machine's own pauses.
 */
@NullMarked
package io.outboard.bench.cli.tail;

import org.jspecify.annotations.NullMarked;
