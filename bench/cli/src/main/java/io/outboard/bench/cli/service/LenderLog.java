package io.outboard.bench.cli.service;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.service.LenderEvent;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.function.Consumer;

/** This class logs what a lender does as it happens, one line for each event. Confined to one thread at a time. */
final class LenderLog implements Consumer<LenderEvent> {

    /** A level says which events are logged. */
    enum Level {
        /** All of them, each lease included. */
        DEBUG(System.Logger.Level.DEBUG),
        /** Clients that come and go, and what was refused, too. */
        INFO(System.Logger.Level.INFO),
        /** Only what somebody should look at. */
        WARN(System.Logger.Level.WARNING);

        private final System.Logger.Level least;

        Level(final System.Logger.Level least) {
            this.least = least;
        }

        boolean has(final LenderEvent event) {
            return event.kind().level().getSeverity() >= least.getSeverity();
        }
    }

    private final PrintWriter out;
    private final boolean json;
    private final Level level;
    private final InstantSource clock;

    LenderLog(final PrintWriter out, final boolean json, final Level level, final InstantSource clock) {
        this.out = out;
        this.json = json;
        this.level = level;
        this.clock = clock;
    }

    @Override
    public void accept(final LenderEvent event) {
        if (!level.has(event)) {
            return;
        }
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
