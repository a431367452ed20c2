package io.outboard.service;

import java.util.Locale;

/**
 * Something that a {@link Lender} did, for logs and metrics. Immutable.
 *
 * @param kind what
 * @param client the client's name; empty if it isn't one client's
 * @param pid the client's process, 0 if it isn't one client's
 * @param bytes how much memory it is about, in bytes; 0 if it isn't about any
 * @param detail more of it, as a person reads it; may be empty
 */
public record LenderEvent(Kind kind, String client, int pid, long bytes, String detail) {

    /** What a lender does. */
    public enum Kind {
        /** It can be connected to. */
        STARTED,
        /** A client has said who it is. */
        CONNECTED,
        /** A client wasn't let in. */
        TURNED_AWAY,
        /** A client states a lease that another lender made. */
        HELD,
        /** A lease was sent. */
        LEASED,
        /** A client opened a lease that another one shares. */
        OPENED,
        /** A client gave a lease back. */
        RETURNED,
        /** A lease was refused. */
        REFUSED,
        /** A client is asked to give back. */
        PRESSED,
        /** A client has done so, as far as it could. */
        EASED,
        /** A client is gone, with what it held. */
        DISCONNECTED,
        /** Something failed that is nobody's request. */
        FAILED,
        /** It has ended. */
        ENDED
    }

    /**
     * As a log has it.
     *
     * @return for example {@code leased client=day pid=17 bytes=2097152}
     */
    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder(kind.name().toLowerCase(Locale.ROOT));
        if (pid != 0) {
            text.append(" client=").append(client).append(" pid=").append(pid);
        }
        if (bytes != 0) {
            text.append(" bytes=").append(bytes);
        }
        if (!detail.isEmpty()) {
            text.append(" detail=\"").append(detail).append('"');
        }
        return text.toString();
    }
}
