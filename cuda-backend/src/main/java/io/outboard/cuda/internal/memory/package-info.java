/** CUDA's memory, contexts, streams and captures by their handles, and the calls of the driver behind them. */
@NullMarked
package io.outboard.cuda.internal.memory;

import org.jspecify.annotations.NullMarked;
