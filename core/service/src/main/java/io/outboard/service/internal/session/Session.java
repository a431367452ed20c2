package io.outboard.service.internal.session;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a client says to its lender, whichever that is by now: when one ends, the session looks for another at the same
 * path, and tells it what is held.
 *
 * <p>Its thread reads, and calls the {@link Handler}; nobody else's does, and nothing is called while the monitor is
 * held. Safe for any number of threads.
 */
public final class Session implements Runnable {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.service");

    /** What is held and not needed, and how much is in use, is looked at so often. */
    private static final int TICK_MILLIS = 250;

    /** Between two looks for a lender, at first and at most: a new one waits for a second before it lends. */
    private static final int FIRST_PAUSE_MILLIS = 5;

    private static final int MOST_PAUSE_MILLIS = 200;

    /** Called by the session's thread: it mustn't wait for an answer. */
    public interface Handler {

        /** The lender wants so much back. */
        void pressed(long bytes);

        /** Now and then. */
        void tick();
    }

    /** A lease; its ticket if it is shared; and whether another client has made it, to which it is counted. */
    private record Held(long bytes, String ticket, boolean isOpened) {}

    private final Linux linux;
    private final Path socket;
    private final String name;
    private final Handler handler;
    private final Thread thread = new Thread(null, this, "outboard-lessee", 0, false);

    /** Lease.Source, by number. Guarded by the monitor, as the others. */
    private final Map<Long, Held> held = new TreeMap<>();

    private final Map<Integer, Answer> awaited = new HashMap<>();
    private int lastRequest;
    private Message welcome;

    /** Null while there is no lender. */
    private @Nullable Wire wire;

    private int lenders = 1;

    /** Why there is none. */
    private String gone = "";

    private boolean closed;

    /** Whether a handler has. Of the thread. */
    private boolean hasFailed;

    /** Wakes the thread that looks for a lender. */
    private final CountDownLatch ended = new CountDownLatch(1);

    private Session(
            final Linux linux,
            final Path socket,
            final String name,
            final Handler handler,
            final Wire wire,
            final Message welcome) {
        this.linux = linux;
        this.socket = socket;
        this.name = name;
        this.handler = handler;
        this.wire = wire;
        this.welcome = welcome;
    }

    /** Connects. The thread begins with {@link #start}. */
    public static Session open(final Linux linux, final Path socket, final String name, final Handler handler)
            throws IOException {
        final Wire wire = Wire.open(linux, socket);
        boolean done = false;
        try {
            final Session session = new Session(linux, socket, name, handler, wire, wire.hello(name, false));
            done = true;
            return session;
        } finally {
            if (!done) {
                wire.close();
            }
        }
    }

