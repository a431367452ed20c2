/** Which programs there are, and the process that runs one. */
@NullMarked
package io.outboard.bench.kernels.programs.catalogue;

import org.jspecify.annotations.NullMarked;
