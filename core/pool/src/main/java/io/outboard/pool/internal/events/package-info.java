/**
 * The pool's events for Java Flight Recorder. Public for the pool's other packages, not for applications.
 */
@NullMarked
package io.outboard.pool.internal.events;

import org.jspecify.annotations.NullMarked;
