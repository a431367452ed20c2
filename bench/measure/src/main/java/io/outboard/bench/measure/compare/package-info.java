/** Comparisons show two folders of results side by side: what became better or worse, and by how much. */
@NullMarked
package io.outboard.bench.measure.compare;

import org.jspecify.annotations.NullMarked;
