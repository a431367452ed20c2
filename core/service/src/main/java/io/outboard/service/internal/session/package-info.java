/**
 * This package has a client's talk with its lender: the socket, requests and answers, and the search for the next
 * lender when one ends.
 */
@NullMarked
package io.outboard.service.internal.session;

import org.jspecify.annotations.NullMarked;
