/**
 * Blocks that were freed while the device may still be using them, and the epochs of its work that they wait for: one of these for
 * each lane, those for all. It knows no strategy and asks no device. Public for the pool's other packages, not for applications.
 */
@NullMarked
package io.outboard.pool.limbo;

import org.jspecify.annotations.NullMarked;
