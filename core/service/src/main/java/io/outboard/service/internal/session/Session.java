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
 * A session talks to the lender at a path for a client. When a lender ends, the session looks for the next one at the
 * same path, and tells it what is held.
 *
 * <p>The session's thread reads, and it alone calls the {@link Handler}; no handler is called while the monitor is
 * held. Safe for any number of threads.
 */
public final class Session implements Runnable {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.service");

    /** The time between two ticks, which look for leases that aren't needed, and at how much is in use. */
    private static final int TICK_MILLIS = 250;

    /**
     * The first pause between two attempts to find a lender, and below, the longest: a new lender waits for a second
     * before it lends.
     */
    private static final int FIRST_PAUSE_MILLIS = 5;

    private static final int MOST_PAUSE_MILLIS = 200;

    /** A handler is called by the session's thread, so it mustn't wait for an answer. */
    public interface Handler {

        /** The lender wants {@code bytes} back. */
        void pressed(long bytes);

        /** The session's thread calls this method every {@link #TICK_MILLIS}. */
        void tick();
    }

    /**
     * A held lease has a size, a ticket if it is shared, and a flag if it is counted to another client, which made it.
     */
    private record Held(long bytes, String ticket, boolean isOpened) {}

    private final Linux linux;
    private final Path socket;
    private final String name;
    private final Handler handler;
    private final Thread thread = new Thread(null, this, "outboard-lessee", 0, false);

    /** The held leases, by number. The monitor guards this field and those below. */
    private final Map<Long, Held> held = new TreeMap<>();

    private final Map<Integer, Answer> awaited = new HashMap<>();
    private int lastRequest;
    private Message welcome;

    /** The connection to the lender; null while there is none. */
    private @Nullable Wire wire;

    private int lenders = 1;

    /** The reason why there is no lender. */
    private String gone = "";

    private boolean closed;

    /** Whether a handler has failed. Confined to the session's thread. */
    private boolean hasFailed;

    /**
     * The latch that is counted down at the end, to wake the thread if it waits between two attempts to find a lender.
     */
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

    /** Connects to a lender. The thread begins with {@link #start}. */
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

    /** Returns the size of all held leases, without those that other clients have made and share. */
    public synchronized long heldBytes() {
        return held.values().stream()
                .filter(lease -> !lease.isOpened)
                .mapToLong(Held::bytes)
                .sum();
    }

    /**
     * Sends a request that is answered.
     *
     * @param answer takes the answer
     * @param message the request; its number is replaced
     * @throws LenderGoneException if there is no lender
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

    /** Sends a message. */
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
            // The thread that reads notices, and looks for another lender.
            to.shutdown();
            throw new LenderGoneException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Forgets a request, since nobody waits for the answer any more; a lease that still comes goes back. */
    public synchronized void forget(final Answer answer) {
        awaited.values().remove(answer);
    }

    /**
     * Removes a lease from those that are held, and tells the lender at once. Otherwise, a lender that is found in
     * between would be given back a lease that it had never been told of.
     *
     * @return the answer to wait for; null if the lease wasn't held, or there is no lender
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
            // The next lender isn't told of the lease.
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

    @Override
    public void run() {
        Wire from = wire();
        while (from != null) {
            try {
                read(from);
            } catch (final IOException e) {
                lost(from, String.valueOf(e.getMessage()));
            } catch (final RuntimeException | Error e) {
                // Only this thread can tell those who wait for an answer.
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

    /** Runs what a handler does. Its failure must not end this thread, or nobody would read what others wait for. */
    private void guard(final Runnable action) {
        try {
            action.run();
        } catch (final RuntimeException | Error e) {
            // Only the first failure is a warning, since something that fails in each tick would flood the log.
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

    /** Connects to the next lender, or returns null once the session is closed. */
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

    /** Pauses. Returns false if the session is closed. */
    private boolean rest(final int millis) {
        try {
            return !ended.await(millis, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            // An interrupt means nothing to this thread.
            return true;
        }
    }

    /** Returns how many lenders this session has had, one after the other. */
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
