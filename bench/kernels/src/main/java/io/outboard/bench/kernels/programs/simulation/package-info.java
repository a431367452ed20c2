/** Simulations whose objects come and go on the device, step by step, and what the CPU says to them. */
@NullMarked
package io.outboard.bench.kernels.programs.simulation;

import org.jspecify.annotations.NullMarked;
