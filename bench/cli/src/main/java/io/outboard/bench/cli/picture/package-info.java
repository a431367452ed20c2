/** This package makes a page that shows where blocks lay, over time. */
@NullMarked
package io.outboard.bench.cli.picture;

import org.jspecify.annotations.NullMarked;
