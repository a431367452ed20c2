/** This package has the calls of Linux that lender and clients make. */
@NullMarked
package io.outboard.service.internal.linux;

import org.jspecify.annotations.NullMarked;
