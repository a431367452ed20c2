/** This package places the blocks of a trace offline, when the whole trace is known, and checks the result. */
@NullMarked
package io.outboard.bench.cli.plan;

import org.jspecify.annotations.NullMarked;
