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
 * A client's connection to a {@link Lender}: it asks for leases and gives them back. How their memory is mapped, and
 * when that may be unmapped, is the caller's to know.
 *
 * <p>What is leased stays leased while this process and the connection live. If the lender ends, leases stay as they
 * are, new ones are refused, and as soon as there is a lender at the path again it is told what is held. In steady
 * growth a lease is asked for before it is needed; it goes back when it isn't.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a thread that waits, and one more for a moment when the
 * lender wants memory back; a lease costs two messages each way, and what the device needs to make memory.
 */
public final class LenderConnection implements Lease.Source {

    /** What a lender may take to answer beyond the time that a request may wait. */
    private static final long GRACE_NANOS = 10_000_000_000L;

    private static final String NO_DESCRIPTOR = "no descriptor came: this process has none left (EMFILE)";

    private final Linux linux;
    private final long graceNanos;
    private final Path socket;
    final String name;
    private final Session session;
    private final Users users = new Users();

    /** Guarded by the monitor, which may be held while the session's is taken. */
    private final Prefetch prefetch = new Prefetch();

    /** Of what is ahead, and hasn't come; null if nothing is asked for. */
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
     * @param name by which it knows the quota: ASCII letters, digits, {@code .}, {@code _} and {@code -}, 1 to 32
     *     of them
     * @return a connection, to be closed
     * @throws IllegalArgumentException if an argument is none
     * @throws IOException if there is no lender, it is another user's, speaks another version or turns this client
     *     away; or if this isn't Linux, or the JDK older than 22
     */
    public static LenderConnection connect(final Path socket, final String name) throws IOException {
        return connect(LinuxCalls.find(), socket, name, GRACE_NANOS);
    }

    /** With calls of Linux of the caller's, and another {@link #GRACE_NANOS}. */
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
     * What is guaranteed to this client's name.
     *
     * @return bytes
     */
    public long guaranteedBytes() {
        return session.welcome().b();
    }

    /**
     * What this client's name may have at most.
     *
     * @return bytes
     */
    public long mostBytes() {
        return session.welcome().c();
    }

    /**
     * What this connection holds, with what it has ahead of need.
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
     * How long a lease may wait for others to give back, and for what a dead client's memory takes to come back; 5 s by
     * default.
     *
     * @param time {@code 0 <= time}; 0 means that others aren't asked
     * @throws IllegalArgumentException if it is negative
     */
    public synchronized void deadline(final Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time=" + time + " must be >= 0");
        }
        deadlineMillis = time.toMillis();
    }

    // Leases

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
                // If the lender answers nevertheless, the memory goes back.
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

    /** Asks for a lease that others may open, or for one that another client shares. */
    Answer shared(final MessageType type, final long a, final String ticket) {
        // What is ahead of need is in the way of a quota that is used up.
        endAhead();
        return request(type, a, 0, ticket);
    }

    /** Of that size, or of any if it is 0. */
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
                // The next one is told of what is held then.
            }
        }
        dropAhead();
    }

    @Override
    public void closeDescriptor(final Lease lease) {
        linux.close(lease.descriptor());
    }

    // Ahead of need

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
            // The lease that was needed is there; one that isn't can be done without.
            cameAhead(asked, null);
        }
    }

    /** Goes back if it is of no use, or nobody waits for it any longer. */
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

    /** What is ahead of need is needed now, for something else: it goes back, and this waits if it is on its way. */
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
                // If it comes nevertheless, it goes back.
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

    // Those who use the memory

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
