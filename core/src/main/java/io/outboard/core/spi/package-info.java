/**
 * This package has what writers of strategies need: arguments checked and counted in granules, and the checks that all
 * strategies word alike. Users of a strategy, or of a pool, need nothing of it.
 */
@NullMarked
package io.outboard.core.spi;

import org.jspecify.annotations.NullMarked;
