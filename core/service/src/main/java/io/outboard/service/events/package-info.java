/** The lender's events for Java Flight Recorder. Public for the module's other package, not for applications. */
@NullMarked
package io.outboard.service.events;

import org.jspecify.annotations.NullMarked;
