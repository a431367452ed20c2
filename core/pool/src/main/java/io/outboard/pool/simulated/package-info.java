/** A device that is simulated: for the tests of this module, and for {@code outboard-test}, through which others have it. */
@NullMarked
package io.outboard.pool.simulated;

import org.jspecify.annotations.NullMarked;
