package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/** A builder describes a {@link Lender}. Confined to one thread. */
public final class LenderBuilder {

    private static final int MOST_SPARES = 64;
    private static final Duration MOST_SETTLING = Duration.ofMinutes(1);

    final LendingDevice device;
    final Map<String, Quota> quotas = new HashMap<>();
    int spares;
    int clients = 1024;

    /** The user whose clients are let in; {@link Linux#NONE} is this process's user. Only tests set another one. */
    int user = Linux.NONE;

    Duration settling = Duration.ofSeconds(1);
    Consumer<LenderEvent> events = event -> {};

    LenderBuilder(final LendingDevice device) {
        this.device = Objects.requireNonNull(device, "device");
    }

    /**
     * Sets how much the clients of a name may have together. Clients of other names have no guarantee, and get as much
     * as is left.
     *
     * @param name the name as clients say it: 1 to 32 ASCII letters, digits, {@code .}, {@code _} and {@code -}
     * @param quota how much
     * @return this builder
     * @throws IllegalArgumentException if {@code name} is no such name
     */
    public LenderBuilder quota(final String name, final Quota quota) {
        quotas.put(LenderConnection.checkedName(name), Objects.requireNonNull(quota, "quota"));
        return this;
    }

    /**
     * Sets how many leases of the most requested size are made ahead of need; 0 is the default. These spares take
     * memory of the device that no client has: an eighth of it at most, until nobody has asked for a lease of their size
     * for 10 s.
     *
     * @param count {@code 0 <= count <= 64}
     * @return this builder
     * @throws IllegalArgumentException if {@code count} is outside of its range
     */
    public LenderBuilder spares(final int count) {
        if (count < 0 || count > MOST_SPARES) {
            throw new IllegalArgumentException("count=" + count + " must be >= 0 and <= " + MOST_SPARES);
        }
        spares = count;
        return this;
    }

    /**
     * Sets how many connections there may be at once; 1024 is the default.
     *
     * @param count {@code 0 < count <= 16384}
     * @return this builder
     * @throws IllegalArgumentException if {@code count} is outside of its range
     */
    public LenderBuilder mostClients(final int count) {
        if (count <= 0 || count > LenderStatus.MOST_CLIENTS) {
            throw new IllegalArgumentException("count=" + count + " must be > 0 and <= " + LenderStatus.MOST_CLIENTS);
        }
        clients = count;
        return this;
    }

    /**
     * Sets how long a lender that follows another one lends nothing, so that the other's clients can state what they
     * hold; a second is the default. The first lender at a path doesn't wait.
     *
     * @param time {@code 0 <= time <= 1 minute}
     * @return this builder
     * @throws IllegalArgumentException if {@code time} is outside of its range
     */
    public LenderBuilder settling(final Duration time) {
        if (time.isNegative() || time.compareTo(MOST_SETTLING) > 0) {
            throw new IllegalArgumentException("time=" + time + " must be >= 0 and <= " + MOST_SETTLING);
        }
        settling = time;
        return this;
    }

    /**
     * Sets who is told what the lender does. The lender doesn't wait for that: when some thousand events aren't taken
     * yet, further ones are dropped, and {@link LenderEvent.Kind#DROPPED} says how many.
     *
     * @param sink called by a thread of its own, with one event after another; what it throws is logged
     * @return this builder
     */
    public LenderBuilder events(final Consumer<LenderEvent> sink) {
        events = Objects.requireNonNull(sink, "sink");
        return this;
    }

    /** Sets the user whose clients are let in, for tests. */
    LenderBuilder user(final int newUser) {
        user = newUser;
        return this;
    }

    /**
     * Starts to lend.
     *
     * @param socket the file that clients connect to, which only this user may do; a file with {@code .lock} appended
     *     to its name is made beside it, and stays. Its folder, if missing, is made for this user only
     * @return a lender, which owns the device and closes it
     * @throws IllegalArgumentException if the path has more than 107 bytes, or the quotas guarantee more than the
     *     device has
     * @throws IOException if another lender has the path; if another lender of this user lends the device, or perhaps
     *     does, and the device is {@linkplain LendingDevice#isExclusive exclusive}; if another file, or another user's
     *     lock, is there; if this isn't Linux; or if the JDK is older than 22. The device stays open
     * @throws IllegalStateException if JMX has another bean of the lender's name. The device stays open
     */
    public Lender start(final Path socket) throws IOException {
        final Linux linux = LinuxCalls.find();
        final Path path = SocketFile.checked(socket);
        new Ledger(device.limitBytes(), quotas);
        final DeviceLock lock = device.isExclusive() ? DeviceLock.take(linux, device.name(), linux.user()) : null;
        SocketFile file = null;
        boolean done = false;
        try {
            file = SocketFile.open(linux, path);
            final Lender lender = new Lender(this, linux, path, file, lock);
            // From now on the lender closes both.
            done = true;
            lender.start();
            return lender;
        } finally {
            try {
                if (!done && file != null) {
                    file.close();
                }
            } finally {
                if (!done && lock != null) {
                    lock.close();
                }
            }
        }
    }
}
