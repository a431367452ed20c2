package io.outboard.service;

import io.outboard.service.internal.wire.Refusal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * The admission decides who is lent memory now, who waits, for whom, and how long.
 *
 * <ol>
 *   <li>A request that exceeds the quota of its name is refused at once.
 *   <li>A request within the guarantee of its name is granted at once if there is room. All others are served in order
 *       of arrival: a request waits behind an earlier one even if there is room for it.
 *   <li>If there is no room for a request, all clients that have more than their guarantee are asked at once to give
 *       back ({@link Outcome#press}). The request waits for their answers, at most {@link #PATIENCE_NANOS} for each
 *       client and until its own deadline. Clients that wait for memory themselves are neither asked nor waited for,
 *       since two of them would wait for each other; those whose requests can only be refused are.
 *   <li>A request that has nobody left to wait for is refused with <em>full</em>.
 * </ol>
 *
 * <p>A client that gave back less than it was asked for has no more to give. It isn't asked again for {@link
 * #PAUSE_NANOS}, since a client that is asked has to wait for its device. A client that stops answering delays the
 * others once, by {@link #PATIENCE_NANOS}.
 *
 * <p>The caller provides the clock. Confined to the lender's thread. A call takes O(waiting + clients), and as much
 * again for each request that is lent because of a refusal, and for each client whose last request is refused.
 */
final class Admission {

    /**
     * The time that a client has to give back: it must wait for its device first, where a kernel may well run so long.
     */
    static final long PATIENCE_NANOS = 2_000_000_000;

    /**
     * The pause before an exhausted client is asked again, so that others make it wait for its device at most ten times
     * a second.
     */
    static final long PAUSE_NANOS = 100_000_000;

    /**
     * A lease request is a lease that a client waits for.
     *
     * @param account the client's account
     * @param number the client's own number of the request, which the answer repeats
     * @param bytes the size of the lease, in bytes
     * @param wantedBytes the size of this lease and of those that follow, in bytes; others are asked to give back as
     *     much at once
     * @param deadlineNanos the time until which the request may wait, by the lender's clock
     * @param waits false if the request is refused rather than make others give back
     * @param isShared whether other clients may open the lease
     */
    record LeaseRequest(
            Account account,
            int number,
            long bytes,
            long wantedBytes,
            long deadlineNanos,
            boolean waits,
            boolean isShared) {}

    /**
     * An outcome is told what is decided. Its methods are called in the middle of a decision, and must not call back,
     * except {@link #takeOffHungUp}, which calls {@link #drop}.
     */
    interface Outcome {

        /** The request is on the ledger as {@code lease}, and its memory must be made now. */
        void make(LeaseRequest request, long lease);

        void press(Account account, long bytes);

        void refuse(LeaseRequest request, Refusal why);

        /**
         * Looks for clients that are gone, before anything is refused: what they held must be there for whoever asks
         * afterwards. All are taken off the ledger before this method returns.
         *
         * @return whether there were any, so that the decision must be made anew
         */
        boolean takeOffHungUp();
    }

    private final Ledger ledger;
    private final Outcome outcome;
    private final Deque<LeaseRequest> waiting = new ArrayDeque<>();

    Admission(final Ledger ledger, final Outcome outcome) {
        this.ledger = ledger;
        this.outcome = outcome;
    }

    void ask(final LeaseRequest request, final long nowNanos) {
        waiting.add(request);
        serve(nowNanos);
    }

    /** The client has given back what it could. */
    void eased(final Account account, final long nowNanos) {
        if (account.pressedBytes == 0) {
            // The request to give back came from an earlier lender.
            return;
        }
        final long gaveBytes = account.leasedWhenPressed - account.leasedBytes;
        account.isExhausted = gaveBytes < account.pressedBytes;
        account.askAgainAtNanos = nowNanos + PAUSE_NANOS;
        account.pressedBytes = 0;
        serve(nowNanos);
    }

    /** Drops the waiting requests of a client that is gone. {@link #serve} must be called afterwards. */
    void drop(final Account account) {
        waiting.removeIf(request -> request.account() == account);
    }

    /** Returns for how many bytes a client waits. */
    long waitingBytes(final Account account) {
        return requestsOf(account).stream().mapToLong(LeaseRequest::bytes).sum();
    }

    Collection<LeaseRequest> requestsOf(final Account account) {
        return waiting.stream().filter(request -> request.account() == account).toList();
    }

    /** Returns when {@link #serve} must be called even if nothing happens until then, or {@code Long.MAX_VALUE}. */
    long nextNanos(final long nowNanos) {
        if (waiting.isEmpty()) {
            return Long.MAX_VALUE;
        }
        long next = Long.MAX_VALUE;
        for (final LeaseRequest request : waiting) {
            next = Math.min(next, request.deadlineNanos());
        }
        for (final Account account : ledger.accounts()) {
            final long patientUntil = account.pressedAtNanos + PATIENCE_NANOS;
            next = account.pressedBytes > 0 && patientUntil > nowNanos ? Math.min(next, patientUntil) : next;
        }
        return next;
    }

    /**
     * Serves the waiting requests. The lender calls this method when memory has come back, and at {@link #nextNanos}.
     */
    void serve(final long nowNanos) {
        // A refused request makes way for those behind it.
        do {
            lend();
        } while (refuse(nowNanos));
    }

    /** Lends to all requests that there is room for. */
    private void lend() {
        final List<LeaseRequest> left = new ArrayList<>();
        while (!waiting.isEmpty()) {
            final LeaseRequest request = waiting.remove();
            final boolean isFirst = left.isEmpty() || isGuaranteed(request);
            if (isFirst && hasRoom(request)) {
                outcome.make(request, ledger.lend(request.account(), request.bytes()));
            } else {
                left.add(request);
            }
        }
        waiting.addAll(left);
    }

    /**
     * Asks others to give back, and refuses the requests that have nobody to wait for, unless clients are gone that
     * they needn't wait for. Returns true if the others must be decided anew.
     */
    private boolean refuse(final long nowNanos) {
        countWaiting(nowNanos);
        press(nowNanos);
        final boolean isAnyAwaited = ledger.accounts().stream().anyMatch(account -> isAwaited(account, nowNanos));
        final Iterator<LeaseRequest> all = waiting.iterator();
        while (all.hasNext()) {
            final LeaseRequest request = all.next();
            final boolean canWait = canWait(request, nowNanos);
            // If there is room, the request only waits for earlier requests.
            if (!canWait || !(isAnyAwaited || hasRoom(request))) {
                if (outcome.takeOffHungUp()) {
                    return true;
                }
                all.remove();
                request.account().waiting -= canWait ? 1 : 0;
                outcome.refuse(request, isOverQuota(request) ? Refusal.QUOTA : Refusal.FULL);
                final boolean hasStoppedWaiting = canWait && request.account().waiting == 0;
                if (hasStoppedWaiting || (!waiting.isEmpty() && hasRoom(waiting.element()))) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Counts each client's requests that can wait. A client with others only doesn't wait for memory: it is refused
     * now, and goes on.
     */
    private void countWaiting(final long nowNanos) {
        ledger.accounts().forEach(account -> account.waiting = 0);
        for (final LeaseRequest request : waiting) {
            request.account().waiting += canWait(request, nowNanos) ? 1 : 0;
        }
    }

    /** Asks all clients that have more than their guarantee to give back, if a request needs that. */
    private void press(final long nowNanos) {
        for (final LeaseRequest request : waiting) {
            if (canWait(request, nowNanos) && !hasRoom(request)) {
                final long missingBytes = request.wantedBytes() - ledger.roomBytes(request.account().name);
                ledger.accounts().forEach(account -> press(account, missingBytes, nowNanos));
                // Whom it asks doesn't depend on the request, so nobody is left to ask for the others.
                return;
            }
        }
    }

    private void press(final Account account, final long missingBytes, final long nowNanos) {
        final long bytes = Math.min(missingBytes, Math.min(account.leasedBytes, ledger.excessBytes(account.name)));
        final boolean rests = account.isExhausted && nowNanos - account.askAgainAtNanos < 0;
        if (bytes > 0 && account.pressedBytes == 0 && !rests && account.waiting == 0) {
            account.pressedBytes = bytes;
            account.pressedAtNanos = nowNanos;
            account.leasedWhenPressed = account.leasedBytes;
            outcome.press(account, bytes);
        }
    }

    private static boolean isAwaited(final Account account, final long nowNanos) {
        return account.pressedBytes > 0 && nowNanos - account.pressedAtNanos < PATIENCE_NANOS && account.waiting == 0;
    }

    /** Returns whether a request may wait if there is somebody to wait for. */
    private boolean canWait(final LeaseRequest request, final long nowNanos) {
        return request.waits() && nowNanos - request.deadlineNanos() < 0 && !isOverQuota(request);
    }

    private boolean hasRoom(final LeaseRequest request) {
        return request.bytes() <= ledger.roomBytes(request.account().name);
    }

    private boolean isGuaranteed(final LeaseRequest request) {
        final String name = request.account().name;
        return ledger.lentBytes(name) + request.bytes() <= ledger.guaranteedBytes(name);
    }

    private boolean isOverQuota(final LeaseRequest request) {
        return request.bytes() > ledger.quotaLeftBytes(request.account().name);
    }
}
