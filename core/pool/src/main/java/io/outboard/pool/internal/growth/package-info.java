/**
 * How a pool comes to more memory and gives it back: by whole regions, and in place, where memory is put behind one region, moves
 * within it and leaves it.
 */
@NullMarked
package io.outboard.pool.internal.growth;

import org.jspecify.annotations.NullMarked;
