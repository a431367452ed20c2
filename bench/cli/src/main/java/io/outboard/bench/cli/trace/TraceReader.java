package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * This class reads traces from files of six formats: HPTRACE1; the CSV that the RAPIDS Memory Manager (RMM) writes;
 * snapshots of PyTorch's memory; the CSV of MiniMalloc's instances, see {@link LifetimeListFormat}; recordings of {@link
 * io.outboard.pool.Pool#record}; and recordings of Java Flight Recorder with the pools' events of allocations and
 * frees. All but the last may be gzipped. The content of a file decides its format, not its name.
 *
 * <p><b>HPTRACE1</b> is read unchanged. Its length must be what its header says, and its peaks, unless 0, must be those
 * of its operations.
 *
 * <p><b>RMM's CSV</b> begins with {@code Thread,Time,Action,Pointer,Size,Stream}, in older versions without {@code
 * Thread}; the log of RMM's C API has other columns. Threads, times and streams don't matter to the trace: rows count
 * in the order of the file.
 *
 * <ul>
 *   <li>If the first line is no header, the log may stand among other lines, as on a program's standard error: lines
 *       that have another number of columns, or no known action, are skipped, and {@link Trace#notes()} count them.
 *   <li>A header may come again, where logs were joined. A free is called {@code free} or {@code deallocate}.
 *   <li>A pointer only names a block: 1 to 16 hexadecimal digits, with or without {@code 0x}; decimal pointers work
 *       too, if all are decimal. Null is {@code 0x0} or {@code (nil)}. The slot of a freed block goes to a later block,
 *       so that there are as many slots as blocks at the peak.
 *   <li>An {@code allocate failure} becomes a block that is freed at once. {@link Trace#failedRequests()} counts them.
 *   <li>An {@code allocate} of 0 bytes is skipped, and so is the {@code free} of 0 bytes, or of null, that belongs to
 *       it.
 *   <li>A {@code free} of a pointer that isn't live is skipped and counted in {@link Trace#skippedFrees()}: logging
 *       often begins when a program holds blocks already.
 *   <li>A row that contradicts the rows before it is an error: an {@code allocate} of a pointer that is live, or a
 *       {@code free} with another size than its {@code allocate}; the C API logs frees with size 0.
 *   <li>The region is twice the peak live bytes, or twice 256 bytes for each block at the peak if that is more, rounded
 *       up to 2 MiB, and at least 64 MiB.
 *   <li>A last line that lacks both its end and columns was cut: the line is left out, and {@link Trace#notes()} say
 *       so.
 * </ul>
 *
 * <p><b>A snapshot</b> is what {@code torch.cuda.memory._dump_snapshot} writes after {@code _record_memory_history}. It
 * is read as data: a pickle that names anything to be called is refused. A block ends when its free is completed.
 * Blocks that are older than the history begin with it, and notes count them. If several devices have a history, one is read,
 * by its number. The owners are the innermost frames of the program, its stacks, and streams.
 *
 * <p><b>A recording</b>, of a pool or of JFR, is read in the order of its times, whatever the order of the file. As in
 * a log, frees of blocks without a recorded allocation are skipped and counted, failed requests become blocks that are
 * freed at once, and the region has the same size. A JFR recording may have several pools, of which one is read.
 * Alignments, threads and streams don't matter to the trace. Nor do the new sizes of blocks that were resized in place;
 * notes say how often blocks were resized. If a free is missing, the block ends when its address is allocated again,
 * and notes count such blocks.
 *
 * <p>Threads and streams of allocations go to {@link Owners}, if the caller passes one, and so do the times of all
 * operations. Those of RMM's CSV are kept unchanged; a pool's recording has the last 16 bits of a thread's number, and
 * JFR also the thread's name, and stacks unless they are switched off. HPTRACE1 has no owners and no times; nor does a
 * log whose times are numbers that only count.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: one pass in a window of 64 KiB, with at most 20 host bytes an
 * operation and 96 a live block; with owners 20 to 40 more an operation. A file is refused before memory runs out if it
 * has more operations than a sixty-fourth of the JVM's largest heap in bytes (half as many in recordings), or more live
 * blocks than a 256th of it.
 */
public final class TraceReader {

    /** The error message, before the names, if a recording has several pools and {@code --pool} isn't given. */
    private static final String NAMES_POOL = "--pool" + FlightRecording.NAMES_ONE;

    private static final String UTF_16 = "UTF-16: write it as UTF-8 (iconv -f UTF-16 -t UTF-8)";

    private TraceReader() {}

    /**
     * Reads a file.
     *
     * @param file path of the trace, in the default file system; may be a pipe
     * @return the trace, named after the file without its folder
     * @throws TraceFormatException if the file isn't a trace, or is damaged, truncated or too large; the message names
     *     the file, the line or byte, the value and the rule
     * @throws java.io.FileNotFoundException if there is no such file, or it may not be opened
     * @throws IOException if reading fails
     */
    public static Trace read(final Path file) throws IOException {
        return read(file, Trace.maximumOperations(), Trace.maximumLiveBlocks());
    }

    /**
     * Reads a file as {@link #read(Path)} does, for a command without an option that names a pool.
     *
     * @param file path of the trace
     * @param argument what the command calls the file; an error names it if the file is a JFR recording of several
     *     pools
     * @return the trace
     * @throws TraceFormatException as {@link #read(Path)}
     * @throws IOException if reading fails
     */
    public static Trace read(final Path file, final String argument) throws IOException {
        return read(
                file,
                Trace.maximumOperations(),
                Trace.maximumLiveBlocks(),
                null,
                null,
                argument + " must be a recording of one pool, not of several");
    }

    /**
     * Reads a file as {@link #read(Path)} does, and who made its allocations.
     *
     * @param file path of the trace
     * @param owners new; gets an owner for each allocation of the trace, if the file has them
     * @return the trace
     * @throws TraceFormatException as {@link #read(Path)}
     * @throws IOException if reading fails
     */
    public static Trace read(final Path file, final Owners owners) throws IOException {
        Objects.requireNonNull(owners, "owners");
        return read(file, owners, null);
    }

    /**
     * Reads one pool's part of a file, as {@link #read(Path)} does.
     *
     * @param file path of the trace
     * @param owners as in {@link #read(Path, Owners)}, or null
     * @param pool name of the pool in JFR's events, or number of the device in a snapshot; null if there is
     *     only one
     * @return the trace
     * @throws TraceFormatException as {@link #read(Path)}; also if {@code pool} is null and a JFR recording has several
     *     pools, if the recording lacks the named pool, or if a pool is named for another kind of file
     * @throws IOException if reading fails
     */
    public static Trace read(final Path file, final @Nullable Owners owners, final @Nullable String pool)
            throws IOException {
        return read(file, Trace.maximumOperations(), Trace.maximumLiveBlocks(), owners, pool, NAMES_POOL);
    }

    static Trace read(final Path file, final int maximumOperations, final int maximumSlots) throws IOException {
        return read(file, maximumOperations, maximumSlots, null, null, NAMES_POOL);
    }

    private static Trace read(
            final Path file,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners,
            final @Nullable String pool,
            final String ruleForSeveral)
            throws IOException {
        Objects.requireNonNull(file, "file");
        try (TraceContent content = new TraceContent(file)) {
            if (content.atLeast(1) == 0) {
                throw content.error("byte 0", "the file must hold a trace, and is empty");
            }
            if (content.startsWith('F', 'L', 'R', 0)) {
                return FlightRecording.read(
                        file, content, maximumOperations / 2, maximumSlots, owners, pool, ruleForSeveral);
            }
            if (content.startsWith(0x80)) {
                return new TorchSnapshot(content, maximumOperations / 2, maximumSlots, owners)
                        .read(pool, ruleForSeveral);
            }
            if (pool != null) {
                throw content.error("byte 0", "--pool=" + pool + " must go with a JFR recording or a snapshot");
            }
            if (HpTraceFormat.startsWithMagic(content)) {
                return HpTraceFormat.read(content, maximumOperations);
            }
            if (RecordingFormat.startsWithMagic(content)) {
                return RecordingFormat.read(content, maximumOperations / 2, maximumSlots, owners);
            }
            if (LifetimeListFormat.startsWithMagic(content)) {
                return LifetimeListFormat.read(content, maximumOperations, maximumSlots);
            }
            refuseOthers(content);
            return new RmmLogParser(content, maximumOperations, maximumSlots, owners).read();
        }
    }

    /** Refuses what a trace may be packed in. */
    private static void refuseOthers(final TraceContent content) throws IOException {
        refuse(content, "packed by xz: unpack it first (xz -d)", 0xFD, '7', 'z', 'X', 'Z', 0);
        refuse(content, "packed by zstd: unpack it first (zstd -d)", 0x28, 0xB5, 0x2F, 0xFD);
        refuse(content, "packed by bzip2: unpack it first (bzip2 -d)", 'B', 'Z', 'h');
        refuse(content, "a zip archive: unpack it first (unzip)", 'P', 'K', 3, 4);
        refuse(content, UTF_16, 0xFF, 0xFE);
        refuse(content, UTF_16, 0xFE, 0xFF);
        refuse(content, UTF_16, 'T', 0, 'h', 0);
    }

    private static void refuse(final TraceContent content, final String what, final int... start) throws IOException {
        if (content.startsWith(start)) {
            throw content.error("byte 0", "the file must be a trace, plain or gzip, and is " + what);
        }
    }
}
