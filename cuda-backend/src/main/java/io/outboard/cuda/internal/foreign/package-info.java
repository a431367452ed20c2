/** This package puts facades into the classes of bindings other than JCuda, which the agent changes. */
@NullMarked
package io.outboard.cuda.internal.foreign;

import org.jspecify.annotations.NullMarked;
