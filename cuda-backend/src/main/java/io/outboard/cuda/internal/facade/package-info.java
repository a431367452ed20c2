/** This package has the facades, over any pools and any CUDA, and the pools of the contexts. */
@NullMarked
package io.outboard.cuda.internal.facade;

import org.jspecify.annotations.NullMarked;
