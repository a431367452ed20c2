/**
 * The test bench of in-kernel heaps has the generic tests of Vinkler and Havran (2014), each run in a process of its
 * own that can be ended when a kernel hangs. No class here touches JCuda outside of that process.
 */
@NullMarked
package io.outboard.bench.kernels;

import org.jspecify.annotations.NullMarked;
