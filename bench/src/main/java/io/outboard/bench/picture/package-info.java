/** A page that shows where blocks lay, over time. */
@NullMarked
package io.outboard.bench.picture;

import org.jspecify.annotations.NullMarked;
