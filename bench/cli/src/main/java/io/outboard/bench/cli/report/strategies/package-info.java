/** What pages show of strategies: speed beside space, all traces, each trace by itself, and several threads. */
@NullMarked
package io.outboard.bench.cli.report.strategies;

import org.jspecify.annotations.NullMarked;
