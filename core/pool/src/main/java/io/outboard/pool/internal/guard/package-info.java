/**
 * This package has a spin lock that refuses to be taken once a change under it was left half done; a gate that stops
 * the pool's own threads while a context ends; clean-up that goes on after a failure; and what the Java runtime may
 * lack.
 */
@NullMarked
package io.outboard.pool.internal.guard;

import org.jspecify.annotations.NullMarked;
