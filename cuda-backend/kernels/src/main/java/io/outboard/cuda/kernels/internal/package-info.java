/** This package has Outboard's device code, and loads, links and launches it. */
@NullMarked
package io.outboard.cuda.kernels.internal;

import org.jspecify.annotations.NullMarked;
