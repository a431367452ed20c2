/**
 * Two folders of results beside each other: what became better or worse, and by how much.
 */
@NullMarked
package io.outboard.bench.measure.compare;

import org.jspecify.annotations.NullMarked;
