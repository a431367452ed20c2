package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.service.Admission.LeaseRequest;
import io.outboard.service.internal.wire.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The admission decides who is lent memory, who waits and who is refused, by a clock that the test sets. */
class AdmissionTest {

    private static final long FAR = 60_000_000_000L;

    private final List<String> said = new ArrayList<>();
    private final List<Account> hungUp = new ArrayList<>();
    private final Ledger ledger = new Ledger(100, Map.of("sure", new Quota(20, 100), "little", new Quota(0, 10)));
    private final Admission admission = new Admission(ledger, new Admission.Outcome() {
        @Override
        public void make(final LeaseRequest request, final long lease) {
            said.add("make " + request.number());
        }

        @Override
        public void press(final Account account, final long bytes) {
            said.add("press " + account.name + " " + bytes);
        }

        @Override
        public void refuse(final LeaseRequest request, final Refusal why) {
            said.add("refuse " + request.number() + " " + why);
        }

        @Override
        public boolean takeOffHungUp() {
            hungUp.forEach(account -> {
                ledger.close(account);
                drop(account);
            });
            return !hungUp.isEmpty() && hungUp.removeAll(List.copyOf(hungUp));
        }
    });
    private final Account a = ledger.open("a", 1);
    private final Account b = ledger.open("b", 2);
    private final Account sure = ledger.open("sure", 3);

    private void drop(final Account account) {
        admission.drop(account);
    }

    private void ask(final Account account, final int number, final long bytes, final long now) {
        admission.ask(new LeaseRequest(account, number, bytes, bytes, now + FAR, true, false), now);
    }

    private List<String> said() {
        final List<String> all = List.copyOf(said);
        said.clear();
        return all;
    }

    @Test
    void shouldLendWhatThereIsRoomFor() {
        ask(a, 1, 80, 0);
        ask(sure, 2, 20, 0);

        assertEquals(List.of("make 1", "make 2"), said());
        assertEquals(100, ledger.lentBytes());
        assertEquals(Long.MAX_VALUE, admission.nextNanos(0));
    }

    @Test
    void shouldRefuseAtOnceWhatTheQuotaForbids() {
        ask(ledger.open("little", 4), 1, 11, 0);
        ask(a, 2, 81, 0);

        assertEquals(List.of("refuse 1 QUOTA", "refuse 2 QUOTA"), said());
    }

    @Test
    void shouldPressWhoHasMoreThanIsGuaranteedAndServeWhatComesBack() {
        ledger.lend(a, 60);
        ledger.lend(sure, 15);
        ask(b, 1, 30, 0);
        assertEquals(List.of("press a 10"), said());
        assertEquals(30, admission.waitingBytes(b));

        ledger.giveBack(a, 1);
        admission.eased(a, 5);

        assertEquals(List.of("make 1"), said());
        assertEquals(0, admission.waitingBytes(b));
    }

    @Test
    void shouldRefuseWhenThoseWhoWerePressedHadNothing() {
        ledger.lend(a, 80);
        ask(b, 1, 30, 0);
        assertEquals(List.of("press a 30"), said());

        admission.eased(a, 5);

        assertEquals(List.of("refuse 1 FULL"), said());
    }

    @Test
    void shouldNotPressAgainSoonWhoHadNothing() {
        ledger.lend(a, 80);
        ask(b, 1, 30, 0);
        admission.eased(a, 5);
        said();

        ask(b, 2, 30, Admission.PAUSE_NANOS);
        assertEquals(List.of("refuse 2 FULL"), said());

        ask(b, 3, 30, Admission.PAUSE_NANOS + 5);
        assertEquals(List.of("press a 30"), said());
    }

    @Test
    void shouldPressAgainAtOnceWhoGaveAllThatWasWanted() {
        ledger.lend(a, 40);
        ledger.lend(a, 40);
        ask(b, 1, 20, 0);
        ledger.giveBack(a, 1);
        admission.eased(a, 5);
        assertEquals(List.of("press a 20", "make 1"), said());

        ask(b, 2, 40, 6);

        assertEquals(List.of("press a 20"), said());
    }

    @Test
    void shouldWaitForWhoDoesNotAnswerOnlySoLongAndOnce() {
        ledger.lend(a, 80);
        ask(b, 1, 30, 0);
        assertEquals(Admission.PATIENCE_NANOS, admission.nextNanos(1));
        admission.serve(Admission.PATIENCE_NANOS - 1);
        assertEquals(List.of("press a 30"), said());

        admission.serve(Admission.PATIENCE_NANOS);
        assertEquals(List.of("refuse 1 FULL"), said());

        ask(b, 2, 30, Admission.PATIENCE_NANOS + 1);
        assertEquals(List.of("refuse 2 FULL"), said());
    }

    @Test
    void shouldPressForAllThatWillBeAskedFor() {
        ledger.lend(a, 70);

        admission.ask(new LeaseRequest(b, 1, 5, 40, FAR, true, false), 0);
        admission.ask(new LeaseRequest(b, 2, 10, 40, FAR, true, false), 0);

        assertEquals(List.of("make 1", "press a 35"), said());
    }

    @Test
    void shouldRefuseAtTheDeadline() {
        ledger.lend(a, 80);
        admission.ask(new LeaseRequest(b, 1, 30, 30, 100, true, false), 0);
        assertEquals(100, admission.nextNanos(1));

        admission.serve(100);

        assertEquals(List.of("press a 30", "refuse 1 FULL"), said());
    }

