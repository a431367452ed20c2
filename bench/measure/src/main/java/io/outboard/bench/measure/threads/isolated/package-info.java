/**
 * This package has the threads that use a pool, and what they do with it. Every pass defines these classes, and the
 * pool's, anew; code outside reaches them only by {@code Isolation}.
 */
@NullMarked
package io.outboard.bench.measure.threads.isolated;

import org.jspecify.annotations.NullMarked;
