/**
 * CUDA's memory, contexts, streams and captures by their handles, and the calls of the driver behind them. For applications are
 * only {@link DevicePointers} and the two exceptions; everything else here is public for Outboard's own packages, and may change
 * without a word.
 */
@NullMarked
package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.DevicePointers;
import org.jspecify.annotations.NullMarked;
