/**
 * This package takes memory for a pool and gives it back: as whole regions, or in place, by committing, moving and
 * decommitting pieces of one region.
 */
@NullMarked
package io.outboard.pool.internal.growth;

import org.jspecify.annotations.NullMarked;
