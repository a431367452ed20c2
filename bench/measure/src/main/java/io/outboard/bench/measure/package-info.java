/** The measurements and tests behind what we claim, as commands. */
@NullMarked
package io.outboard.bench.measure;

import org.jspecify.annotations.NullMarked;