    public void start() {
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    public synchronized Message welcome() {
        return welcome;
    }

    /** But for what others have made and share. */
    public synchronized long heldBytes() {
        return held.values().stream()
                .filter(lease -> !lease.isOpened)
                .mapToLong(Held::bytes)
                .sum();
    }

    /**
     * Says something that is answered.
     *
     * @param answer what takes the answer
     * @param message its number doesn't matter
     * @throws LenderGoneException if there is nobody to say it to
     * @throws IllegalStateException if the session is closed
     */
    public synchronized void ask(final Answer answer, final Message message) throws LenderGoneException {
        lastRequest = lastRequest == Integer.MAX_VALUE ? 1 : lastRequest + 1;
        awaited.put(lastRequest, answer);
        boolean done = false;
        try {
            say(new Message(message.type(), lastRequest, message.a(), message.b(), message.c(), message.text()));
            done = true;
        } finally {
            if (!done) {
                awaited.remove(lastRequest);
            }
        }
    }

    /** Says something. */
    public synchronized void say(final Message message) throws LenderGoneException {
        if (closed) {
            throw new IllegalStateException("the connection to the lender is closed");
        }
        final Wire to = wire;
        if (to == null) {
            throw new LenderGoneException(gone, null);
        }
        try {
            to.send(message);
        } catch (final IOException e) {
            // The thread that reads finds out, and looks for another one.
            to.shutdown();
            throw new LenderGoneException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Nobody waits for the answer any more; a lease that comes then goes back. */
    public synchronized void forget(final Answer answer) {
        awaited.values().remove(answer);
    }

    /**
     * A lease isn't held any more, and the lender is told so: at once, or a lender that is found in between would hear
     * of a lease that comes back and was never stated.
     *
     * @return what will be answered; null if it wasn't held, or there is nobody to be told
     */
    public synchronized @Nullable Answer giveBack(final long lease) {
        final Answer answer = new Answer();
        if (held.remove(lease) == null || wire == null) {
            return null;
        }
        try {
            ask(answer, Message.of(MessageType.RETURN, 0, lease));
            return answer;
        } catch (final LenderGoneException e) {
            // The next one isn't told of it.
            return null;
        }
    }

    /** Ends the connection, and all leases with it. Idempotent. */
    public void close() {
        synchronized (this) {
            closed = true;
            held.clear();
            if (wire != null) {
                wire.shutdown();
            }
            ended.countDown();
        }
    }

    // The thread

    @Override
    public void run() {
        Wire from = wire();
        while (from != null) {
            try {
                read(from);
            } catch (final IOException e) {
                lost(from, String.valueOf(e.getMessage()));
            } catch (final RuntimeException | Error e) {
                // Nobody else would tell those who wait.
                lost(from, "this client failed: " + e);
            }
            from = reconnect();
        }
    }

    private synchronized @Nullable Wire wire() {
        return wire;
    }

    private void read(final Wire from) throws IOException {
        long ticked = System.nanoTime();
        while (true) {
            if (from.await(TICK_MILLIS)) {
                take(from, from.receive());
            }
            if (System.nanoTime() - ticked >= TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS)) {
                guard(handler::tick);
                ticked = System.nanoTime();
            }
        }
    }

    private void take(final Wire from, final Wire.Incoming incoming) throws IOException {
        final Message message = incoming.message();
        if (!isLease(message)) {
            from.closeDescriptor(incoming.descriptor());
        }
        if (message.type() == MessageType.PRESS) {
            guard(() -> handler.pressed(message.a()));
            return;
        }
        final Answer answer;
        synchronized (this) {
            answer = awaited.get(message.request());
            if (answer == null || closed) {
                refund(from, incoming);
                return;
            }
            if (!answer.add(message, isLease(message) ? incoming.descriptor() : Linux.NONE)) {
                return;
            }
            awaited.remove(message.request());
            if (isLease(message)) {
                held.put(message.a(), new Held(message.b(), message.text(), message.type() == MessageType.OPENED));
            }
        }
        guard(answer::complete);
    }

    /** What others do in this thread doesn't end it, or nobody would read what the rest waits for. */
    private void guard(final Runnable action) {
        try {
            action.run();
        } catch (final RuntimeException | Error e) {
            // Once, since what is done now and then would fail as often.
            final System.Logger.Level level = hasFailed ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING;
            hasFailed = true;
            LOGGER.log(level, "a user of leases failed", e);
        }
    }

    private void refund(final Wire from, final Wire.Incoming incoming) throws IOException {
        if (isLease(incoming.message())) {
            from.closeDescriptor(incoming.descriptor());
            from.send(Message.of(MessageType.RETURN, 0, incoming.message().a()));
        }
    }

    private static boolean isLease(final Message message) {
        return message.type() == MessageType.LEASED || message.type() == MessageType.OPENED;
    }

    private void lost(final Wire from, final String reason) {
        final List<Answer> failed;
        final boolean isNews;
        synchronized (this) {
            from.close();
            wire = null;
            gone = reason;
            isNews = !closed;
            failed = new ArrayList<>(awaited.values());
            awaited.clear();
        }
        if (isNews) {
            LOGGER.log(System.Logger.Level.WARNING, "lender at " + socket + " gone: " + reason);
        }
        failed.forEach(answer -> guard(() -> answer.fail(new LenderGoneException(reason, null))));
    }

    /** The next lender's; null once this is closed. */
    private @Nullable Wire reconnect() {
        int pause = FIRST_PAUSE_MILLIS;
        while (rest(pause)) {
            pause = Math.min(2 * pause, MOST_PAUSE_MILLIS);
            try {
                final Wire next = Wire.open(linux, socket);
                if (adopt(next)) {
                    LOGGER.log(System.Logger.Level.INFO, "lender at " + socket + " found");
                    return next;
                }
            } catch (final IOException | RuntimeException | Error e) {
                synchronized (this) {
                    gone = String.valueOf(e.getMessage());
                }
            }
        }
        return null;
    }

    /** False if this is closed. */
    private boolean rest(final int millis) {
        try {
            return !ended.await(millis, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            // Nobody's business with this thread.
            return true;
        }
    }

    /** How many lenders there have been, one after the other. */
    synchronized int lenders() {
        return lenders;
    }

    private boolean adopt(final Wire next) throws IOException {
        boolean done = false;
        try {
            final Message said = next.hello(name, false);
            synchronized (this) {
                if (!said.text().equals(welcome.text()) || said.a() != welcome.a()) {
                    throw new IOException("the lender must have " + welcome.text() + " in units of " + welcome.a()
                            + " as before, and has " + said.text() + " in units of " + said.a());
                }
                if (closed) {
                    return false;
                }
                for (final Map.Entry<Long, Held> each : held.entrySet()) {
                    final Held lease = each.getValue();
                    next.send(new Message(MessageType.HELD, 0, each.getKey(), lease.bytes, 0, lease.ticket));
                }
                welcome = said;
                wire = next;
                lenders++;
                done = true;
            }
        } finally {
            if (!done) {
                next.close();
            }
        }
        return done;
    }
}
