/** The report's section on in-kernel allocators shows them beside what their authors publish. */
@NullMarked
package io.outboard.bench.kernels.report;

import org.jspecify.annotations.NullMarked;
