/**
 * The agent. A free through it is no barrier, as CUDA's own is, unless the option {@code free=barrier} says so: a program that
 * copies to pinned memory without waiting, frees, and reads needs that. The agent gives an unmodified program Outboard instead of JCuda's own allocation functions, by changing the calls in its
 * classes as they are loaded.
 */
@NullMarked
package io.outboard.cuda.agent;

import org.jspecify.annotations.NullMarked;
