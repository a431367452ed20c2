/** This package has the pool's events for Java Flight Recorder. */
@NullMarked
package io.outboard.pool.internal.events;

import org.jspecify.annotations.NullMarked;
