/**
 * What keeps a pool's state whole: the spin lock, which refuses once a change was left half done, endings that go on
 * after a failure, and the rest of the pool's own threads.
 */
@NullMarked
package io.outboard.pool.internal.guard;

import org.jspecify.annotations.NullMarked;
