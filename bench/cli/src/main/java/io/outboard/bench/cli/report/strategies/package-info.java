/**
 * This package has the page parts of strategies: speed over space, all traces, each trace by itself, and several
 * threads.
 */
@NullMarked
package io.outboard.bench.cli.report.strategies;

import org.jspecify.annotations.NullMarked;
