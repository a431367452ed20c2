/**
 * This package is for tests of programs that allocate from a pool, on machines without a GPU: a device in host memory
 * whose streams lag, whose calls fail when a test says so, and which finds leaks, accesses out of bounds, and memory
 * that is used too late.
 */
@NullMarked
package io.outboard.test;

import org.jspecify.annotations.NullMarked;
