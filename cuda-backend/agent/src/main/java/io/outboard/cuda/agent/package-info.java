/**
 * The agent: gives an unmodified program Outboard instead of JCuda's own allocation functions, by changing the calls in its
 * classes as they are loaded.
 */
@NullMarked
package io.outboard.cuda.agent;

import org.jspecify.annotations.NullMarked;
