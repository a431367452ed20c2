/**
 * A client's talk with its lender: the socket, what is asked and answered, and the next lender when one ends.
 */
@NullMarked
package io.outboard.service.internal.session;

import org.jspecify.annotations.NullMarked;
