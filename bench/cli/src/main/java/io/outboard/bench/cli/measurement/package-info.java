/** What a run measures: an allocator's numbers, and the driver's beside them. */
@NullMarked
package io.outboard.bench.cli.measurement;

import org.jspecify.annotations.NullMarked;
