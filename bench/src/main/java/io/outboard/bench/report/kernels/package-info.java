/** The report's section on in-kernel allocators, beside what their authors publish. */
@NullMarked
package io.outboard.bench.report.kernels;

import org.jspecify.annotations.NullMarked;
