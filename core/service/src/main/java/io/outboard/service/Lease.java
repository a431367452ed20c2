package io.outboard.service;

/**
 * Memory that a lender has lent, and its descriptor, which is the holder's to {@linkplain LenderConnection#closeDescriptor close} once the
 * memory is mapped. Immutable.
 *
 * @param number by which it is given back; the connection's own
 * @param bytes how much, in bytes
 * @param descriptor what to map, of this process
 */
public record Lease(long number, long bytes, int descriptor) {}
