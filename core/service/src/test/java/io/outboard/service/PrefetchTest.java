package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PrefetchTest {

    private final Prefetch prefetch = new Prefetch();
    private final Lease lease = new Lease(1, 4, 9);

    private void grow() {
        assertFalse(prefetch.wants(4, 0));
        assertFalse(prefetch.wants(4, 1));
        assertTrue(prefetch.wants(4, 2));
    }

    @Test
    void shouldAskOnceInSteadyGrowth() {
        grow();
        assertFalse(prefetch.wants(4, 3));

        assertNull(prefetch.came(lease, 4));

        assertFalse(prefetch.wants(4, 5));
        assertNull(prefetch.take(8));
        assertEquals(lease, prefetch.take(4));
        assertNull(prefetch.take(4));
        assertTrue(prefetch.wants(4, 6));
    }

    @Test
    void shouldNotTakeOtherSizesAndLongPausesForSteadyGrowth() {
        assertFalse(prefetch.wants(4, 0));
        assertFalse(prefetch.wants(4, 1));
        assertFalse(prefetch.wants(8, 2));
        assertFalse(prefetch.wants(8, 3));
        assertFalse(prefetch.wants(8, 3 + Prefetch.SOON_NANOS));
    }

    @Test
    void shouldGiveBackWhatIsNotTakenSoon() {
        grow();
        prefetch.came(lease, 10);

        assertNull(prefetch.stale(9 + Prefetch.SOON_NANOS));
        assertEquals(lease, prefetch.stale(10 + Prefetch.SOON_NANOS));
        assertNull(prefetch.take(4));
    }

    @Test
    void shouldGiveBackWhatComesAfterGrowthHasEnded() {
        grow();

        assertNull(prefetch.stop());

        assertEquals(lease, prefetch.came(lease, 4));
        assertNull(prefetch.take(4));
    }

    @Test
    void shouldAskAgainAfterARefusal() {
        grow();
        assertNull(prefetch.came(null, 3));

        assertTrue(prefetch.wants(4, 4));
    }
}
