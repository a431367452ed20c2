package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.TreeMap;
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
 * warns, however many there are. Where too many connections wait at a name already, as at a stopped lender's, the files
 * of this user's processes tell whether it is one of theirs. Lenders in other network namespaces aren't seen. Confined
 * to one thread.
 */
final class DeviceLock {

    private static final Path NAMES = Path.of("/proc/net/unix");

    private static final Path PROCESSES = Path.of("/proc");

    /** The flags, type and state of a socket that isn't connected; the connections of one that listens have its name. */
    private static final String UNCONNECTED = " [0-9A-F]{8} [0-9A-F]{4} 01";

    /** The number of a socket whose name is in lines of different numbers: a name may look like a line itself. */
    static final String UNKNOWN = "";

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
     * @throws IOException if another lender of the user has it
     */
    static DeviceLock take(final Linux linux, final String device, final int user) throws IOException {
        final String name = prefixOf(device) + Long.toHexString(new SecureRandom().nextLong());
        final int socket = linux.socket(false);
        boolean done = false;
        try {
            linux.bindName(socket, name);
            linux.listen(socket);
            // Whoever isn't among these names yet will find this one.
            final Map<String, String> others = namesOf(device);
            others.remove(name);
            for (final Map.Entry<String, String> other : others.entrySet()) {
                if (isOf(user, linux, other.getKey(), other.getValue())) {
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

    /** Returns the names of all locks of a device, whosever they are, and the number of each one's socket. */
    static Map<String, String> namesOf(final String device) throws IOException {
        final Pattern line =
                Pattern.compile(UNCONNECTED + " ([0-9]+) @(" + Pattern.quote(prefixOf(device)) + "[0-9a-f]{1,16})$");
        final Map<String, String> names = new TreeMap<>();
        // Other programs' names are any bytes.
        new String(Files.readAllBytes(NAMES), StandardCharsets.UTF_8)
                .lines()
                .map(line::matcher)
                .filter(Matcher::find)
                .forEach(found ->
                        names.merge(found.group(2), found.group(1), (one, other) -> one.equals(other) ? one : UNKNOWN));
        return names;
    }

    /** Tells whether a user's process listens at a name. */
    private static boolean isOf(final int user, final Linux linux, final String name, final String number)
            throws IOException {
        final int socket = linux.socket(false);
        try {
            linux.connectName(socket, name);
            return linux.peer(socket).uid() == user;
        } catch (final LinuxException e) {
            return e.number() == LinuxException.EAGAIN && isOpenIn(user, "socket:[" + number + "]");
        } finally {
            linux.close(socket);
        }
    }

    /** Tells whether a process of a user has a file open; others' processes don't show theirs. */
    private static boolean isOpenIn(final int user, final String file) throws IOException {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (final Path process : processes) {
                if (isOpen(user, process, file)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static boolean isOpen(final int user, final Path process, final String file) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            if (!Integer.valueOf(user).equals(Files.getAttribute(process, "unix:uid"))) {
                return false;
            }
            for (final Path each : files) {
                if (Files.readSymbolicLink(each).toString().equals(file)) {
                    return true;
                }
            }
            return false;
        } catch (final IOException | DirectoryIteratorException e) {
            // It is another user's, or ends.
            return false;
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
