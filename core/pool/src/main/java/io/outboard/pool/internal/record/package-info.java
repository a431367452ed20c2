/**
 * What a pool writes down of what it is asked. Public for the pool's other packages, not for applications.
 */
@NullMarked
package io.outboard.pool.internal.record;

import org.jspecify.annotations.NullMarked;
