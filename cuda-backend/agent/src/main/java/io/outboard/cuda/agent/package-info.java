/**
 * The agent gives an unmodified program Outboard instead of JCuda's own allocation functions: it changes the calls in
 * classes as they are loaded. A free through the agent isn't a barrier, as CUDA's own free is, unless the option
 * {@code free=barrier} says so: a program that copies to pinned memory without waiting, frees, and reads needs the
 * barrier.
 */
@NullMarked
package io.outboard.cuda.agent;

import org.jspecify.annotations.NullMarked;
