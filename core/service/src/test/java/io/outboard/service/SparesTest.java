package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SparesTest {

    private static final class Made implements LendingDevice.Memory {

        private boolean closed;

        @Override
        public int descriptor() {
            return 0;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final Spares spares = new Spares(2);

    @Test
    void shouldBeOfTheCommonestSizeAndNoMoreThanThatMany() {
        assertEquals(0, spares.next(100));
        spares.asked(8);
        spares.asked(4);
        spares.asked(4);

        assertEquals(4, spares.next(100));
        assertEquals(4, spares.next(100));
        assertEquals(0, spares.next(100));
        assertEquals(8, spares.bytes());

        final Made made = new Made();
        spares.came(made);
        spares.came(null);
        assertEquals(4, spares.bytes());
        assertNull(spares.take(8));
        assertSame(made, spares.take(4));
        assertNull(spares.take(4));
        assertFalse(made.closed);
    }

    @Test
    void shouldLeaveRoomForClients() {
        spares.asked(4);

        assertEquals(0, spares.next(3));
        assertEquals(4, spares.next(7));
        assertEquals(0, spares.next(7));
    }

    @Test
    void shouldGoWhenAnotherSizeIsWanted() {
        spares.asked(4);
        spares.next(100);
        final Made made = new Made();
        spares.came(made);
        spares.asked(8);
        spares.asked(8);

        assertEquals(8, spares.next(100));

        assertTrue(made.closed);
    }

    @Test
    void shouldBeNoneUnlessToldTo() {
        final Spares none = new Spares(0);
        none.asked(4);

        assertEquals(0, none.next(100));
    }
}
