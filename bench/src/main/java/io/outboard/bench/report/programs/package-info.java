/** The report's section on programs whose kernels allocate. */
@NullMarked
package io.outboard.bench.report.programs;

import org.jspecify.annotations.NullMarked;
