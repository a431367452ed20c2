/**
 * This package holds the loops that measure a strategy. {@code Isolation} defines these classes, and the strategy's
 * own, anew for every strategy; no other class outside of the package may name one of these classes.
 */
@NullMarked
package io.outboard.bench.cli.isolated;

import org.jspecify.annotations.NullMarked;
