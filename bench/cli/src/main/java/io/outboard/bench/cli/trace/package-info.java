/**
 * Sequences of allocations and frees to run a strategy on: generated profiles, and traces read from files. Knows
 * nothing of strategies or devices.
 */
@NullMarked
package io.outboard.bench.cli.trace;

import org.jspecify.annotations.NullMarked;
