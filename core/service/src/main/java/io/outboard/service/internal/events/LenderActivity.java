package io.outboard.service.internal.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * A lender activity is the JFR event of something that a lender did. It has no stack trace, which would only show the
 * lender's own thread.
 *
 * <p>Confined to one thread. Cost: one load while nobody records.
 */
@Name("io.outboard.LenderActivity")
@Label("Lender Activity")
@Description("A lender did something: lent, refused, took back, let in or out")
@Category("Outboard")
@StackTrace(false)
public final class LenderActivity extends Event {

    private static final LenderActivity ASKED = new LenderActivity("", "");

    @Label("Socket")
    @Description("Path of the lender's socket")
    String socket;

    @Label("Kind")
    @Description("As the lender's log has it: leased, returned, refused, disconnected and others")
    String kind;

    @Label("Client")
    @Description("Name of the client, empty if it isn't one client's")
    String client = "";

    @Label("Process")
    @Description("Of the client, 0 if it isn't one client's")
    int pid;

    @Label("Size")
    @Description("How much memory it is about, 0 if it isn't about any")
    @DataAmount
    long sizeBytes;

    @Label("Detail")
    @Description("More of it, as a person reads it")
    String detail = "";

    private LenderActivity(final String socket, final String kind) {
        this.socket = socket;
        this.kind = kind;
    }

    /** Returns whether a recording has this event enabled. */
    public static boolean isWanted() {
        return ASKED.isEnabled();
    }

    public static void commit(
            final String socket,
            final String kind,
            final String client,
            final int pid,
            final long bytes,
            final String detail) {
        final LenderActivity event = new LenderActivity(socket, kind);
        event.client = client;
        event.pid = pid;
        event.sizeBytes = bytes;
        event.detail = detail;
        event.commit();
    }
}
