package io.outboard.service.internal.session;

import io.outboard.core.MemoryUser;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Users use what a connection has leased. They are asked to give back in a thread of their own, and how much they use.
 */
public final class Users {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.service");

    private final List<MemoryUser> users = new CopyOnWriteArrayList<>();

    /** The bytes in use that the lender was told last. Confined to the session's thread. */
    private long toldBytes = -1;

    /** The lender that was told, as {@link Session#lenders} counts them. */
    private int toldLender;

    public void add(final MemoryUser user) {
        users.add(user);
    }

    public void remove(final MemoryUser user) {
        users.remove(user);
    }

    /**
     * Has users give back {@code bytes}, if more than 0, and tells the lender. May take as long as the device works.
     */
    public void press(final long bytes, final Session session) {
        final Thread thread = new Thread(null, () -> ease(bytes, session), "outboard-pressed", 0, false);
        thread.setDaemon(true);
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) {
                eased(session);
            }
        }
    }

    private void ease(final long bytes, final Session session) {
        try {
            if (bytes > 0) {
                users.forEach(user -> giveBack(user, bytes));
            }
        } finally {
            eased(session);
        }
    }

    /** Asks one user to give back. If it fails, whatever the failure, the others are still asked. */
    private static void giveBack(final MemoryUser user, final long bytes) {
        try {
            user.giveBack(bytes);
        } catch (final RuntimeException | Error e) {
            LOGGER.log(System.Logger.Level.WARNING, "memory that others need could not be given back", e);
        }
    }

    private static void eased(final Session session) {
        try {
            session.say(Message.of(MessageType.EASED, 0));
        } catch (final LenderGoneException | IllegalStateException e) {
            // The lender is gone, and doesn't wait for the answer.
        }
    }

    /** Tells the lender how much is in use, if that has changed, or if there is another lender. */
    public void tell(final Session session) {
        if (users.isEmpty()) {
            return;
        }
        final long usedBytes = users.stream().mapToLong(MemoryUser::usedBytes).sum();
        final int lender = session.lenders();
        if (usedBytes != toldBytes || lender != toldLender) {
            try {
                session.say(Message.of(MessageType.USAGE, 0, usedBytes));
                toldBytes = usedBytes;
                toldLender = lender;
            } catch (final LenderGoneException | IllegalStateException e) {
                // The next lender is told.
                toldBytes = -1;
            }
        }
    }
}
