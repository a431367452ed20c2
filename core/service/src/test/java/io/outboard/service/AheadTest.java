package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AheadTest {

    private final Ahead ahead = new Ahead();
    private final Lease lease = new Lease(1, 4, 9);

    private void grow() {
        assertFalse(ahead.wants(4, 0));
        assertFalse(ahead.wants(4, 1));
        assertTrue(ahead.wants(4, 2));
    }

    @Test
    void shouldAskOnceInSteadyGrowth() {
        grow();
        assertFalse(ahead.wants(4, 3));

        assertNull(ahead.came(lease, 4));

        assertFalse(ahead.wants(4, 5));
        assertNull(ahead.take(8));
        assertEquals(lease, ahead.take(4));
        assertNull(ahead.take(4));
        assertTrue(ahead.wants(4, 6));
    }

    @Test
    void shouldNotTakeOtherSizesAndLongPausesForSteadyGrowth() {
        assertFalse(ahead.wants(4, 0));
        assertFalse(ahead.wants(4, 1));
        assertFalse(ahead.wants(8, 2));
        assertFalse(ahead.wants(8, 3));
        assertFalse(ahead.wants(8, 3 + Ahead.SOON_NANOS));
    }

    @Test
    void shouldGiveBackWhatIsNotTakenSoon() {
        grow();
        ahead.came(lease, 10);

        assertNull(ahead.stale(9 + Ahead.SOON_NANOS));
        assertEquals(lease, ahead.stale(10 + Ahead.SOON_NANOS));
        assertNull(ahead.take(4));
    }

    @Test
    void shouldGiveBackWhatComesAfterGrowthHasEnded() {
        grow();

        assertNull(ahead.stop());

        assertEquals(lease, ahead.came(lease, 4));
        assertNull(ahead.take(4));
    }

    @Test
    void shouldAskAgainAfterARefusal() {
        grow();
        assertNull(ahead.came(null, 3));

        assertTrue(ahead.wants(4, 4));
    }
}
