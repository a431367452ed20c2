/** What a pool writes down of what it is asked. */
@NullMarked
package io.outboard.pool.internal.record;

import org.jspecify.annotations.NullMarked;
