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
        return logged(json, LenderLog.Level.DEBUG, LEASED);
    }

    private static String logged(final boolean json, final LenderLog.Level level, final LenderEvent event) {
        final StringWriter text = new StringWriter();
        final InstantSource clock = InstantSource.fixed(Instant.parse("2026-11-25T04:26:19.197123Z"));
        new LenderLog(new PrintWriter(text), json, level, clock).accept(event);
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

    @Test
    void shouldLeaveOutWhatTheLevelLeavesOut() {
        final LenderEvent connected = new LenderEvent(LenderEvent.Kind.CONNECTED, "day", 17, 0, "");
        final LenderEvent dropped = new LenderEvent(LenderEvent.Kind.DROPPED, "", 0, 0, "5 events");

        assertEquals("", logged(false, LenderLog.Level.INFO, LEASED));
        assertEquals(
                "2026-11-25T04:26:19.197Z connected client=day pid=17", logged(false, LenderLog.Level.INFO, connected));
        assertEquals("", logged(false, LenderLog.Level.WARN, connected));
        assertEquals(
                "2026-11-25T04:26:19.197Z dropped detail=\"5 events\"", logged(false, LenderLog.Level.WARN, dropped));
    }
}
