/** This package has the measurements and tests behind our claims, as commands. */
@NullMarked
package io.outboard.bench.measure;

import org.jspecify.annotations.NullMarked;
