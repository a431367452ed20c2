/**
 * Soaks run threads that use one pool for minutes while a device works on their blocks, with a record of every use that
 * finds what a pool must never do.
 */
@NullMarked
package io.outboard.bench.measure.soak;

import org.jspecify.annotations.NullMarked;
