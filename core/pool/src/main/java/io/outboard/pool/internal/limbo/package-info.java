/**
 * Blocks that were freed while the device may still be using them, and the epochs of its work that they wait for: one of these for
 * each arena, those for all. It knows no strategy and asks no device. Public for the pool's other packages, not for applications.
 */
@NullMarked
package io.outboard.pool.internal.limbo;

import org.jspecify.annotations.NullMarked;
