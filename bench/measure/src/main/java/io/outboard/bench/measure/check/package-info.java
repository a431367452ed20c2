/**
 * Checks do random operations on every strategy, beside a model of taken intervals that knows nothing of how strategies
 * work. Blocks are named by address and by handle, and wrong names of both kinds are tried. A record of finished work
 * lets a run of hours continue where an earlier one ended.
 */
@NullMarked
package io.outboard.bench.measure.check;

import org.jspecify.annotations.NullMarked;
