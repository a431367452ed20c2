/** This package measures allocators: ours, and the driver's in the same run. */
@NullMarked
package io.outboard.bench.cli.measurement;

import org.jspecify.annotations.NullMarked;
