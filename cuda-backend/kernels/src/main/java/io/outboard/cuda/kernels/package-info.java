/**
 * This package is for kernels that allocate memory themselves. It has heaps in device memory, from which threads of a
 * kernel allocate while the kernel runs, and links kernels with an allocator. CUDA is called through JCuda.
 */
@NullMarked
package io.outboard.cuda.kernels;

import org.jspecify.annotations.NullMarked;
