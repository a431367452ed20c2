package io.outboard.service;

import java.util.Locale;

/**
 * A lender event is something that a {@link Lender} did, for logs and metrics. Immutable.
 * @param kind what the lender did
 * @param client the client's name; empty if no single client is concerned
 * @param pid the client's process; 0 if no single client is concerned, or its process is in a pid namespace that the
 *     lender doesn't see
 * @param bytes how much memory is concerned, in bytes; 0 if none is
 * @param detail more about the event, for people to read; may be empty
 */
public record LenderEvent(Kind kind, String client, int pid, long bytes, String detail) {

    /** A kind says what a lender did. */
    public enum Kind {
        /** The lender can be connected to. */
        STARTED(System.Logger.Level.INFO),
        /** A client has said who it is. */
        CONNECTED(System.Logger.Level.INFO),
        /** A client wasn't let in. */
        TURNED_AWAY(System.Logger.Level.WARNING),
        /** A client states a lease that another lender made. */
        HELD(System.Logger.Level.INFO),
        /** A lease was sent. */
        LEASED(System.Logger.Level.DEBUG),
        /** A client opened a lease that another one shares. */
        OPENED(System.Logger.Level.DEBUG),
        /** A client gave a lease back. */
        RETURNED(System.Logger.Level.DEBUG),
        /** A lease was refused. */
        REFUSED(System.Logger.Level.INFO),
        /** A client was asked to give back. */
        PRESSED(System.Logger.Level.DEBUG),
        /** A client that was asked has given back what it could. */
        EASED(System.Logger.Level.DEBUG),
        /** A client is gone, and what it held is off the ledger. */
        DISCONNECTED(System.Logger.Level.INFO),
        /** Something failed that no client had requested. */
        FAILED(System.Logger.Level.WARNING),
        /** Events were dropped, since they were taken too slowly; the detail says how many. */
        DROPPED(System.Logger.Level.WARNING),
        /** The lender has ended. */
        ENDED(System.Logger.Level.INFO);

        private final System.Logger.Level level;

        Kind(final System.Logger.Level level) {
            this.level = level;
        }

        /**
         * Returns how much an event of this kind matters to a log.
         *
         * @return {@code DEBUG} for each lease that comes and goes, {@code INFO} for clients and refusals, and {@code
         *     WARNING} for what somebody should look at
         */
        public System.Logger.Level level() {
            return level;
        }
    }

    /**
     * Returns the event as a log shows it.
     *
     * @return for example {@code leased client=day pid=17 bytes=2097152}
     */
    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder(kind.name().toLowerCase(Locale.ROOT));
        if (!client.isEmpty()) {
            text.append(" client=").append(client);
        }
        if (pid != 0) {
            text.append(" pid=").append(pid);
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
