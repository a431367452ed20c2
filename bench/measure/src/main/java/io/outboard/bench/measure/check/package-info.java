/**
 * Checks: random operations on every strategy beside a model of taken intervals, which knows nothing of how strategies
 * work. Blocks are named by address and by handle, and wrong names of both kinds are tried. A record of what was done
 * lets a run of hours go on where it ended.
 */
@NullMarked
package io.outboard.bench.measure.check;

import org.jspecify.annotations.NullMarked;
