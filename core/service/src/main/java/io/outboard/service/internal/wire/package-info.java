/** This package has the layout of messages between lender and client, and the reasons of a refusal. */
@NullMarked
package io.outboard.service.internal.wire;

import org.jspecify.annotations.NullMarked;
