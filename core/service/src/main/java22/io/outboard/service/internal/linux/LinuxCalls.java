package io.outboard.service.internal.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * This class makes the calls of Linux by {@code java.lang.foreign}, for JDK 22 and newer. Constants and layouts are
 * those of x86-64 and AArch64:
 *
 * <pre>{@code
 *   sockaddr_un, 110 bytes     msghdr, 56 bytes          cmsghdr with a descriptor, 24 bytes
 *    0  short family            0  void*  name            0  long  len, 20
 *    2  char  path[108]         8  int    namelen         8  int   level
 *                              16  iovec* iov            12  int   type
 *   pollfd, 8 bytes            24  long   iovlen         16  int   descriptor
 *    0  int   fd               32  void*  control
 *    4  short events           40  long   controllen     iovec, 16 bytes: void* base, long len
 *    6  short revents          48  int    flags          ucred, 12 bytes: int pid, int uid, int gid
 *
 *   flock, 32 bytes: short type, short whence, long start at 8, long len at 16, int pid at 24
 * }</pre>
 *
 * <p>A call that a signal interrupts is made again, except {@code close}.
 */
public final class LinuxCalls implements Linux {

    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET = 5;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SO_PASSRIGHTS = 83;
    private static final int SHUT_RDWR = 2;
    private static final int BACKLOG = 128;

    private static final int MSG_CTRUNC = 8;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;

    private static final int EFD_CLOEXEC = 0x80000;
    private static final int EFD_NONBLOCK = 0x800;
    private static final int MFD_CLOEXEC = 1;
    private static final int O_RDONLY_CLOEXEC = 0x80000;

    /** {@code O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK | O_CLOEXEC}. */
    private static final int O_LOCK_FILE = 0x80942;

    /** The one flag that differs from machine to machine. */
    private static final int O_NOFOLLOW = System.getProperty("os.arch").equals("aarch64") ? 0x8000 : 0x20000;

    private static final int MODE_THIS_USER = 0600;
    private static final int F_OFD_SETLK = 37;
    private static final short F_WRLCK = 1;
    private static final long FLOCK_BYTES = 32;

    private static final int PROT_NONE = 0;
    private static final int PROT_READ = 1;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MREMAP_MAYMOVE_FIXED = 3;

    private static final long SOCKADDR_BYTES = 110;
    private static final long SOCKADDR_PATH = 2;

    private static final long MSGHDR_BYTES = 56;
    private static final long MSGHDR_IOV = 16;
    private static final long MSGHDR_IOVLEN = 24;
    private static final long MSGHDR_CONTROL = 32;
    private static final long MSGHDR_CONTROLLEN = 40;
    private static final long MSGHDR_FLAGS = 48;
    private static final long IOVEC_BYTES = 16;
    private static final long IOVEC_LEN = 8;

    private static final long CMSG_BYTES = 24;
    private static final long CMSG_LEVEL = 8;
    private static final long CMSG_TYPE = 12;
    private static final long CMSG_DATA = 16;
    private static final long CMSG_LEN = 20;

    private static final long POLLFD_BYTES = 8;
    private static final long POLLFD_EVENTS = 4;
    private static final long POLLFD_REVENTS = 6;
    private static final long UCRED_BYTES = 12;
    private static final long UCRED_UID = 4;

