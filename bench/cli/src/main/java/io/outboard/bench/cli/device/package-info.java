/**
 * The device side of the benchmarks: whether there is a GPU, and the driver's own allocators as baselines. Nothing here
 * touches JCuda until a GPU is asked for.
 */
@NullMarked
package io.outboard.bench.cli.device;

import org.jspecify.annotations.NullMarked;
