/**
 * This package has what programs use beside pools and facades: the failures that CUDA reports, and the address in a
 * JCuda pointer.
 */
@NullMarked
package io.outboard.cuda.driver;

import org.jspecify.annotations.NullMarked;
