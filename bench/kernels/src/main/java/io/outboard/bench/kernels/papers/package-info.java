/** The papers about allocators in kernels: what each prints, beside results of the tests and programs. */
@NullMarked
package io.outboard.bench.kernels.papers;

import org.jspecify.annotations.NullMarked;
