package io.outboard.bench.cli.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.service.LenderEvent;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** These tests check the form of a lender's log. */
class LenderLogTest {

    private static final LenderEvent LEASED = new LenderEvent(LenderEvent.Kind.LEASED, "day", 17, 2097152, "");

    private static String logged(final boolean json) {
        final StringWriter text = new StringWriter();
        final InstantSource clock = InstantSource.fixed(Instant.parse("2026-11-25T04:26:19.197123Z"));
        new LenderLog(new PrintWriter(text), json, clock).accept(LEASED);
        return text.toString().strip();
    }

    @Test
    void shouldSayWhenWhatHappenedToWhom() {
        assertEquals("2026-11-25T04:26:19.197Z leased client=day pid=17 bytes=2097152", logged(false));
    }

    @Test
    void shouldSayTheSameToPrograms() {
        assertEquals(
                "{\"time\":\"2026-11-25T04:26:19.197Z\",\"event\":\"leased\",\"client\":\"day\",\"pid\":17,\"bytes\":2097152,\"detail\":null}",
                logged(true));
    }
}
