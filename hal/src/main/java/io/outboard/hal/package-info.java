/**
 * This package has the hybrid array list of Bell, Kumar and Gill (2024, section III-A and appendix) as a container,
 * and on it the sequential fits: first fit, next fit and best fit. Confined to one thread, no metadata in the memory
 * that is managed.
 */
@NullMarked
package io.outboard.hal;

import org.jspecify.annotations.NullMarked;
