/**
 * The threads that use a pool, and what they do with it. Every pass gets these classes, and the pool's, defined anew;
 * nothing outside names them but by {@code Isolation}.
 */
@NullMarked
package io.outboard.bench.measure.threads.isolated;

import org.jspecify.annotations.NullMarked;
