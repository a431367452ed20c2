package io.outboard.service.internal.session;

import io.outboard.core.MemoryUser;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who uses what a connection has leased: asked to give back in a thread of its own, and how much is in use. */
public final class Users {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.service");

    private final List<MemoryUser> users = new CopyOnWriteArrayList<>();

    /** Of the session's thread. */
    private long toldBytes = -1;

    /** Which lender was told. */
    private int toldLender;

    public void add(final MemoryUser user) {
        users.add(user);
    }

    public void remove(final MemoryUser user) {
        users.remove(user);
    }

    /**
     * Has so much given back if it is more than 0, which may take as long as the device works; then the lender is told.
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

    /** Whatever it fails with, the others are asked. */
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
            // Then nobody waits for it.
        }
    }

    /** Tells the lender how much is in use, if that has changed or the lender is another one. */
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
                // The next one is told.
                toldBytes = -1;
            }
        }
    }
}
