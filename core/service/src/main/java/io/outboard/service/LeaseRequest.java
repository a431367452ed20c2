package io.outboard.service;

/**
 * A lease that a client waits for.
 *
 * @param account whose
 * @param number the client's own, by which it knows the answer
 * @param bytes how much
 * @param wantedBytes how much it and those that follow are, in bytes: so much is to come back at once
 * @param deadlineNanos until when it may wait, by the lender's clock
 * @param waits false if it is to be refused rather than to make others give back
 */
record LeaseRequest(Account account, int number, long bytes, long wantedBytes, long deadlineNanos, boolean waits) {}
