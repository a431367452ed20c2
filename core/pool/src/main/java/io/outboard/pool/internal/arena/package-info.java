/**
 * Arenas: parts of a pool that threads use one at a time, the segments of memory that they have, and the blocks in them, those that the
 * device may still be using among them. Asks no device, and takes no memory.
 */
@NullMarked
package io.outboard.pool.internal.arena;

import org.jspecify.annotations.NullMarked;
