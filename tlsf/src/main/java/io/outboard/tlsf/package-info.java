/**
 * Free lists threaded through a hash table, after Bell, Kumar and Gill (2024, section V): two-level segregated fit.
 * Confined to one thread, constant time, no metadata in the memory that is managed.
 */
@NullMarked
package io.outboard.tlsf;

import org.jspecify.annotations.NullMarked;
