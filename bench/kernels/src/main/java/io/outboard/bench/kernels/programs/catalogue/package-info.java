/** The catalogue lists the programs, and has the main class of the process that runs one. */
@NullMarked
package io.outboard.bench.kernels.programs.catalogue;

import org.jspecify.annotations.NullMarked;
