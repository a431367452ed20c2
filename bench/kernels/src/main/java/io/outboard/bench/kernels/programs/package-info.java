/**
 * Programs have kernels that allocate, as the papers measure them: with an {@code ObjectHeap}, with each allocator, and
 * without any. A program's result is compared with the CPU's. Each runs in a process of its own that can be ended when
 * a kernel hangs; no class here touches JCuda outside of that process.
 */
@NullMarked
package io.outboard.bench.kernels.programs;

import org.jspecify.annotations.NullMarked;
