/**
 * A client's talk with its lender: the socket, what is asked and answered, and the next lender when one ends. Public
 * for the module's other package, not for applications.
 */
@NullMarked
package io.outboard.service.session;

import org.jspecify.annotations.NullMarked;
