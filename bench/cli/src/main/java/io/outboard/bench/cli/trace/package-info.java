/**
 * This package has sequences of allocations and frees to run a strategy on: generated profiles, and traces read from
 * files. It knows nothing of strategies or devices.
 */
@NullMarked
package io.outboard.bench.cli.trace;

import org.jspecify.annotations.NullMarked;
