/** Device code of Outboard's, and how it is loaded, linked and launched. */
@NullMarked
package io.outboard.cuda.kernels.internal;

import org.jspecify.annotations.NullMarked;
