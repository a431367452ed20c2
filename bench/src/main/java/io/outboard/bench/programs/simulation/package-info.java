/** Simulations whose objects come and go on the device, step by step, and what the CPU says to them. */
@NullMarked
package io.outboard.bench.programs.simulation;

import org.jspecify.annotations.NullMarked;
