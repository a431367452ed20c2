/**
 * The command line: malloc-large, replay, strategies, reports, and the bundle that runs on a machine with a GPU and
 * no JDK.
 */
@NullMarked
package io.outboard.bench.cli;

import org.jspecify.annotations.NullMarked;
