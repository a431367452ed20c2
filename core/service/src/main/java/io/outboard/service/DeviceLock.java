package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The device lock keeps a user's second lender from a device that the first one lends, since neither knows what the
 * other lends. It is an abstract name of a socket, which Linux takes back when the lender ends, however that ends.
 *
 * <p>The name contains the user. Another user can have it, too, but can't pretend to be this one: then it only warns,
 * as it does when another user has a lock of the same device. Lenders in other network namespaces aren't seen. Confined
 * to one thread.
 */
final class DeviceLock {

    private static final Path NAMES = Path.of("/proc/net/unix");

    private final Linux linux;
    private final int socket;

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
     * @throws IOException if another lender of the user has it
     */
    static DeviceLock take(final Linux linux, final String device, final int user) throws IOException {
        final int socket = linux.socket(false);
        boolean done = false;
        try {
            final boolean isOurs = bind(linux, socket, nameOf(device, user));
            if (!isOurs && holderOf(linux, nameOf(device, user)) == user) {
                throw new IOException("device=" + device + " must be free, but another lender of this user lends it");
            }
            final DeviceLock lock = new DeviceLock(linux, socket, !isOurs || isNamed(device, user));
            done = true;
            return lock;
        } finally {
            if (!done) {
                linux.close(socket);
            }
        }
    }

    static String nameOf(final String device, final int user) {
        return prefixOf(device) + user;
    }

    private static String prefixOf(final String device) {
        return "outboard-lender/" + device + "/";
    }

    private static boolean bind(final Linux linux, final int socket, final String name) throws LinuxException {
        try {
            linux.bindName(socket, name);
            linux.listen(socket);
            return true;
        } catch (final LinuxException e) {
            if (e.number() == LinuxException.EADDRINUSE) {
                return false;
            }
            throw e;
        }
    }

    /** Returns the user whose process has a name; {@link Linux#NONE} if that process doesn't let anybody connect. */
    private static int holderOf(final Linux linux, final String name) throws LinuxException {
        final int socket = linux.socket(false);
        try {
            linux.connectName(socket, name);
            return linux.peer(socket).uid();
        } catch (final LinuxException e) {
            return Linux.NONE;
        } finally {
            linux.close(socket);
        }
    }

    /** Returns whether other users' locks of the device exist. */
    private static boolean isNamed(final String device, final int user) throws IOException {
        // Other programs' names are any bytes.
        try (Stream<String> lines = Files.lines(NAMES, StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(
                    line -> line.contains("@" + prefixOf(device)) && !line.endsWith("@" + nameOf(device, user)));
        }
    }

    void close() {
        linux.close(socket);
    }
}
