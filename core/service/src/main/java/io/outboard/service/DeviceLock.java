package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The device lock keeps a user's second lender from a device that the first one lends, since neither knows what the
 * other lends. It is a socket that listens at an abstract name, which Linux takes back when the lender ends, however
 * that ends.
 *
 * <p>Each lock has a name of its own, so that nobody else can have it. A lender listens first, and then connects to all
 * other names of the device, which tells whose they are. So of two lenders that start at the same time at least one
 * finds the other, and gives up; if each finds the other, both do.
 *
 * <p>Other users' processes can have names of the device, too, but can't pretend to be this user's: the lender only
 * warns. A name that takes no connections, as of a stopped lender to which too many have connected, counts as this
 * user's. Lenders in other network namespaces aren't seen. Confined to one thread.
 */
final class DeviceLock {

    private static final Path NAMES = Path.of("/proc/net/unix");

    /** How long a name may take no connections; a lender that runs accepts those that wait within milliseconds. */
    private static final long PATIENCE_NANOS = 1_000_000_000;

    private static final long PAUSE_NANOS = 5_000_000;

    /** The most connections that are accepted at once, so that whoever connects without end keeps nobody waiting. */
    private static final int MOST_AT_ONCE = 256;

    private final Linux linux;

    /** The socket that listens, and is readable while others wait to be accepted. */
    final int socket;

    /** Whether another user's lender has the device, or what looks like one. */
    final boolean isLentByOthers;

    private DeviceLock(final Linux linux, final int socket, final boolean isLentByOthers) {
        this.linux = linux;
        this.socket = socket;
        this.isLentByOthers = isLentByOthers;
    }

    /**
     * Takes the lock of a device for a user.
     *
     * @throws IOException if another lender of the user has it, or perhaps has it
     */
    static DeviceLock take(final Linux linux, final String device, final int user) throws IOException {
        final String name = prefixOf(device) + Long.toHexString(new SecureRandom().nextLong());
        final int socket = linux.socket(false);
        boolean done = false;
        try {
            linux.bindName(socket, name);
            linux.listen(socket);
            // Whoever isn't among these names yet will find this one.
            final List<String> others = namesOf(device).stream()
                    .filter(other -> !other.equals(name))
                    .toList();
            for (final String other : others) {
                if (holderOf(linux, device, other) == user) {
                    throw new IOException(
                            "device=" + device + " must be free, but another lender of this user lends it");
                }
            }
            final DeviceLock lock = new DeviceLock(linux, socket, !others.isEmpty());
            done = true;
            return lock;
        } finally {
            if (!done) {
                linux.close(socket);
            }
        }
    }

    static String prefixOf(final String device) {
        return "outboard-lender/" + device + "/";
    }

    /** Returns the names of all locks of a device, whosever they are. */
    static List<String> namesOf(final String device) throws IOException {
        final Pattern name = Pattern.compile("@(" + Pattern.quote(prefixOf(device)) + "[0-9a-f]{1,16})$");
        // Other programs' names are any bytes.
        return new String(Files.readAllBytes(NAMES), StandardCharsets.UTF_8)
                .lines()
                .map(name::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .distinct()
                .toList();
    }

    /** Returns the user whose process listens at a name, or {@link Linux#NONE} if nobody does. */
    private static int holderOf(final Linux linux, final String device, final String name) throws IOException {
        final long end = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            final int socket = linux.socket(false);
            try {
                linux.connectName(socket, name);
                return linux.peer(socket).uid();
            } catch (final LinuxException e) {
                if (e.number() == LinuxException.ECONNREFUSED) {
                    return Linux.NONE;
                }
                if (e.number() != LinuxException.EAGAIN || System.nanoTime() - end >= 0) {
                    throw new IOException(
                            "device=" + device + " must be free, but perhaps another lender of this user lends it: "
                                    + e.getMessage(),
                            e);
                }
            } finally {
                linux.close(socket);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Accepts and closes connections. Those who connect know by then whose the lock is. */
    void accept() throws LinuxException {
        int connection = linux.accept(socket);
        for (int i = 1; connection != Linux.NONE; i++) {
            linux.close(connection);
            connection = i < MOST_AT_ONCE ? linux.accept(socket) : Linux.NONE;
        }
    }

    void close() {
        linux.close(socket);
    }
}
