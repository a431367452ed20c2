/**
 * This package has the commands about the lender: {@code serve} lends a device's memory, {@code top} shows a lender's
 * ledger, and {@code tenants} tries whether two programs fit in turns.
 */
@NullMarked
package io.outboard.bench.cli.service;

import org.jspecify.annotations.NullMarked;
