/**
 * Every allocator of Outboard rests on this package: the contract of a strategy, the regions of device memory that
 * strategies divide, statistics and errors. Nothing here reads or writes the memory that it manages, and nothing here
 * knows CUDA, so everything runs without a GPU.
 */
@NullMarked
package io.outboard.core;

import org.jspecify.annotations.NullMarked;
