/**
 * This package is the device side of the benchmarks: it finds out whether there is a GPU, and has the driver's own
 * allocators as baselines. Nothing here touches JCuda until a GPU is asked for.
 */
@NullMarked
package io.outboard.bench.cli.device;

import org.jspecify.annotations.NullMarked;
