/**
 * Device memory that one process lends to others. A {@link io.outboard.service.Lender} keeps a ledger and makes leases,
 * memory of their own behind a file descriptor; a client maps them, by {@link io.outboard.service.LeasedMemorySource}
 * for a pool, and its connection is all that keeps them on the ledger. Needs Linux, and JDK 22 or newer.
 */
@NullMarked
package io.outboard.service;

import org.jspecify.annotations.NullMarked;
