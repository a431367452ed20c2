/**
 * A worker runs on a device in a process of its own that can be ended when a kernel hangs: cases are lines of text,
 * results are lines of JSON, and this package has what such a process needs of the device. No class touches JCuda
 * outside of that process.
 */
@NullMarked
package io.outboard.bench.kernels.worker;

import org.jspecify.annotations.NullMarked;
