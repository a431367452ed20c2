package io.outboard.service;

/**
 * A lease that a client waits for.
 *
 * @param account whose
 * @param number the client's own, by which it knows the answer
 * @param bytes how much
 * @param deadlineNanos until when it may wait, by the lender's clock
 * @param waits false if it is to be refused rather than to make others give back
 */
record LeaseRequest(Account account, int number, long bytes, long deadlineNanos, boolean waits) {}
