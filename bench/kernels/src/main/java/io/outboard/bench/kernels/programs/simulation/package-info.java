/** Simulations have objects that come and go on the device, step by step, and are compared with twins on the CPU. */
@NullMarked
package io.outboard.bench.kernels.programs.simulation;

import org.jspecify.annotations.NullMarked;
