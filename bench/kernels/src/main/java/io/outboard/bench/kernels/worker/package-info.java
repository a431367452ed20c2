/**
 * What runs on a device in a process of its own, that can be ended when a kernel hangs: cases as lines of text, results
 * as lines of JSON, and what such a process needs of the device. Nothing touches JCuda outside of that process.
 */
@NullMarked
package io.outboard.bench.kernels.worker;

import org.jspecify.annotations.NullMarked;
