/** This package holds the command line: {@link Main}, and the commands that users run. */
@NullMarked
package io.outboard.bench.cli;

import org.jspecify.annotations.NullMarked;
