/**
 * This package has the facade for programs that call the driver by {@code java.lang.foreign}; the agent redirects their
 * calls.
 */
@NullMarked
package io.outboard.cuda.internal.foreign;

import org.jspecify.annotations.NullMarked;
