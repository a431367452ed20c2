/** The facade for programs that call the driver by {@code java.lang.foreign}; the agent redirects them. */
@NullMarked
package io.outboard.cuda.internal.foreign;

import org.jspecify.annotations.NullMarked;
