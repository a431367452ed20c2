/** This package measures pools: what safety and threads cost over a bare strategy. */
@NullMarked
package io.outboard.bench.measure.pool;

import org.jspecify.annotations.NullMarked;