    private static final MethodHandle SOCKET = ForeignCall.function("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = ForeignCall.function("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle LISTEN = ForeignCall.function("listen", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle ACCEPT =
            ForeignCall.function("accept4", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle CONNECT = ForeignCall.function("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKOPT =
            ForeignCall.function("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle SETSOCKOPT =
            ForeignCall.function("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SENDMSG = ForeignCall.function("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle RECVMSG = ForeignCall.function("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SHUTDOWN = ForeignCall.function("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = ForeignCall.function("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle POLL = ForeignCall.function("poll", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle EVENTFD = ForeignCall.function("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle READ = ForeignCall.function("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle WRITE = ForeignCall.function("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle MEMFD_CREATE = ForeignCall.function("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle OPEN = ForeignCall.function("open", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle OPEN_TO_MAKE = ForeignCall.variadic("open", ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle FCNTL = ForeignCall.variadic("fcntl", JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle FALLOCATE =
            ForeignCall.function("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MMAP =
            ForeignCall.function("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MREMAP =
            ForeignCall.function("mremap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = ForeignCall.function("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle GETEUID = ForeignCall.function("geteuid", JAVA_INT);

    private static final LinuxCalls CALLS = new LinuxCalls();

    private LinuxCalls() {}

    /**
     * Finds the calls.
     *
     * @return the calls
     * @throws IOException if this isn't Linux, or the program forbids native access
     */
    public static Linux find() throws IOException {
        if (!System.getProperty("os.name").equals("Linux")) {
            throw new IOException("leases need Linux, this is " + System.getProperty("os.name"));
        }
        return CALLS;
    }

    @Override
    public int socket(final boolean waits) throws LinuxException {
        final int type = SOCK_SEQPACKET | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK);
        return (int) ForeignCall.call("socket", (arena, state) -> (int) SOCKET.invokeExact(state, AF_UNIX, type, 0));
    }

    @Override
    public void bind(final int socket, final Path path) throws LinuxException {
        ForeignCall.call("bind " + path, (arena, state) ->
                (int) BIND.invokeExact(state, socket, address(path, arena), (int) SOCKADDR_BYTES));
    }

    @Override
    public void bindName(final int socket, final String name) throws LinuxException {
        ForeignCall.call("bind @" + name, (arena, state) ->
                (int) BIND.invokeExact(state, socket, nameAddress(name, arena), nameBytes(name)));
    }

    /** An abstract name begins with a byte 0, and has no end but that of the address. */
    private static MemorySegment nameAddress(final String name, final Arena arena) {
        final MemorySegment address = arena.allocate(SOCKADDR_BYTES, Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        address.setString(SOCKADDR_PATH + 1, name);
        return address;
    }

    private static int nameBytes(final String name) {
        return (int) SOCKADDR_PATH + 1 + name.getBytes(StandardCharsets.UTF_8).length;
    }

    @Override
    public void listen(final int socket) throws LinuxException {
        ForeignCall.call("listen", (arena, state) -> (int) LISTEN.invokeExact(state, socket, BACKLOG));
    }

    @Override
    public void refuseDescriptors(final int socket) throws LinuxException {
        ForeignCall.call("setsockopt", (arena, state) -> (int) SETSOCKOPT.invokeExact(
                state, socket, SOL_SOCKET, SO_PASSRIGHTS, arena.allocateFrom(JAVA_INT, 0), Integer.BYTES));
    }

    @Override
    public int accept(final int socket) throws LinuxException {
        final long accepted = ForeignCall.attempt((arena, state) -> (int) ACCEPT.invokeExact(
                state, socket, MemorySegment.NULL, MemorySegment.NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (accepted == -LinuxException.EAGAIN) {
            return NONE;
        }
        return (int) ForeignCall.checked("accept", accepted);
    }

    @Override
    public void connect(final int socket, final Path path) throws LinuxException {
        ForeignCall.call("connect " + path, (arena, state) ->
                (int) CONNECT.invokeExact(state, socket, address(path, arena), (int) SOCKADDR_BYTES));
    }

    private static MemorySegment address(final Path path, final Arena arena) {
        final MemorySegment address = arena.allocate(SOCKADDR_BYTES, Long.BYTES);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        address.setString(SOCKADDR_PATH, path.toString());
        return address;
    }

    @Override
    public Peer peer(final int socket) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment credentials = arena.allocate(UCRED_BYTES, Integer.BYTES);
            final MemorySegment length = arena.allocateFrom(JAVA_INT, (int) UCRED_BYTES);
            ForeignCall.call("getsockopt", (own, state) ->
                    (int) GETSOCKOPT.invokeExact(state, socket, SOL_SOCKET, SO_PEERCRED, credentials, length));
            return new Peer(credentials.get(JAVA_INT, 0), credentials.get(JAVA_INT, UCRED_UID));
        }
    }

    @Override
    public boolean send(final int socket, final byte[] message, final int descriptor) throws LinuxException {
        final long sent = ForeignCall.attempt((arena, state) -> {
            final MemorySegment header = header(arena, message.length, descriptor != NONE);
            MemorySegment.copy(message, 0, bytesOf(header, message.length), JAVA_BYTE, 0, message.length);
            if (descriptor != NONE) {
                final MemorySegment control = controlOf(header);
                control.set(JAVA_LONG, 0, CMSG_LEN);
                control.set(JAVA_INT, CMSG_LEVEL, SOL_SOCKET);
                control.set(JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
                control.set(JAVA_INT, CMSG_DATA, descriptor);
            }
            return (long) SENDMSG.invokeExact(state, socket, header, MSG_DONTWAIT | MSG_NOSIGNAL);
        });
        if (sent == -LinuxException.EAGAIN) {
            return false;
        }
        ForeignCall.checked("sendmsg", sent);
        return true;
    }

    @Override
    public int receive(final int socket, final byte[] message, final int[] descriptor) throws LinuxException {
        final boolean takes = descriptor.length > 0;
        if (takes) {
            descriptor[0] = NONE;
        }
        final long received = ForeignCall.attempt((arena, state) -> {
            final MemorySegment header = header(arena, message.length, takes);
            if (takes) {
                // The length excludes the padding, which would make room for a second descriptor.
                header.set(JAVA_LONG, MSGHDR_CONTROLLEN, CMSG_LEN);
            }
            final long length = (long) RECVMSG.invokeExact(state, socket, header, MSG_CMSG_CLOEXEC);
            if (length < 0) {
                return length;
            }
            MemorySegment.copy(bytesOf(header, message.length), JAVA_BYTE, 0, message, 0, (int) length);
            if (takes && header.get(JAVA_LONG, MSGHDR_CONTROLLEN) >= CMSG_LEN) {
                final MemorySegment control = controlOf(header);
                final boolean rights = control.get(JAVA_INT, CMSG_LEVEL) == SOL_SOCKET
                        && control.get(JAVA_INT, CMSG_TYPE) == SCM_RIGHTS;
                descriptor[0] = rights ? control.get(JAVA_INT, CMSG_DATA) : NONE;
            }
            // If exactly one descriptor was sent, it is only left out when this process has no descriptor left for it.
            final boolean isLeftOut = (header.get(JAVA_INT, MSGHDR_FLAGS) & MSG_CTRUNC) != 0;
            return isLeftOut && !(takes && descriptor[0] == NONE) ? -LinuxException.EBADMSG : length;
        });
        if (received == -LinuxException.EAGAIN) {
            return NOTHING;
        }
        if (received == -LinuxException.EBADMSG && takes) {
            close(descriptor[0]);
            descriptor[0] = NONE;
        }
        return (int) ForeignCall.checked("recvmsg", received);
    }

    /** Makes a {@code msghdr} for one message, with or without room for a descriptor, all of it in the arena. */
    private static MemorySegment header(final Arena arena, final int bytes, final boolean control) {
        final MemorySegment header = arena.allocate(MSGHDR_BYTES, Long.BYTES);
        final MemorySegment part = arena.allocate(IOVEC_BYTES, Long.BYTES);
        part.set(ADDRESS, 0, arena.allocate(bytes, Long.BYTES));
        part.set(JAVA_LONG, IOVEC_LEN, bytes);
        header.set(ADDRESS, MSGHDR_IOV, part);
        header.set(JAVA_LONG, MSGHDR_IOVLEN, 1);
        if (control) {
            header.set(ADDRESS, MSGHDR_CONTROL, arena.allocate(CMSG_BYTES, Long.BYTES));
            header.set(JAVA_LONG, MSGHDR_CONTROLLEN, CMSG_BYTES);
        }
        return header;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment bytesOf(final MemorySegment header, final int bytes) {
        final MemorySegment part = header.get(ADDRESS, MSGHDR_IOV).reinterpret(IOVEC_BYTES);
        return part.get(ADDRESS, 0).reinterpret(bytes);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment controlOf(final MemorySegment header) {
        return header.get(ADDRESS, MSGHDR_CONTROL).reinterpret(CMSG_BYTES);
    }

    @Override
    public void shutdown(final int socket) {
        ForeignCall.attempt((arena, state) -> (int) SHUTDOWN.invokeExact(state, socket, SHUT_RDWR));
    }

    @Override
    public void close(final int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            // The descriptor is closed even if a signal interrupts the call: by then another thread may have been given
            // the number.
            final int ignored = (int) CLOSE.invokeExact(arena.allocate(ForeignCall.STATE), descriptor);
        } catch (final Throwable e) {
            throw ForeignCall.unexpected(e);
        }
    }

    @Override
    public void poll(final int[] descriptors, final short[] events, final int count, final int millis)
            throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment all = arena.allocate(Math.max(1, count) * POLLFD_BYTES, Integer.BYTES);
            for (int i = 0; i < count; i++) {
                all.set(JAVA_INT, i * POLLFD_BYTES, descriptors[i]);
                all.set(JAVA_SHORT, i * POLLFD_BYTES + POLLFD_EVENTS, events[i]);
            }
            ForeignCall.call("poll", (own, state) -> (int) POLL.invokeExact(state, all, (long) count, millis));
            for (int i = 0; i < count; i++) {
                events[i] = all.get(JAVA_SHORT, i * POLLFD_BYTES + POLLFD_REVENTS);
            }
        }
    }

    @Override
    public int event() throws LinuxException {
        return (int) ForeignCall.call(
                "eventfd", (arena, state) -> (int) EVENTFD.invokeExact(state, 0, EFD_CLOEXEC | EFD_NONBLOCK));
    }

    @Override
    public void signal(final int event) {
        ForeignCall.attempt((arena, state) ->
                (long) WRITE.invokeExact(state, event, arena.allocateFrom(JAVA_LONG, 1), (long) Long.BYTES));
    }

    @Override
    public void clear(final int event) {
        ForeignCall.attempt(
                (arena, state) -> (long) READ.invokeExact(state, event, arena.allocate(JAVA_LONG), (long) Long.BYTES));
    }

    @Override
    public int emptyFile(final String name) throws LinuxException {
        return (int) ForeignCall.call("memfd_create", (arena, state) ->
                (int) MEMFD_CREATE.invokeExact(state, arena.allocateFrom(name), MFD_CLOEXEC));
    }

    @Override
    public int memory(final long bytes) throws LinuxException {
        final int file = emptyFile("outboard-lease");
        boolean done = false;
        try {
            // This call also sets the file's length.
            ForeignCall.call("fallocate", (arena, state) -> (int) FALLOCATE.invokeExact(state, file, 0, 0L, bytes));
            done = true;
            return file;
        } finally {
            if (!done) {
                close(file);
            }
        }
    }

    @Override
    public long reserve(final long bytes) throws LinuxException {
        return map(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, NONE);
    }

    @Override
    public int open(final Path path) throws LinuxException {
        return (int) ForeignCall.call("open " + path, (arena, state) -> (int) OPEN_TO_MAKE.invokeExact(
                state, arena.allocateFrom(path.toString()), O_LOCK_FILE | O_NOFOLLOW, MODE_THIS_USER));
    }

    @Override
    public boolean lock(final int file) throws LinuxException {
        final long locked = ForeignCall.attempt((arena, state) -> {
            // Start and length 0 mean the whole file, and a process of 0 is what this kind of lock demands.
            final MemorySegment lock = arena.allocate(FLOCK_BYTES, Long.BYTES);
            lock.set(JAVA_SHORT, 0, F_WRLCK);
            return (int) FCNTL.invokeExact(state, file, F_OFD_SETLK, lock);
        });
        if (locked == -LinuxException.EAGAIN || locked == -LinuxException.EACCES) {
            return false;
        }
        ForeignCall.checked("fcntl", locked);
        return true;
    }

    @Override
    public int openReadOnly(final int file) throws LinuxException {
        return (int) ForeignCall.call("open", (arena, state) ->
                (int) OPEN.invokeExact(state, arena.allocateFrom("/proc/self/fd/" + file), O_RDONLY_CLOEXEC));
    }

    @Override
    public void map(final long address, final long bytes, final int file, final boolean isReadOnly)
            throws LinuxException {
        map(address, bytes, isReadOnly ? PROT_READ : PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, file);
    }

    /** Calls {@code mremap} with 0 bytes, which makes another mapping of a shared one, and leaves the first. */
    @Override
    public void mapAgain(final long from, final long to, final long bytes) throws LinuxException {
        ForeignCall.call("mremap", (arena, state) ->
                (long) MREMAP.invokeExact(state, from, 0L, bytes, MREMAP_MAYMOVE_FIXED, to));
    }

    @Override
    public void unmap(final long address, final long bytes) throws LinuxException {
        map(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, NONE);
    }

    private static long map(final long address, final long bytes, final int access, final int flags, final int file)
            throws LinuxException {
        return ForeignCall.call(
                "mmap", (arena, state) -> (long) MMAP.invokeExact(state, address, bytes, access, flags, file, 0L));
    }

    @Override
    public void free(final long address, final long bytes) throws LinuxException {
        ForeignCall.call("munmap", (arena, state) -> (int) MUNMAP.invokeExact(state, address, bytes));
    }

    @Override
    @SuppressWarnings("restricted")
    public ByteBuffer view(final long address, final int bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes).asByteBuffer();
    }

    @Override
    public int user() {
        return (int) ForeignCall.attempt((arena, state) -> (int) GETEUID.invokeExact(state));
    }
}
