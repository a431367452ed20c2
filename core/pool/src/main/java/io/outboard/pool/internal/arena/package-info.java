/**
 * This package has arenas: parts of a pool that threads use one at a time, with segments of memory and the blocks in
 * them, also those that the device may still be using. This package asks no device, and takes no memory.
 */
@NullMarked
package io.outboard.pool.internal.arena;

import org.jspecify.annotations.NullMarked;
