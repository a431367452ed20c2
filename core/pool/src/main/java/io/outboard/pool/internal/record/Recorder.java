package io.outboard.pool.internal.record;

import static io.outboard.pool.internal.guard.JavaRuntime.LOGGER;
import static java.lang.System.Logger.Level.WARNING;

import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A recorder writes what a pool is asked to a file while the program runs: 32 bytes for each allocation, free, change
 * of a size and request that failed. {@code ./outboard replay}, {@code advise} and {@code plan} read it.
 *
 * <p>A file is little endian: the header, then records in no order but that of their time. A file that is cut, or of a
 * program that was killed, is good up to there; frees may be missing, since some threads may have written less than
 * others.
 *
 * <pre>
 *   header  magic, long | version, int | bytes of a record, int | granule in bytes, long | 0, long
 *   record  time in ns, long | address, long | stream, long | {@link #packed}, long
 * </pre>
 *
 * <p>Times are those of {@link System#nanoTime}, after an allocation or a change, and before a free. So whoever reads a
 * file in the order of its times sees an address freed before it is allocated again.
 *
 * <p>Records wait in stripes, each for some threads. A thread that finds its stripe full writes it to the file, and so
 * does a thread of the recorder's own ten times a second. So where the disk is slow the program waits for it, and
 * nothing is left out. Once writing fails, or where there is no stack for a record, records are left out, and {@link
 * #close} says so.
 *
 * <p>Safe for any number of threads. Cost: a look at the clock, a lock that few threads share, and a thousandth of a
 * write. Makes no garbage.
 */
public final class Recorder implements Closeable {

    /** The first bytes of a file, {@code OUTBREC1}. */
    public static final long MAGIC = 0x314345524254554FL;

    public static final int VERSION = 1;

    /** The size of a record, and of the header, too. */
    public static final int RECORD_BYTES = 32;

    public static final int ALLOCATED = 0;
    public static final int FREED = 1;

    /** The kind of a record whose size is what the block has from now on. */
    public static final int RESIZED = 2;

    /** The kind of a record of a request for which there was no memory: the record's address is 0. */
    public static final int FAILED = 3;

    /** The size that larger ones are cut to: 2^40 - 1. */
    public static final long MOST_BYTES = (1L << 40) - 1;

    private static final int ALIGNMENT_SHIFT = 40;
    private static final int THREAD_SHIFT = 46;
    private static final int KIND_SHIFT = 62;
    private static final int THREADS = 1 << (KIND_SHIFT - THREAD_SHIFT);

    private static final int FEWEST_STRIPES = 8;
    private static final int MOST_STRIPES = 64;
    private static final int BUFFER_BYTES = 1 << 15;
    private static final long REST_NANOS = 100_000_000;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /**
     * The real paths of files that this process writes: to open and close a file again would take its lock away
     * (POSIX).
     */
    private static final Set<Path> WRITTEN = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final Path realFile;
    private final Stripe[] stripes;

    /** The stream, which is written to without its channel: a thread that is interrupted would close the channel. */
    private final FileOutputStream out;

    /** Written under the monitor of the file. */
    private volatile @Nullable IOException failure;

    private final Thread flusher = new Thread(this::run, "outboard-recorder");
    private final Thread hook = new Thread(this::end, "outboard-recorder-end");

    /** Whether records are left out from now on. */
    private volatile boolean ending;

    /** Whether records were left out for want of stack or host memory. */
    private volatile boolean isLossy;

    private Recorder(final Path file) throws IOException {
        this.file = file;
        final int wanted = 2 * Runtime.getRuntime().availableProcessors();
        stripes = new Stripe[Integer.highestOneBit(Math.max(FEWEST_STRIPES, Math.min(MOST_STRIPES, wanted)))];
        Arrays.setAll(stripes, i -> new Stripe());
        flusher.setDaemon(true);
        realFile = realPathOf(file);
        if (!WRITTEN.add(realFile)) {
            throw refusal();
        }
        try {
            // The stream appends, so that nothing in the file is lost before the file is known to be nobody's.
            out = new FileOutputStream(file.toFile(), true);
        } catch (final UnsupportedOperationException e) {
            WRITTEN.remove(realFile);
            throw new IllegalArgumentException("path=" + file + " must be of the default file system", e);
        } catch (final IOException | RuntimeException | Error e) {
            WRITTEN.remove(realFile);
            throw e;
        }
    }

    /** Returns the real path of a file, which need not exist. */
    private static Path realPathOf(final Path file) throws IOException {
        if (Files.exists(file)) {
            return file.toRealPath();
        }
        final Path absolute = file.toAbsolutePath();
        final Path folder = absolute.getParent();
        // Without a folder, opening the file fails, and says why.
        return folder != null && Files.exists(folder) ? folder.toRealPath().resolve(absolute.getFileName()) : absolute;
    }

    private IOException refusal() {
        return new AccessDeniedException(file.toString(), null, "another recording writes it");
    }

    /**
     * Begins a file, over whatever it held, or throws what {@code Pool.record} does. It ends with {@link #close}, or
     * when the Java virtual machine does.
     */
    public static Recorder start(final Path file, final long granuleBytes) throws IOException {
        final Recorder recorder = new Recorder(file);
        boolean done = false;
        try {
            recorder.empty();
            final ByteBuffer header = ByteBuffer.allocate(RECORD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            header.putLong(MAGIC).putInt(VERSION).putInt(RECORD_BYTES).putLong(granuleBytes);
            recorder.out.write(header.array());
            recorder.flusher.start();
            Runtime.getRuntime().addShutdownHook(recorder.hook);
            done = true;
            return recorder;
        } catch (final IllegalStateException e) {
            throw new IOException("nothing can be recorded any more: " + e.getMessage(), e);
        } finally {
            if (!done) {
                recorder.ending = true;
                recorder.closeFile();
            }
        }
    }

    /** Takes the file until it is closed, where it can be locked, and leaves nothing in it. */
    private void empty() throws IOException {
        // An interrupt would close the channel, and the file with it.
        final boolean interrupted = Thread.interrupted();
        try {
            final FileChannel channel = out.getChannel();
            if (!canBeTaken(channel)) {
                throw refusal();
            }
            if (channel.size() > 0) {
                channel.truncate(0);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean canBeTaken(final FileChannel channel) {
        try {
            return channel.tryLock() != null;
        } catch (final OverlappingFileLockException e) {
            // The program itself has locked it.
            return false;
        } catch (final IOException e) {
            // Not every file system has locks, nor every pipe.
            return true;
        }
    }

    private void closeFile() throws IOException {
        try {
            out.close();
        } finally {
            WRITTEN.remove(realFile);
        }
    }

    /** Returns a record's last number: size, logarithm of the alignment from bit 40, thread from 46, kind from 62. */
    public static long packed(final int kind, final long sizeBytes, final long alignmentBytes, final long thread) {
        return (long) kind << KIND_SHIFT
                | (thread & (THREADS - 1)) << THREAD_SHIFT
                | (long) Long.numberOfTrailingZeros(alignmentBytes) << ALIGNMENT_SHIFT
                | Math.min(sizeBytes, MOST_BYTES);
    }

    public static int kind(final long packed) {
        return (int) (packed >>> KIND_SHIFT);
    }

    /** Returns the last 16 bits of the thread's number. */
    public static int thread(final long packed) {
        return (int) (packed >>> THREAD_SHIFT) & (THREADS - 1);
    }

    /** Returns what was asked for, or 0 for a free. */
    public static long sizeBytes(final long packed) {
        return packed & MOST_BYTES;
    }

    /** Writes down what has just happened. The time of a free is that before it. */
    public void add(
            final long nanos,
            final int kind,
            final long address,
            final long sizeBytes,
            final long alignmentBytes,
            final long stream) {
        final long thread = Thread.currentThread().getId();
        final long packed = packed(kind, sizeBytes, alignmentBytes, thread);
        try {
            stripes[(int) thread & (stripes.length - 1)].add(nanos, address, stream, packed);
        } catch (final StackOverflowError | OutOfMemoryError e) {
            // The pool has done what it was asked, so its caller mustn't see this.
            isLossy = true;
        }
    }

    private void run() {
        while (!ending && failure == null) {
            LockSupport.parkNanos(this, REST_NANOS);
            flush();
        }
        final IOException why = failure;
        if (why != null) {
            // This thread says so since it has no monitor: whoever is told may use the pool.
            LOGGER.log(WARNING, "the recording " + file + " ends here: " + why);
        }
    }

    /** Writes what is there, and leaves out what comes later. All is written when it returns, whoever came first. */
    private void end() {
        ending = true;
        LockSupport.unpark(flusher);
        flush();
    }

    private void flush() {
        for (final Stripe stripe : stripes) {
            stripe.flush();
        }
    }

    /** Ends the recording, and throws an {@link IOException} if not all could be written. Idempotent. */
    @Override
    public void close() throws IOException {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (final IllegalStateException ignored) {
            // The machine ends, and the hook runs already.
        }
        closeFile();
        final IOException why = failure;
        if (why != null || isLossy) {
            final String cause = why == null ? "no stack or host memory for all of it" : why.getMessage();
            throw new IOException("the recording " + file + " is incomplete: " + cause, why);
        }
    }

    /**
     * A stripe has records of some threads that haven't been written. It has a monitor rather than a spin lock, since
     * who holds it may write. Wherever in it the stack ends, the records stay whole.
     */
    private final class Stripe {

        private final byte[] records = new byte[BUFFER_BYTES];
        private int length;

        synchronized void add(final long nanos, final long address, final long stream, final long packed) {
            // This is looked at under the monitor that the last flush takes, too, so a record is in the file or left
            // out.
            if (ending) {
                return;
            }
            if (length == BUFFER_BYTES) {
                flush();
            }
            LONGS.set(records, length, nanos);
            LONGS.set(records, length + 8, address);
            LONGS.set(records, length + 16, stream);
            LONGS.set(records, length + 24, packed);
            length += RECORD_BYTES;
        }

        synchronized void flush() {
            synchronized (out) {
                try {
                    if (failure == null && length > 0) {
                        out.write(records, 0, length);
                    }
                } catch (final IOException e) {
                    failure = e;
                } catch (final StackOverflowError | OutOfMemoryError e) {
                    isLossy = true;
                }
            }
            length = 0;
        }
    }
}
