/** Microbenchmarks of strategies and pools; those of what is inside of a module are in its package. */
@NullMarked
package io.outboard.bench.jmh;

import org.jspecify.annotations.NullMarked;
