package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * The device lock keeps a user's second lender from a device that the first one lends, since neither knows what the
 * other lends. It is an empty file in memory, named after the device, that the lender has open, and Linux closes when
 * the lender ends, however that ends.
 *
 * <p>A lender opens its file first, and then looks at what all processes of its user have open. So of two lenders that
 * start at the same time at least one finds the other, and gives up; if each finds the other, both do. Nobody else's
 * files count, so no other user can keep a lender from starting, or pretend that there is none.
 *
 * <p>The lender also has an abstract name of a socket, at which nobody listens: it tells other users' lenders, which
 * only warn, that the device is lent. Lenders of this user that other process namespaces hide, such as other
 * containers', are seen by their names, too, but not in other network namespaces. Confined to one thread.
 */
final class DeviceLock {

    private static final Path NAMES = Path.of("/proc/net/unix");
    private static final Path PROCESSES = Path.of("/proc");

    private final Linux linux;
    private final int file;
    private final int socket;

    /** Whether another user's lender has the device, or what looks like one. */
    final boolean isLentByOthers;

    private DeviceLock(final Linux linux, final int file, final int socket, final boolean isLentByOthers) {
        this.linux = linux;
        this.file = file;
        this.socket = socket;
        this.isLentByOthers = isLentByOthers;
    }

    /**
     * Takes the lock of a device for a user.
     *
     * @throws IOException if another lender of the user has it
     */
    static DeviceLock take(final Linux linux, final String device, final int user) throws IOException {
        final int file = linux.emptyFile(nameOf(device));
        int socket = Linux.NONE;
        boolean done = false;
        try {
            if (openFiles(user, "/memfd:" + nameOf(device) + " (deleted)") > 1) {
                throw new IOException("device=" + device + " must be free, but another lender of this user lends it");
            }
            socket = linux.socket(false);
            // The name is random, so that nobody can have it already.
            final String name = nameOf(device) + Long.toHexString(new SecureRandom().nextLong());
            linux.bindName(socket, name);
            final DeviceLock lock = new DeviceLock(linux, file, socket, isNamedOtherThan(device, name));
            done = true;
            return lock;
        } finally {
            if (!done) {
                linux.close(file);
                if (socket != Linux.NONE) {
                    linux.close(socket);
                }
            }
        }
    }

    static String nameOf(final String device) {
        return "outboard-lender/" + device + "/";
    }

    /** Counts how often the processes of a user have a file open. */
    private static int openFiles(final int user, final String target) throws IOException {
        int count = 0;
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (final Path process : processes) {
                count += openFilesOf(process, user, target);
            }
        }
        return count;
    }

    private static int openFilesOf(final Path process, final int user, final String target) {
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            if (Integer.valueOf(user).equals(Files.getAttribute(process, "unix:uid"))) {
                for (final Path each : files) {
                    count += isLinkTo(each, target) ? 1 : 0;
                }
            }
        } catch (final IOException | DirectoryIteratorException e) {
            // The process is another user's, or has ended.
            return count;
        }
        return count;
    }

    private static boolean isLinkTo(final Path file, final String target) {
        try {
            return Files.readSymbolicLink(file).toString().equals(target);
        } catch (final IOException e) {
            // It is closed by now.
            return false;
        }
    }

    /** Tells whether there are other names of the device. */
    private static boolean isNamedOtherThan(final String device, final String own) throws IOException {
        // Other programs' names are any bytes.
        return new String(Files.readAllBytes(NAMES), StandardCharsets.ISO_8859_1)
                .lines()
                .anyMatch(line -> line.contains("@" + nameOf(device)) && !line.endsWith("@" + own));
    }

    void close() {
        linux.close(socket);
        linux.close(file);
    }
}
