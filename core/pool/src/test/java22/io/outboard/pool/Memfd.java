package io.outboard.pool;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * This class is a Linux file that exists in memory only, with addresses at which to map parts of it. It uses {@code
 * memfd_create}, {@code mmap} and related calls, by {@code java.lang.foreign}. Constants are those of x86-64 and
 * AArch64. Safe for any number of threads.
 */
final class Memfd implements AutoCloseable {

    private static final MethodHandle MEMFD_CREATE = function("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle FTRUNCATE = function("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle FALLOCATE =
            function("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle STATX =
            function("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle CLOSE = function("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle MMAP =
            function("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = function("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);

    private static final int MFD_CLOEXEC = 1;

    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final long MAP_FAILED = -1;

    /** The flags FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE. */
    private static final int PUNCH_HOLE = 1 | 2;

    /** The size of a struct statx, which is the same on all machines, unlike that of a struct stat. */
    private static final long STATX_BYTES = 256;

    private static final long STATX_BLOCKS_OFFSET = 48;
    private static final int STATX_BLOCKS = 0x400;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final long BLOCK_BYTES = 512;

    @SuppressWarnings("restricted")
    private static final MemorySegment ALL_ADDRESSES = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final int file;

    /** Creates a file, whose pages the kernel takes when they are first touched. */
    Memfd(final long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            file = (int) MEMFD_CREATE.invokeExact(arena.allocateFrom("device"), MFD_CLOEXEC);
            check("memfd_create", file >= 0);
            check("ftruncate", (int) FTRUNCATE.invokeExact(file, bytes) == 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(
            final String name, final MemoryLayout result, final MemoryLayout... parameters) {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find(name).orElseThrow(), FunctionDescriptor.of(result, parameters));
    }

    /** Reads eight bytes at any address, aligned or not. Where there is no memory, this ends the process. */
    static long read(final long address) {
        return ALL_ADDRESSES.get(JAVA_LONG_UNALIGNED, address);
    }

    static void write(final long address, final long value) {
        ALL_ADDRESSES.set(JAVA_LONG_UNALIGNED, address, value);
    }

    /** Reserves addresses that nobody else is given. Access to them ends the process. */
    long reserve(final long bytes) {
        return map(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }

    /** Maps a part of the file at reserved addresses. */
    void map(final long address, final long bytes, final long offset) {
        map(address, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, file, offset);
    }

    /** Unmaps addresses, which stay reserved; the part of the file keeps its pages. */
    void unmap(final long address, final long bytes) {
        map(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }

    private static long map(
            final long address,
            final long bytes,
            final int access,
            final int flags,
            final int file,
            final long offset) {
        try {
            final long mapped = (long) MMAP.invokeExact(address, bytes, access, flags, file, offset);
            check("mmap", mapped != MAP_FAILED);
            return mapped;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** Unmaps addresses, which the kernel may give to others from then on. */
    void freeAddresses(final long address, final long bytes) {
        try {
            check("munmap", (int) MUNMAP.invokeExact(address, bytes) == 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** Gives the pages of a part of the file back to the kernel, wherever they are mapped. */
    void freePages(final long offset, final long bytes) {
        try {
            check("fallocate", (int) FALLOCATE.invokeExact(file, PUNCH_HOLE, offset, bytes) == 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns how much the file's pages take, as the kernel says, in bytes. */
    long heldBytes() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(STATX_BYTES, Long.BYTES);
            final MemorySegment path = arena.allocateFrom("");
            check("statx", (int) STATX.invokeExact(file, path, AT_EMPTY_PATH, STATX_BLOCKS, result) == 0);
            return result.get(JAVA_LONG, STATX_BLOCKS_OFFSET) * BLOCK_BYTES;
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    /** Closes the file; at most once. Pages that are still mapped stay until they are unmapped. */
    @Override
    public void close() {
        try {
            check("close", (int) CLOSE.invokeExact(file) == 0);
        } catch (final Throwable e) {
            throw unexpected(e);
        }
    }

    private static void check(final String function, final boolean succeeded) {
        if (!succeeded) {
            throw new IllegalStateException(function + " failed");
        }
    }

    /** A downcall itself throws nothing, but its signature must allow for everything. */
    private static RuntimeException unexpected(final Throwable thrown) {
        if (thrown instanceof final Error e) {
            throw e;
        }
        return thrown instanceof final RuntimeException e ? e : new IllegalStateException(thrown);
    }
}
