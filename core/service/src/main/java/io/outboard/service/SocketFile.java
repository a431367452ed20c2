package io.outboard.service;

import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The socket file is what clients connect to. One lender has it at a time, by a lock on another file beside it, {@code
 * PATH.lock}, which it holds as long as it lives. The lock file is never deleted: by then it may be another lender's.
 *
 * <p>Confined to one thread.
 */
final class SocketFile {

    private static final String LOCK_SUFFIX = ".lock";

    /**
     * The locked files of this process. Linux drops a process's locks on a file when any of the process's descriptors
     * of that file is closed, so a locked file must not be opened a second time.
     */
    private static final Set<Path> TAKEN = ConcurrentHashMap.newKeySet();

    private final Linux linux;
    private final Path path;
    private final Path taken;
    private final FileChannel lock;

    /** Whether there was a lender at the path before, whose clients may still be there. */
    final boolean isSuccessor;

    final int descriptor;

    private SocketFile(
            final Linux linux,
            final Path path,
            final Path taken,
            final FileChannel lock,
            final boolean isSuccessor,
            final int descriptor) {
        this.linux = linux;
        this.path = path;
        this.taken = taken;
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
     * @throws IOException if another lender has it, or the file is no socket; nothing changes
     */
    static SocketFile open(final Linux linux, final Path path) throws IOException {
        final Path parent = path.getParent();
        final Path taken = (parent == null ? path : parent).toRealPath().resolve(path.getFileName());
        if (!TAKEN.add(taken)) {
            throw inUse(path);
        }
        SocketFile file = null;
        try {
            file = open(linux, path, taken);
            return file;
        } finally {
            if (file == null) {
                TAKEN.remove(taken);
            }
        }
    }

    private static SocketFile open(final Linux linux, final Path path, final Path taken) throws IOException {
        final Path lockPath = path.resolveSibling(path.getFileName() + LOCK_SUFFIX);
        final boolean isSuccessor = Files.exists(lockPath, LinkOption.NOFOLLOW_LINKS);
        final FileChannel lock = FileChannel.open(
                lockPath, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        boolean done = false;
        int descriptor = Linux.NONE;
        try {
            lock(lock, path);
            deleteSocket(path);
            descriptor = linux.socket(false);
            linux.bind(descriptor, path);
            // Clients can't connect before the socket listens.
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            linux.listen(descriptor);
            done = true;
            return new SocketFile(linux, path, taken, lock, isSuccessor, descriptor);
        } finally {
            if (!done) {
                if (descriptor != Linux.NONE) {
                    linux.close(descriptor);
                }
                lock.close();
            }
        }
    }

    private static void lock(final FileChannel channel, final Path path) throws IOException {
        if (tryLock(channel) == null) {
            throw inUse(path);
        }
    }

    private static IOException inUse(final Path path) {
        return new IOException("socket=" + path + " must be free, but another lender has it");
    }

    private static @Nullable FileLock tryLock(final FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (final OverlappingFileLockException e) {
            // A lender of this process has the lock, by another name of the file.
            return null;
        }
    }

    private static void deleteSocket(final Path path) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            final boolean isSocket = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .isOther();
            if (!isSocket) {
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
            try {
                lock.close();
            } finally {
                TAKEN.remove(taken);
            }
        }
    }
}
