package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemoryUser;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import io.outboard.service.internal.session.Answer;
import io.outboard.service.internal.session.LenderGoneException;
import io.outboard.service.internal.session.Session;
import io.outboard.service.internal.session.Users;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A lender connection asks a {@link Lender} for leases and gives them back. The caller decides how their memory is
 * mapped, and must know when the memory may be unmapped.
 *
 * <p>A lease lasts as long as both this process and the connection. If the lender ends, leases stay as they are and new
 * ones are refused; the next lender at the path is told what this client holds. While a client grows steadily, the
 * connection prefetches a lease before it is needed, and gives it back if it isn't needed.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a thread that waits, and one more for a moment when the
 * lender wants memory back; for a lease two messages each way, and what the device needs to make memory.
 */
public final class LenderConnection implements Lease.Source {

    /** The time that a lender may take to answer, on top of the time that a request may wait. */
    private static final long GRACE_NANOS = 10_000_000_000L;

    private static final String NO_DESCRIPTOR = "no descriptor came: this process has none left (EMFILE)";

    private final Linux linux;
    private final long graceNanos;
    private final Path socket;
    final String name;
    private final Session session;
    private final Users users = new Users();

    /** The prefetched lease. The monitor guards this field and the next, and is taken before the session's. */
    private final Prefetch prefetch = new Prefetch();

    /** The answer to a prefetch that hasn't come yet; null if none is on its way. */
    private Prefetch.@Nullable Asked coming;

    private long deadlineMillis = 5_000;

    private LenderConnection(final Linux linux, final Path socket, final String name, final long graceNanos)
            throws IOException {
        this.linux = linux;
        this.graceNanos = graceNanos;
        this.socket = socket;
        this.name = name;
        session = Session.open(linux, socket, name, new Session.Handler() {
            @Override
            public void pressed(final long bytes) {
                LenderConnection.this.pressed(bytes);
            }

            @Override
            public void tick() {
                LenderConnection.this.tick();
            }
        });
    }

    /**
     * Connects to a lender.
     *
     * @param socket the lender's path
     * @param name the client's name, which selects its quota: 1 to 32 ASCII letters, digits, {@code .}, {@code _} and
     *     {@code -}
     * @return a connection, to be closed
     * @throws IllegalArgumentException if an argument is invalid
     * @throws IOException if there is no lender; if the lender is another user's, speaks another version or turns this
     *     client away; if this isn't Linux; or if the JDK is older than 22
     */
    public static LenderConnection connect(final Path socket, final String name) throws IOException {
        return connect(LinuxCalls.find(), socket, name, GRACE_NANOS);
    }

    /**
     * Connects with an implementation of the Linux calls, and a time other than {@link #GRACE_NANOS}, that the caller
     * chooses.
     */
    static LenderConnection connect(final Linux linux, final Path socket, final String name, final long graceNanos)
            throws IOException {
        final LenderConnection connection =
                new LenderConnection(linux, SocketFile.checked(socket), checkedName(name), graceNanos);
        connection.session.start();
        return connection;
    }

    static String checkedName(final String name) {
        if (!name.matches("[A-Za-z0-9._-]+") || name.length() > Message.MOST_TEXT_BYTES) {
            throw new IllegalArgumentException(
                    "name=" + name + " must consist of letters, digits, . _ and -, at most 32");
        }
        return name;
    }

    @Override
    public String device() {
        return session.welcome().text();
    }

    @Override
    public long unitBytes() {
        return session.welcome().a();
    }

    /**
     * Returns what is guaranteed to this client's name.
     *
     * @return bytes
     */
    public long guaranteedBytes() {
        return session.welcome().b();
    }

    /**
     * Returns what this client's name may have at most.
     *
     * @return bytes
     */
    public long mostBytes() {
        return session.welcome().c();
    }

    /**
     * Returns what this connection holds, including a prefetched lease.
     *
     * @return bytes
     */
    public long leasedBytes() {
        return session.heldBytes();
    }

    @Override
    public synchronized long quotaLeftBytes() {
        return Math.max(0, mostBytes() - leasedBytes() + prefetch.bytes());
    }

