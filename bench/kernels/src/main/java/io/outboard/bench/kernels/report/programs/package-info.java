/** This section of the report shows programs whose kernels allocate. */
@NullMarked
package io.outboard.bench.kernels.report.programs;

import org.jspecify.annotations.NullMarked;
