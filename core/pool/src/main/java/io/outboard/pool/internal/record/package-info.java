/** This package has the recorder, which writes down what a pool is asked. */
@NullMarked
package io.outboard.pool.internal.record;

import org.jspecify.annotations.NullMarked;
