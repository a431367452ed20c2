package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LedgerTest {

    private final Ledger ledger = new Ledger(100, Map.of("day", new Quota(30, 60), "night", new Quota(20, 200)));

    @Test
    void shouldReserveWhatIsGuaranteedToOthers() {
        assertEquals(60, ledger.roomBytes("day"));
        assertEquals(70, ledger.roomBytes("night"));
        assertEquals(50, ledger.roomBytes("other"));
        assertEquals(70, ledger.mostBytes("night"));

        final Account day = ledger.open("day", 1);
        ledger.lend(day, 40);

        assertEquals(20, ledger.roomBytes("day"));
        assertEquals(60, ledger.roomBytes("night"));
        assertEquals(40, ledger.roomBytes("other"));
        assertEquals(10, ledger.excessBytes("day"));
    }

    @Test
    void shouldLetThoseOfOneNameShareTheirQuota() {
        final Account one = ledger.open("day", 1);
        final Account other = ledger.open("day", 2);
        ledger.lend(one, 25);
        ledger.lend(other, 25);

        assertEquals(10, ledger.quotaLeftBytes("day"));
        assertEquals(25, ledger.close(one));
        assertEquals(35, ledger.quotaLeftBytes("day"));
        assertEquals(25, ledger.lentBytes());
        assertEquals(List.of(other), ledger.holders());
    }

    @Test
    void shouldTakeBackWhatItLentAndNothingElse() {
        final Account account = ledger.open("day", 1);
        final long lease = ledger.lend(account, 8);

        assertEquals(0, ledger.giveBack(account, lease + 1));
        assertEquals(8, ledger.giveBack(account, lease));
        assertEquals(0, ledger.giveBack(account, lease));
        assertEquals(0, ledger.lentBytes());
        assertEquals(60, ledger.roomBytes("day"));
    }

    @Test
    void shouldKeepOnNumberingBehindWhatIsStated() {
        final Account account = ledger.open("other", 1);

        assertTrue(ledger.hold(account, 7, 90));
        assertFalse(ledger.hold(account, 7, 1));

        assertEquals(8, ledger.lend(account, 1));
        assertEquals(91, ledger.lentBytes());
        assertEquals(-41, ledger.roomBytes("other"));
    }

    @Test
    void shouldRefuseToGuaranteeMoreThanThereIs() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new Ledger(49, Map.of("a", new Quota(30, 30), "b", new Quota(20, 20))));
    }

    @Test
    void shouldKnowTheRoomWhateverComesAndGoes() {
        final Random random = new Random(1);
        final List<Account> accounts =
                List.of(ledger.open("day", 1), ledger.open("day", 2), ledger.open("night", 3), ledger.open("other", 4));
        for (int i = 0; i < 1000; i++) {
            final Account account = accounts.get(random.nextInt(accounts.size()));
            if (account.leases.isEmpty() || random.nextBoolean()) {
                // What clients state may be more than there is.
                ledger.hold(account, account.nextLease, 1 + random.nextInt(30));
            } else {
                ledger.giveBack(account, account.leases.keySet().iterator().next());
            }

            final long free = 100 - ledger.lentBytes();
            final long day = Math.max(0, 30 - ledger.lentBytes("day"));
            final long night = Math.max(0, 20 - ledger.lentBytes("night"));
            assertEquals(Math.min(60 - ledger.lentBytes("day"), free - night), ledger.roomBytes("day"));
            assertEquals(Math.min(70 - ledger.lentBytes("night"), free - day), ledger.roomBytes("night"));
            assertEquals(Math.min(50 - ledger.lentBytes("other"), free - day - night), ledger.roomBytes("other"));
        }
    }
}
