/**
 * Programs whose kernels allocate, as the papers measure them: with an {@code ObjectHeap}, with each allocator, and
 * without any. What a program comes to is compared with what the CPU comes to. Each runs in a process of its own that
 * can be ended when a kernel hangs; nothing here touches JCuda outside of that process.
 */
@NullMarked
package io.outboard.bench.kernels.programs;

import org.jspecify.annotations.NullMarked;
