package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads traces from files: HPTRACE1, the CSV that the logging adaptor of the RAPIDS Memory Manager (RMM) writes, or
 * what {@link io.outboard.pool.Pool#record} does, each plain or gzip; and recordings of Java Flight Recorder with the
 * pools' events of allocations and frees. What a file holds decides, and not its name.
 *
 * <p><b>HPTRACE1</b> is taken as it is. Its length must be what its header says, and its peaks, unless 0, must be those
 * of its operations.
 *
 * <p><b>RMM's CSV</b> begins with {@code Thread,Time,Action,Pointer,Size,Stream}. Threads, times and streams don't
 * matter to the trace: rows count in the order in which they stand.
 *
 * <ul>
 *   <li>A pointer names a block and nothing else: 1 to 16 hexadecimal digits, with or without {@code 0x}; decimal
 *       ones do as well, if all are. Null is {@code 0x0} or {@code (nil)}. A block's slot goes to a later block once it
 *       is free, so that there are as many slots as blocks at the peak.
 *   <li>An {@code allocate failure} is a demand: a block that is freed at once. {@link Trace#failedRequests()}
 *       counts them.
 *   <li>An {@code allocate} of 0 bytes is skipped, and so is the {@code free} of 0 bytes, or of null, that belongs
 *       to it.
 *   <li>A {@code free} of a pointer that isn't live is skipped and counted in {@link Trace#skippedFrees()}: logging
 *       often begins when a program holds blocks already.
 *   <li>What contradicts the rows before it is an error: an {@code allocate} of a pointer that is live, or a {@code
 *       free} with another size than its {@code allocate}.
 *   <li>The region is twice the peak live bytes, or twice 256 bytes for each block at the peak if that is more,
 *       rounded up to 2 MiB, and at least 64 MiB.
 *   <li>A last line without an end that lacks columns is one that was cut: it is left out, and {@link
 *       Trace#notes()} say so.
 * </ul>
 *
 * <p><b>A recording</b>, of a pool or of JFR, counts in the order of its times, whatever order it is in. Frees of
 * blocks that it doesn't show the allocation of are skipped and counted, requests that failed are demands, and the
 * region is sized, as those of a log. JFR's may be of several pools, of which one is read. Alignments, threads and
 * streams don't matter to the trace, and sizes of blocks that were changed in place neither; notes say how often that
 * was. Where a free is missing, its block ends when its address is allocated again, and notes count that.
 *
 * <p>Threads and streams of allocations go to {@link Owners}, if the caller has some: those of RMM's CSV as they stand
 * there, of a pool's recording the last 16 bits of a thread's number, of JFR's the thread's name, too. HPTRACE1 has
 * none.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: one pass in a window of 64 KiB; while it runs, at most 20
 * host bytes an operation and 96 a live block; with owners 10 to 20 more an operation. A file with more operations than
 * a sixty-fourth of the JVM's largest heap in bytes, half as many where they are recorded, or one with more live blocks
 * than a 256th of it, is refused before memory runs out.
 */
public final class TraceReader {

    private TraceReader() {}

    /**
     * Reads a file.
     *
     * @param file path of the trace, in the default file system; a pipe will do
     * @return the trace, called by the file's name without its folder
     * @throws TraceFormatException if the file isn't a trace, or is damaged, truncated or too large; the message names
     *     the file, the line or byte, the value and the rule
     * @throws java.io.FileNotFoundException if there is no such file, or it may not be opened
     * @throws IOException if reading fails
     */
    public static Trace read(final Path file) throws IOException {
        return read(file, Trace.maximumOperations(), Trace.maximumLiveBlocks());
    }

    /**
     * Reads a file as {@link #read(Path)} does, and who made its allocations.
     *
     * @param file path of the trace
     * @param owners new; gets an owner for each allocation of the trace, where the file has them
     * @return the trace
     * @throws TraceFormatException as above
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
     * @param owners as above, or null
     * @param pool as JFR's events name it; null if the file is of one pool
     * @return the trace
     * @throws TraceFormatException as above, and if {@code pool} is null and a JFR recording has several pools, if
     *     it hasn't the one that is named, or if one is named for another kind of file
     * @throws IOException if reading fails
     */
    public static Trace read(final Path file, final @Nullable Owners owners, final @Nullable String pool)
            throws IOException {
        return read(file, Trace.maximumOperations(), Trace.maximumLiveBlocks(), owners, pool);
    }

    static Trace read(final Path file, final int maximumOperations, final int maximumSlots) throws IOException {
        return read(file, maximumOperations, maximumSlots, null, null);
    }

    private static Trace read(
            final Path file,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners,
            final @Nullable String pool)
            throws IOException {
        Objects.requireNonNull(file, "file");
        try (TraceContent content = new TraceContent(file)) {
            if (content.atLeast(1) == 0) {
                throw content.error("byte 0", "the file must hold a trace, and is empty");
            }
            if (FlightRecording.startsWithMagic(content)) {
                return FlightRecording.read(file, content, maximumOperations / 2, maximumSlots, owners, pool);
            }
            if (pool != null) {
                throw content.error("byte 0", "--pool=" + pool + " must go with a JFR recording");
            }
            if (HpTraceFormat.startsWithMagic(content)) {
                return HpTraceFormat.read(content, maximumOperations);
            }
            if (RecordingFormat.startsWithMagic(content)) {
                return RecordingFormat.read(content, maximumOperations / 2, maximumSlots, owners);
            }
            return new RmmLogParser(content, maximumOperations, maximumSlots, owners).read();
        }
    }
}
