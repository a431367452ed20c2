/**
 * This program builds a tree over a scene's triangles and casts rays through it, on the device, and the CPU checks the
 * results.
 */
@NullMarked
package io.outboard.bench.kernels.programs.kd;

import org.jspecify.annotations.NullMarked;
