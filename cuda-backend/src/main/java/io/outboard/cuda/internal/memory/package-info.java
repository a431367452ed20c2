/**
 * This package works with CUDA's memory, contexts, streams and captures by their handles, and has the calls of the
 * driver.
 */
@NullMarked
package io.outboard.cuda.internal.memory;

import org.jspecify.annotations.NullMarked;
