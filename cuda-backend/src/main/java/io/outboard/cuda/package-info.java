/**
 * This package reaches CUDA through JCuda. It has device memory as a source of regions, and facades with JCuda's own
 * signatures over pools of device memory. JCuda, and with it the native library, is touched only when a GPU is
 * requested.
 */
@NullMarked
package io.outboard.cuda;

import org.jspecify.annotations.NullMarked;
