/**
 * This package has what an application holds: a pool of device memory for many threads, which divides regions by a
 * strategy, hands a freed block out again once the device has finished with it, grows, reports leaks, and can be looked
 * into. It works on addresses alone and knows no CUDA, so it runs without a GPU.
 */
@NullMarked
package io.outboard.pool;

import org.jspecify.annotations.NullMarked;
