/** The calls of Linux that lender and clients make. Public for the module's other package, not for applications. */
@NullMarked
package io.outboard.service.linux;

import org.jspecify.annotations.NullMarked;
