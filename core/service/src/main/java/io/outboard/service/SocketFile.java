package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;

/**
 * The socket file is what clients connect to. One lender has it at a time, by a lock on another file beside it, {@code
 * PATH.lock}, which it holds as long as it lives. The lock file is never deleted: by then it may be another lender's.
 *
 * <p>Only this user can open the lock file, since whoever can open a file may lock it. A missing folder is made for this
 * user only.
 *
 * <p>Confined to one thread.
 */
final class SocketFile {

    private static final String LOCK_SUFFIX = ".lock";

    private static final int FILE_TYPE = 0170000;
    private static final int SOCKET_TYPE = 0140000;

    private final Linux linux;
    private final Path path;
    private final int lock;

    /** Whether there was a lender at the path before, whose clients may still be there. */
    final boolean isSuccessor;

    final int descriptor;

    private SocketFile(
            final Linux linux, final Path path, final int lock, final boolean isSuccessor, final int descriptor) {
        this.linux = linux;
        this.path = path;
        this.lock = lock;
        this.isSuccessor = isSuccessor;
        this.descriptor = descriptor;
    }

    /** Returns the path in the form that Linux takes. */
    static Path checked(final Path path) {
        final Path absolute = path.toAbsolutePath().normalize();
        final int bytes = absolute.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > Linux.MOST_PATH_BYTES) {
            throw new IllegalArgumentException("socket=" + absolute + " must be a path of at most "
                    + Linux.MOST_PATH_BYTES + " bytes, and has " + bytes);
        }
        return absolute;
    }

    /**
     * Makes the socket file, in place of one that a dead lender left.
     *
     * @throws IOException if another lender has it, the file is no socket, or another user's file is in the way; no file
     *     changes
     */
    static SocketFile open(final Linux linux, final Path path) throws IOException {
        final Path folder = path.getParent();
        if (folder != null) {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        final Path lockPath = path.resolveSibling(path.getFileName() + LOCK_SUFFIX);
        final boolean isSuccessor = Files.exists(lockPath, LinkOption.NOFOLLOW_LINKS);
        final int lock = linux.open(lockPath);
        boolean done = false;
        int descriptor = Linux.NONE;
        try {
            checkLock(linux, lock, lockPath);
            if (!linux.lock(lock)) {
                throw new IOException("socket=" + path + " must be free, but another lender has it");
            }
            deleteSocket(path);
            descriptor = linux.socket(false);
            linux.bind(descriptor, path);
            // Clients can't connect before the socket listens.
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            refuseDescriptors(linux, descriptor);
            linux.listen(descriptor);
            done = true;
            return new SocketFile(linux, path, lock, isSuccessor, descriptor);
        } finally {
            if (!done) {
                if (descriptor != Linux.NONE) {
                    linux.close(descriptor);
                }
                linux.close(lock);
            }
        }
    }

    /** Checks that an open file is one that nobody else can lock, as far as this user can see to that. */
    private static void checkLock(final Linux linux, final int lock, final Path path) throws IOException {
        // The link leads to what was opened, whatever has the path by now.
        final Path opened = Path.of("/proc/self/fd/" + lock);
        final Map<String, Object> attributes = Files.readAttributes(opened, "unix:uid,nlink,isRegularFile");
        final int user = (int) Objects.requireNonNull(attributes.get("uid"));
        if (!Boolean.TRUE.equals(attributes.get("isRegularFile"))) {
            throw new IOException("lock=" + path + " must be a file or nothing, but something else is there");
        }
        if (user != linux.user()) {
            throw new IOException("lock=" + path + " must be of user " + linux.user() + ", and is of user " + user);
        }
        // Another name may be that of any of this user's files, which would be locked and lose permissions.
        final int names = (int) Objects.requireNonNull(attributes.get("nlink"));
        if (names != 1) {
            throw new IOException("lock=" + path + " must be a file's only name, and its file has " + names);
        }
        Files.setPosixFilePermissions(opened, PosixFilePermissions.fromString("rw-------"));
    }

    /**
     * Has no client send descriptors, which would be closed in the lender's thread; closing a network connection takes
     * as long as its owner has said.
     */
    private static void refuseDescriptors(final Linux linux, final int socket) throws LinuxException {
        try {
            linux.refuseDescriptors(socket);
        } catch (final LinuxException e) {
            if (e.number() != LinuxException.ENOPROTOOPT) {
                throw e;
            }
        }
    }

    private static void deleteSocket(final Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            final Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if (((int) mode & FILE_TYPE) != SOCKET_TYPE) {
                throw new IOException("socket=" + path + " must be a socket or nothing, but another file is there");
            }
            Files.delete(path);
        }
    }

    /** Returns the next connection, a socket that doesn't wait, or {@link Linux#NONE}. */
    int accept() throws LinuxException {
        return linux.accept(descriptor);
    }

    /** Closes the socket and deletes its file. Nobody can connect any more. */
    void close() throws IOException {
        linux.close(descriptor);
        try {
            Files.deleteIfExists(path);
        } finally {
            linux.close(lock);
        }
    }
}
