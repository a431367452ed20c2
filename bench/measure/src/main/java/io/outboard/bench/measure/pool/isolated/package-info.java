/**
 * The loops that measure a pool. Every measurement gets these classes, and the pool's, defined anew; nothing outside
 * names them but by {@code Isolation}.
 */
@NullMarked
package io.outboard.bench.measure.pool.isolated;

import org.jspecify.annotations.NullMarked;
