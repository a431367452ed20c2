/**
 * The tail of latencies: a strategy's operations, many and each with a clock around it, in turn with the same loop
 * doing nothing, which shows the machine's own pauses.
 */
@NullMarked
package io.outboard.bench.cli.tail;

import org.jspecify.annotations.NullMarked;
