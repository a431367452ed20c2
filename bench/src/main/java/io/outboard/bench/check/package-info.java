/**
 * Checks: random operations on every strategy beside a model of taken intervals, which knows nothing of how strategies work, and a
 * record of what was done, so that a run of hours goes on where it ended.
 */
@NullMarked
package io.outboard.bench.check;

import org.jspecify.annotations.NullMarked;
