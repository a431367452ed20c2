package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class LenderEventTest {

    /** A lender doesn't know the number of a process in another pid namespace, such as a container's. */
    @Test
    void shouldNameAClientWhoseProcessIsUnknown() {
        final LenderEvent event = new LenderEvent(LenderEvent.Kind.LEASED, "day", 0, 2097152, "");

        assertEquals("leased client=day bytes=2097152", event.toString());
    }

    @Test
    void shouldNameNoClientWhereNoneIsConcerned() {
        assertEquals("ended", new LenderEvent(LenderEvent.Kind.ENDED, "", 0, 0, "").toString());
    }
}
