/** This package has what replaces functions of bindings other than JCuda, whose classes the agent changes. */
@NullMarked
package io.outboard.cuda.internal.foreign;

import org.jspecify.annotations.NullMarked;
