/**
 * Kernels that allocate for themselves: heaps in device memory, from which threads of a kernel allocate while it runs,
 * and kernels that are linked with an allocator. CUDA is called through JCuda.
 */
@NullMarked
package io.outboard.cuda.kernels;

import org.jspecify.annotations.NullMarked;
