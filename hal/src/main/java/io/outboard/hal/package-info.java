/**
 * What this module will hold: the hybrid array list of Bell, Kumar and Gill (2024, section III-A and appendix) as a
 * container, and on it first fit, next fit and best fit. It has nothing yet.
 */
@NullMarked
package io.outboard.hal;

import org.jspecify.annotations.NullMarked;
