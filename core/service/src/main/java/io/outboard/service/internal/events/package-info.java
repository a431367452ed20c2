/** This package has the lender's events for Java Flight Recorder. */
@NullMarked
package io.outboard.service.internal.events;

import org.jspecify.annotations.NullMarked;
