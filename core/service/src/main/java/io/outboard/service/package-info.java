/**
 * This package has a lender and its clients: one process lends device memory to others. A {@link
 * io.outboard.service.Lender} keeps a ledger and makes leases, each with memory of its own behind a file descriptor. A
 * client maps leases, by {@link io.outboard.service.LeasedMemorySource} for a pool, and they stay on the ledger as long
 * as its connection lasts. The package needs Linux, and JDK 22 or newer.
 */
@NullMarked
package io.outboard.service;

import org.jspecify.annotations.NullMarked;
