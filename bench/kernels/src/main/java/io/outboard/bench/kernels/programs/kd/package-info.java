/**
 * A program that builds a tree over a scene's triangles and casts rays through it, on the device, and what the CPU says
 * to that.
 */
@NullMarked
package io.outboard.bench.kernels.programs.kd;

import org.jspecify.annotations.NullMarked;
