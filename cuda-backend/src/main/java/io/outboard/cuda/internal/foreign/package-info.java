/** The facade for programs that call the driver by {@code java.lang.foreign}, without JCuda. The agent redirects their calls. */
@NullMarked
package io.outboard.cuda.internal.foreign;

import org.jspecify.annotations.NullMarked;
