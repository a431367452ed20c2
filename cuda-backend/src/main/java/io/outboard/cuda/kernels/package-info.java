/**
 * Device code of Outboard's and how it is loaded, linked and launched. Nothing here is for applications, which call
 * {@code KernelModule} and {@code DeviceHeap} in {@code io.outboard.cuda}; what is public is so for that package, and may change
 * without a word.
 */
@NullMarked
package io.outboard.cuda.kernels;

import org.jspecify.annotations.NullMarked;
