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

/** Describes a {@link Lender}. Confined to one thread. */
public final class LenderBuilder {

    private static final int MOST_SPARES = 64;
    private static final Duration MOST_SETTLING = Duration.ofMinutes(1);

    final LendingDevice device;
    final Map<String, Quota> quotas = new HashMap<>();
    int spares;
    int clients = 1024;

    /** For tests, another user's clients. */
    int user = Linux.NONE;

    Duration settling = Duration.ofSeconds(1);
    Consumer<LenderEvent> events = event -> {};

    LenderBuilder(final LendingDevice device) {
        this.device = Objects.requireNonNull(device, "device");
    }

    /**
     * How much those may have together who connect by a name. Others have nothing guaranteed, and as much as is left.
     *
     * @param name as clients say it: ASCII letters, digits, {@code .}, {@code _} and {@code -}, 1 to 32 of them
     * @param quota how much
     * @return this builder
     * @throws IllegalArgumentException if {@code name} is none
     */
    public LenderBuilder quota(final String name, final Quota quota) {
        quotas.put(LenderConnection.checkedName(name), Objects.requireNonNull(quota, "quota"));
        return this;
    }

    /**
     * How many leases of the size that is asked for most are made ahead of need; 0 is the default. They are memory that
     * nobody has.
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
     * How many connections there may be at once, 1024 by default.
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
     * How long a lender that follows another one lends nothing, so that the other's clients can state what they hold; a
     * second by default. One that is the first at its path doesn't wait.
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
     * Who is told what the lender does.
     *
     * @param sink called in the lender's thread: it mustn't wait, nor call the lender; what it throws is logged
     * @return this builder
     */
    public LenderBuilder events(final Consumer<LenderEvent> sink) {
        events = Objects.requireNonNull(sink, "sink");
        return this;
    }

    /** For tests. */
    LenderBuilder user(final int newUser) {
        user = newUser;
        return this;
    }

    /**
     * Starts to lend.
     *
     * @param socket the file that clients connect to, which only this user may; a file beside it, with {@code
     *     .lock} behind its name, stays
     * @return a lender, which has the device and closes it
     * @throws IllegalArgumentException if the path has more than 107 bytes, or more is guaranteed than the device
     *     has
     * @throws IOException if another lender has the path, another file is there, or this isn't Linux or the JDK
     *     older than 22; nothing changes, and the device is open
     */
    public Lender start(final Path socket) throws IOException {
        final Linux linux = LinuxCalls.find();
        final Path path = SocketFile.checked(socket);
        new Ledger(device.limitBytes(), quotas);
        final SocketFile file = SocketFile.open(linux, path);
        boolean done = false;
        try {
            final Lender lender = new Lender(this, linux, path, file);
            done = true;
            return lender;
        } finally {
            if (!done) {
                file.close();
            }
        }
    }
}