    /**
     * Sets how long a lease may wait for others to give back, and for a dead client's memory to come back;
     * 5 s by default.
     *
     * @param time {@code 0 <= time}; with 0, others aren't asked
     * @throws IllegalArgumentException if {@code time} is negative
     */
    public synchronized void deadline(final Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time=" + time + " must be >= 0");
        }
        deadlineMillis = time.toMillis();
    }

    /**
     * Takes one lease, as {@link #lease(long, long)} takes the first of several.
     *
     * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @return the lease, whose descriptor is the caller's to {@linkplain #closeDescriptor close}
     * @throws RuntimeException as there
     */
    public Lease lease(final long bytes) {
        return lease(bytes, bytes);
    }

    @Override
    public Lease lease(final long bytes, final long wantedBytes) {
        if (bytes <= 0 || bytes % unitBytes() != 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0 and a multiple of " + unitBytes());
        }
        Lease lease = null;
        while (lease == null) {
            final boolean isInTheWay;
            synchronized (this) {
                lease = prefetch.take(bytes);
                isInTheWay = prefetch.bytes() > 0 || prefetch.isComing();
            }
            if (lease != null) {
                break;
            }
            final Answer answer = request(MessageType.LEASE, bytes, wantedBytes, "");
            if (answer.is(MessageType.LEASED)) {
                lease = leaseOf(answer, bytes);
            } else if (isInTheWay) {
                endAhead();
            } else {
                throw answer.refusalOf(bytes, name, mostBytes());
            }
        }
        askAhead(bytes);
        return lease;
    }

    private Answer request(final MessageType type, final long a, final long c, final String text) {
        final Answer answer = new Answer();
        final long millis;
        synchronized (this) {
            millis = type == MessageType.OPEN ? 0 : deadlineMillis;
        }
        try {
            session.ask(answer, new Message(type, 0, a, millis, c, text));
            try {
                answer.await(TimeUnit.MILLISECONDS.toNanos(millis) + graceNanos);
            } finally {
                // If the lender still answers, the memory goes back.
                session.forget(answer);
            }
        } catch (final LenderGoneException e) {
            if (!answer.isWhole()) {
                throw DeviceOutOfMemoryException.ofDevice(
                        type == MessageType.OPEN ? 0 : a, 0, "lender gone, socket " + socket + ": " + e.getMessage());
            }
        }
        return answer.withoutDescriptorUnless(
                type == MessageType.OPEN ? MessageType.OPENED : MessageType.LEASED, linux);
    }

    /** Asks for a new shared lease, or opens one that another client shares. */
    Answer shared(final MessageType type, final long a, final String ticket) {
        // A prefetched lease counts against the quota, so it might keep the request from being granted.
        endAhead();
        return request(type, a, 0, ticket);
    }

    /** Returns the lease of an answer, whose size must be {@code bytes}, or may be any if {@code bytes} is 0. */
    Lease leaseOf(final Answer answer, final long bytes) {
        final Lease lease = new Lease(answer.last().a(), answer.last().b(), answer.descriptor());
        final boolean isWhole =
                lease.bytes() > 0 && (bytes == 0 ? lease.bytes() % unitBytes() == 0 : lease.bytes() == bytes);
        if (!isWhole || lease.descriptor() == Linux.NONE) {
            answer.closeDescriptor(linux);
            giveBack(lease.number());
            throw DeviceOutOfMemoryException.ofDevice(bytes, 0, isWhole ? NO_DESCRIPTOR : "wrong size from the lender");
        }
        return lease;
    }

    @Override
    public void giveBack(final long... numbers) {
        Answer last = null;
        for (final long number : numbers) {
            final Answer answer = session.giveBack(number);
            last = answer == null ? last : answer;
        }
        if (last != null) {
            try {
                last.await(graceNanos);
            } catch (final LenderGoneException e) {
                // The next lender is only told of what is held then.
            }
        }
        dropAhead();
    }

    @Override
    public void closeDescriptor(final Lease lease) {
        linux.close(lease.descriptor());
    }

    private void askAhead(final long bytes) {
        final Prefetch.Asked asked = new Prefetch.Asked(bytes, this::cameAhead);
        synchronized (this) {
            if (!prefetch.wants(bytes, System.nanoTime())) {
                return;
            }
            coming = asked;
        }
        try {
            session.ask(asked, new Message(MessageType.LEASE, 0, bytes, 0, bytes, ""));
        } catch (final LenderGoneException | RuntimeException | OutOfMemoryError e) {
            // The caller has the lease that it needed, and can do without a prefetched one.
            cameAhead(asked, null);
        }
    }

    /** Takes a prefetched lease. It goes back if it is of no use, or nobody waits for it any longer. */
    private synchronized void cameAhead(final Prefetch.Asked asked, final @Nullable Lease lease) {
        final boolean isAwaited = coming == asked;
        final Lease kept = isAwaited && asked.isUsable(lease) ? lease : null;
        if (isAwaited) {
            coming = null;
            drop(prefetch.came(kept, System.nanoTime()));
        }
        if (kept == null) {
            drop(lease);
        }
    }

    /**
     * Gives the prefetched lease back, since its memory is needed otherwise now. Waits for a lease that is on its way.
     */
    private void endAhead() {
        final Prefetch.Asked asked;
        synchronized (this) {
            dropAhead();
            asked = coming;
        }
        if (asked != null) {
            try {
                asked.await(graceNanos);
            } catch (final LenderGoneException e) {
                // If the lease still comes, it goes back.
                session.forget(asked);
                cameAhead(asked, null);
            }
        }
    }

    private synchronized void dropAhead() {
        drop(prefetch.stop());
    }

    private void drop(final @Nullable Lease lease) {
        if (lease != null) {
            if (lease.descriptor() != Linux.NONE) {
                closeDescriptor(lease);
            }
            session.giveBack(lease.number());
        }
    }

    @Override
    public void addUser(final MemoryUser user) {
        users.add(Objects.requireNonNull(user, "user"));
    }

    @Override
    public void removeUser(final MemoryUser user) {
        users.remove(user);
    }

    private void pressed(final long bytes) {
        final long before = leasedBytes();
        dropAhead();
        users.press(bytes - (before - leasedBytes()), session);
    }

    private void tick() {
        synchronized (this) {
            drop(prefetch.stale(System.nanoTime()));
        }
        users.tell(session);
    }

    @Override
    public void close() {
        dropAhead();
        session.close();
    }
}
