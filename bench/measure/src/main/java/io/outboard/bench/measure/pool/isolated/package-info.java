/**
 * This package has the loops that measure a pool. Every measurement defines these classes, and the pool's, anew; code
 * outside reaches them only by {@code Isolation}.
 */
@NullMarked
package io.outboard.bench.measure.pool.isolated;

import org.jspecify.annotations.NullMarked;