    @Test
    void shouldNeitherPressNorWaitForWhatIsNotNeeded() {
        ledger.lend(a, 80);

        admission.ask(new LeaseRequest(b, 1, 30, 30, 0, false, false), 0);

        assertEquals(List.of("refuse 1 FULL"), said());
    }

    @Test
    void shouldNotWaitForWhoWaits() {
        ledger.lend(a, 40);
        ledger.lend(b, 40);
        ask(a, 1, 20, 0);
        assertEquals(List.of("press b 20"), said());

        // Each of the two would wait for the other.
        ask(b, 2, 20, 0);

        assertEquals(List.of("refuse 1 FULL", "press a 20"), said());
    }

    @Test
    void shouldServeInOrderButWhatIsGuaranteedFirst() {
        ledger.lend(a, 70);
        ask(b, 1, 30, 0);
        ask(b, 2, 10, 0);
        ask(sure, 3, 20, 0);
        assertEquals(List.of("press a 20", "make 3"), said());

        ledger.giveBack(a, 1);
        admission.eased(a, 5);

        assertEquals(List.of("make 1", "make 2"), said());
    }

    @Test
    void shouldLetThoseBehindGoOnWhenTheFirstIsRefused() {
        ledger.lend(a, 70);
        ask(b, 1, 30, 0);
        ask(b, 2, 10, 0);

        admission.eased(a, 5);

        assertEquals(List.of("press a 20", "refuse 1 FULL", "make 2"), said());
    }

    @Test
    void shouldForgetWhoIsGone() {
        ledger.lend(a, 80);
        ask(b, 1, 30, 0);
        ask(sure, 2, 50, 0);
        ledger.close(b);
        drop(b);
        admission.serve(1);
        said();

        ledger.close(a);
        drop(a);
        admission.serve(2);

        assertEquals(List.of("make 2"), said());
    }

    @Test
    void shouldLendWhatThoseHeldThatAreGoneRatherThanRefuse() {
        ledger.lend(a, 40);
        ledger.lend(b, 40);
        hungUp.addAll(List.of(a, b));

        admission.ask(new LeaseRequest(sure, 1, 90, 90, 0, false, false), 0);

        assertEquals(List.of("make 1"), said());
    }

    @Test
    void shouldLookWhoIsGoneBeforeItRefusesByTheQuota() {
        final Account little = ledger.open("little", 4);
        ledger.lend(little, 10);
        hungUp.add(little);

        ask(ledger.open("little", 5), 1, 10, 0);

        assertEquals(List.of("make 1"), said());
    }

    /** Whoever asks may be gone, too. */
    @Test
    void shouldNotRefuseWhatNobodyWaitsFor() {
        ledger.lend(a, 80);
        hungUp.add(b);

        admission.ask(new LeaseRequest(b, 1, 30, 30, 0, false, false), 0);

        assertEquals(List.of(), said());
    }

    @Test
    void shouldAskNobodyToGiveBackWhatTheQuotaForbids() {
        ledger.lend(a, 80);

        ask(ledger.open("little", 4), 1, 11, 0);

        assertEquals(List.of("refuse 1 QUOTA"), said());
    }

    /** Returns a client with 10 bytes. It is asked to give back for a request of {@code b}; {@code a} had nothing. */
    private Account awaited(final String name) {
        final Account awaited = ledger.open(name, 4);
        ledger.lend(awaited, 10);
        ledger.lend(a, 70);
        ask(b, 1, 5, 0);
        admission.eased(a, 1);
        assertEquals(List.of("press a 5", "press " + name + " 5"), said());
        return awaited;
    }

    private void assertStillAwaited(final Account awaited) {
        ledger.giveBack(awaited, 1);
        admission.eased(awaited, 3);
        assertEquals(List.of("make 1"), said());
    }

    @Test
    void shouldStillWaitForWhoAsksForMoreThanItsQuota() {
        final Account little = awaited("little");

        ask(little, 2, 11, 2);

        assertEquals(List.of("refuse 2 QUOTA"), said());
        assertStillAwaited(little);
    }

    @Test
    void shouldStillWaitForWhoAsksForWhatThereIsRoomForNow() {
        final Account c = awaited("c");

        admission.ask(new LeaseRequest(c, 2, 5, 5, FAR, false, false), 2);

        assertEquals(List.of("refuse 2 FULL"), said());
        assertStillAwaited(c);
    }

    @Test
    void shouldStillWaitForWhoseOwnTimeToWaitIsOver() {
        final Account c = awaited("c");

        admission.ask(new LeaseRequest(c, 2, 5, 5, 2, true, false), 2);

        assertEquals(List.of("refuse 2 FULL"), said());
        assertStillAwaited(c);
    }

    /** Each request asks and waits, and all are refused at once in the end. */
    @Test
    @Timeout(20)
    void shouldDecideSoonWhenManyWait() {
        final int clients = 32;
        final int requests = 90;
        ledger.lend(a, 80);
        final List<Account> asking = IntStream.range(0, clients)
                .mapToObj(i -> ledger.open("client" + i, 10 + i))
                .toList();
        for (int i = 0; i < requests; i++) {
            for (final Account client : asking) {
                ask(client, i, 30, 0);
            }
        }
        assertEquals(List.of("press a 30"), said());

        admission.eased(a, 1);

        assertEquals(clients * requests, said().size());
        assertEquals(Long.MAX_VALUE, admission.nextNanos(1));
    }
}
