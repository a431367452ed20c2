/**
 * This package has free lists threaded through a hash table, after Bell, Kumar and Gill (2024): segregated fit and
 * two-level segregated fit (section V), and buddy systems (section II-C). Confined to one thread, constant or
 * logarithmic time, no metadata in the memory that is managed.
 */
@NullMarked
package io.outboard.tlsf;

import org.jspecify.annotations.NullMarked;
