/** Where the blocks of a trace would lie if all of it were known: offline placement, and what checks it. */
@NullMarked
package io.outboard.bench.cli.plan;

import org.jspecify.annotations.NullMarked;
