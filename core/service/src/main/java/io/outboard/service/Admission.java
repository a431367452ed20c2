package io.outboard.service;

import io.outboard.service.internal.wire.Refusal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/**
 * Decides who is lent memory now, who waits, for whom, and how long.
 *
 * <ol>
 *   <li>What a name's quota doesn't allow is refused at once.
 *   <li>What is guaranteed, and for which there is room, is lent at once. For the rest, first come, first served:
 *       what there is room for waits while somebody who came before waits.
 *   <li>What there is no room for makes those give back who have more than is guaranteed to them ({@link
 *       Outcome#press}), all at once, and waits while one of them hasn't answered: for {@link #PATIENCE_NANOS}, and
 *       until its own deadline. Who waits itself isn't waited for, nor asked: two would wait for each other.
 *   <li>When nobody is left to wait for it is refused: <em>full</em>.
 * </ol>
 *
 * <p>Who gave less than it was asked for has no more to give, and isn't asked again for {@link #PAUSE_NANOS}: to be
 * asked means to wait for one's device. Who stops answering costs the others {@link #PATIENCE_NANOS} once.
 *
 * <p>The clock is the caller's. Confined to the lender's thread. O(waiting x clients) for a call.
 */
final class Admission {

    /** As long as a kernel may well run: who waits for its device can't answer before. */
    static final long PATIENCE_NANOS = 2_000_000_000;

    /** A device is waited for ten times a second at most, for others that find it full. */
    static final long PAUSE_NANOS = 100_000_000;

    /**
     * A lease that a client waits for.
     *
     * @param account whose
     * @param number the client's own, by which it knows the answer
     * @param bytes how much
     * @param wantedBytes how much it and those that follow are, in bytes: so much is to come back at once
     * @param deadlineNanos until when it may wait, by the lender's clock
     * @param waits false if it is to be refused rather than to make others give back
     * @param isShared whether others are to open it
     */
    record LeaseRequest(
            Account account,
            int number,
            long bytes,
            long wantedBytes,
            long deadlineNanos,
            boolean waits,
            boolean isShared) {}

    /** What comes of it. Called in the middle of a decision: it must not call back. */
    interface Outcome {

        /** It is on the ledger, by that number; its memory is to be made. */
        void make(LeaseRequest request, long lease);

        void press(Account account, long bytes);

        void refuse(LeaseRequest request, Refusal why);
    }

    private final Ledger ledger;
    private final Outcome outcome;
    private final Deque<LeaseRequest> waiting = new ArrayDeque<>();

    Admission(final Ledger ledger, final Outcome outcome) {
        this.ledger = ledger;
        this.outcome = outcome;
    }

    void ask(final LeaseRequest request, final long nowNanos) {
        if (request.bytes() > ledger.quotaLeftBytes(request.account().name)) {
            outcome.refuse(request, Refusal.QUOTA);
            return;
        }
        waiting.add(request);
        serve(nowNanos);
    }

    /** It has given back what it could. */
    void eased(final Account account, final long nowNanos) {
        if (account.pressedBytes == 0) {
            // Another lender had asked.
            return;
        }
        final long gaveBytes = account.leasedWhenPressed - account.leasedBytes;
        account.isExhausted = gaveBytes < account.pressedBytes;
        account.askAgainAtNanos = nowNanos + PAUSE_NANOS;
        account.pressedBytes = 0;
        serve(nowNanos);
    }

    /** It is gone; so is what it has waited for. Its memory is off the ledger. */
    void ended(final Account account, final long nowNanos) {
        waiting.removeIf(request -> request.account() == account);
        serve(nowNanos);
    }

    /** How much a client waits for, in bytes. */
    long waitingBytes(final Account account) {
        return requestsOf(account).stream().mapToLong(LeaseRequest::bytes).sum();
    }

    Collection<LeaseRequest> requestsOf(final Account account) {
        return waiting.stream().filter(request -> request.account() == account).toList();
    }

    /** When {@link #serve} must be called again though nothing has happened; {@code Long.MAX_VALUE} if it needn't. */
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

    /** To be called when memory has come back, and when it is time. */
    void serve(final long nowNanos) {
        // Who is refused makes way for those behind.
        do {
            lend();
        } while (refuse(nowNanos));
    }

    /** Lends to all that there is room for. */
    private void lend() {
        final List<LeaseRequest> left = new ArrayList<>();
        while (!waiting.isEmpty()) {
            final LeaseRequest request = waiting.remove();
            final boolean isFirst = left.isEmpty() || isGuaranteed(request);
            if (isFirst && ledger.roomBytes(request.account().name) >= request.bytes()) {
                outcome.make(request, ledger.lend(request.account(), request.bytes()));
            } else {
                left.add(request);
            }
        }
        waiting.addAll(left);
    }

    /** Makes others give back, and refuses the first one that has nobody to wait for; false if there is none. */
    private boolean refuse(final long nowNanos) {
        waiting.forEach(request -> press(request, nowNanos));
        for (final LeaseRequest request : waiting) {
            final boolean isOverQuota = request.bytes() > ledger.quotaLeftBytes(request.account().name);
            if (isOverQuota || !mayWait(request, nowNanos)) {
                waiting.remove(request);
                outcome.refuse(request, isOverQuota ? Refusal.QUOTA : Refusal.FULL);
                return true;
            }
        }
        return false;
    }

    private boolean isGuaranteed(final LeaseRequest request) {
        final String name = request.account().name;
        return ledger.lentBytes(name) + request.bytes() <= ledger.guaranteedBytes(name);
    }

    private void press(final LeaseRequest request, final long nowNanos) {
        final long roomBytes = ledger.roomBytes(request.account().name);
        if (request.bytes() <= roomBytes || !request.waits()) {
            return;
        }
        final long missingBytes = request.wantedBytes() - roomBytes;
        for (final Account account : ledger.accounts()) {
            final long bytes = Math.min(missingBytes, Math.min(account.leasedBytes, ledger.excessBytes(account.name)));
            final boolean rests = account.isExhausted && nowNanos - account.askAgainAtNanos < 0;
            if (bytes > 0 && account.pressedBytes == 0 && !rests && !isWaiting(account)) {
                account.pressedBytes = bytes;
                account.pressedAtNanos = nowNanos;
                account.leasedWhenPressed = account.leasedBytes;
                outcome.press(account, bytes);
            }
        }
    }

    private boolean mayWait(final LeaseRequest request, final long nowNanos) {
        if (!request.waits() || nowNanos - request.deadlineNanos() >= 0) {
            return false;
        }
        // Then it waits for who came before it.
        if (ledger.roomBytes(request.account().name) >= request.bytes()) {
            return true;
        }
        return ledger.accounts().stream()
                .anyMatch(account -> account.pressedBytes > 0
                        && nowNanos - account.pressedAtNanos < PATIENCE_NANOS
                        && !isWaiting(account));
    }

    /** The asker itself is, too. */
    private boolean isWaiting(final Account account) {
        return waiting.stream().anyMatch(request -> request.account() == account);
    }
}
