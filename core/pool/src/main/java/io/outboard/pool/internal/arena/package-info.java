/**
 * Arenas: parts of a pool that threads use one at a time, and the blocks in them. A part is a region of the main arena, or a chunk of
 * one that another arena divides. Public for the pool's other packages, not for applications.
 */
@NullMarked
package io.outboard.pool.internal.arena;

import org.jspecify.annotations.NullMarked;
