/**
 * The loops that measure a strategy. Every strategy gets these classes, and its own, defined anew; nothing outside
 * names them but by {@code Isolation}.
 */
@NullMarked
package io.outboard.bench.cli.isolated;

import org.jspecify.annotations.NullMarked;
