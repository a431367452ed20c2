package io.outboard.bench.cli.service;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.service.LenderEvent;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.function.Consumer;

/** This class logs what a lender does as it happens, one line for each event. Safe for any number of threads. */
final class LenderLog implements Consumer<LenderEvent> {

    private final PrintWriter out;
    private final boolean json;
    private final InstantSource clock;

    LenderLog(final PrintWriter out, final boolean json, final InstantSource clock) {
        this.out = out;
        this.json = json;
        this.clock = clock;
    }

    @Override
    public synchronized void accept(final LenderEvent event) {
        final Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        out.println(json ? json(now, event) : now + " " + event);
        out.flush();
    }

    private static JsonLine json(final Instant now, final LenderEvent event) {
        return new JsonLine()
                .put("time", now.toString())
                .put("event", event.kind().name().toLowerCase(Locale.ROOT))
                .put("client", event.client().isEmpty() ? null : event.client())
                .put("pid", (long) event.pid())
                .put("bytes", event.bytes())
                .put("detail", event.detail().isEmpty() ? null : event.detail());
    }
}
