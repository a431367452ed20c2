/**
 * The facade for programs that call the driver by {@code java.lang.foreign}, without JCuda. Nothing here is for applications; what is public
 * is so for the agent, and may change without a word.
 */
@NullMarked
package io.outboard.cuda.internal.foreign;

import org.jspecify.annotations.NullMarked;
