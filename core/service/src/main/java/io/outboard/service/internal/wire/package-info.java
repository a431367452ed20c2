/**
 * The messages between lender and clients, as they are laid out. Public for the module's other package, not for
 * applications.
 */
@NullMarked
package io.outboard.service.internal.wire;

import org.jspecify.annotations.NullMarked;
