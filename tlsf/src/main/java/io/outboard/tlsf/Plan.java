package io.outboard.tlsf;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * A plan says where the blocks of a step lie that a program repeats: the sizes that it asks for, in order, and a place
 * for each, which no other block has while it lives. {@link PlannedStrategy} follows it. {@code ./outboard plan} makes
 * one of a trace.
 *
 * <p>A file is text, lines that end in a line feed; the four numbers of a block are those of {@link Block}:
 *
 * <pre>
 *   outboard plan 1
 *   granuleBytes,256
 *   regionBytes,1048576
 *   blocks,2
 *   sizeBytes,offsetBytes,start,end
 *   524288,0,0,2
 *   262144,524288,1,3
 * </pre>
 *
 * <p>Each method that makes a plan checks it: no two blocks that live together overlap, and none ends behind the
 * region. Thread-safety: safe for any number of threads. Cost: 16 host bytes a block, and, while the plan is made,
 * some hundred for each block that lives.
 */
public final class Plan {

    /**
     * A block of a plan.
     *
     * @param sizeBytes what is asked for, {@code 0 < sizeBytes}; the block has that, rounded up to the plan's granule
     * @param offsetBytes where it starts, counted from the start of the region: a multiple of the granule
     * @param start number of the operation that allocates it, {@code 0 <= start}; greater than that of the block before
     * @param end number of the operation that frees it, {@code start < end}; its place may be another's from there on
     */
    public record Block(long sizeBytes, long offsetBytes, int start, int end) {}

    /**
     * The number of ints that a block has in {@link #records}: size and offset; the offset of what is in use before it,
     * {@link #NO_BLOCK} for none; and the number of that.
     */
    static final int RECORD_INTS = 4;

    static final int SIZE = 0;
    static final int OFFSET = 1;
    static final int BEFORE = 2;
    static final int NUMBER_BEFORE = 3;

    /** The value in place of the block before the first. */
    static final int NO_BLOCK = -1;

    private static final String MAGIC = "outboard plan 1";
    private static final String BYTE_ORDER_MARK = "\uFEFF";
    private static final String COLUMNS = "sizeBytes,offsetBytes,start,end";
    private static final int HEADER_LINES = 5;
    private static final long MOST_GRANULES = Integer.MAX_VALUE;

    private final long granuleBytes;
    private final long regionBytes;
    private final int count;

    /** The records: one for each block, and one of size 0, which no request has. */
    private final int[] records;

    private Plan(final long granuleBytes, final long regionBytes, final int count, final int[] records) {
        this.granuleBytes = granuleBytes;
        this.regionBytes = regionBytes;
        this.count = count;
        this.records = records;
    }

    /**
     * Makes a plan.
     *
     * @param granuleBytes what offsets are multiples of and sizes are rounded up to, a power of two from 1 to 2^30
     * @param regionBytes where the last block ends, or more; at most 2^31 - 1 granules
     * @param blocks of one step, in the order of their allocations
     * @return the plan
     * @throws IllegalArgumentException if a number is out of range, or two blocks that live together overlap; the
     *     message names the block, counted from 0
     */
    public static Plan of(final long granuleBytes, final long regionBytes, final List<Block> blocks) {
        return make(granuleBytes, regionBytes, blocks, "block ", 0);
    }

    private static Plan make(
            final long granuleBytes,
            final long regionBytes,
            final List<Block> blocks,
            final String where,
            final int firstNumber) {
        if (Long.bitCount(granuleBytes) != 1 || granuleBytes < 0 || granuleBytes > 1L << 30) {
            throw new IllegalArgumentException(
                    "granuleBytes=" + granuleBytes + " must be a power of two from 1 to 2^30");
        }
        if (regionBytes <= 0 || regionBytes / granuleBytes > MOST_GRANULES) {
            throw new IllegalArgumentException("regionBytes=" + regionBytes
                    + " must be > 0 and at most 2^31 - 1 granules of " + granuleBytes + " bytes");
        }
        final int[] records = new int[Math.multiplyExact(RECORD_INTS, blocks.size() + 1)];
        final TreeMap<Integer, Integer> live = new TreeMap<>();
        final PriorityQueue<Integer> ending = new PriorityQueue<>((block, other) ->
                Integer.compare(blocks.get(block).end(), blocks.get(other).end()));
        for (int i = 0; i < blocks.size(); i++) {
            final Block block = blocks.get(i);
            try {
                check(block, i == 0 ? -1 : blocks.get(i - 1).start(), granuleBytes, regionBytes);
                while (!ending.isEmpty() && blocks.get(ending.element()).end() <= block.start()) {
                    live.remove(records[RECORD_INTS * ending.remove() + OFFSET]);
                }
                put(i, block, granuleBytes, live, records);
            } catch (final IllegalArgumentException e) {
                throw new IllegalArgumentException(where + (firstNumber + i) + ": " + e.getMessage(), e);
            }
            ending.add(i);
        }
        return new Plan(granuleBytes, regionBytes, blocks.size(), records);
    }

    private static void check(
            final Block block, final int startBefore, final long granuleBytes, final long regionBytes) {
        if (block.sizeBytes() <= 0 || block.sizeBytes() > regionBytes) {
            throw new IllegalArgumentException(
                    "sizeBytes=" + block.sizeBytes() + " must be > 0 and <= regionBytes, " + regionBytes);
        }
        if (block.offsetBytes() < 0 || block.offsetBytes() % granuleBytes != 0) {
            throw new IllegalArgumentException(
                    "offsetBytes=" + block.offsetBytes() + " must be >= 0 and a multiple of " + granuleBytes);
        }
        if (block.offsetBytes() > regionBytes - block.sizeBytes()) {
            throw new IllegalArgumentException("offsetBytes=" + block.offsetBytes() + " must be <= "
                    + (regionBytes - block.sizeBytes()) + ", so that sizeBytes=" + block.sizeBytes()
                    + " end in the region of " + regionBytes);
        }
        if (block.start() <= startBefore) {
            throw new IllegalArgumentException(
                    "start=" + block.start() + " must be > " + startBefore + ", that of the block before");
        }
        if (block.end() <= block.start()) {
            throw new IllegalArgumentException("end=" + block.end() + " must be > start, " + block.start());
        }
    }

    /** Puts a block into its record, and among those that live: a map from their offsets to their numbers. */
    private static void put(
            final int number,
            final Block block,
            final long granuleBytes,
            final NavigableMap<Integer, Integer> live,
            final int[] records) {
        final int offset = (int) (block.offsetBytes() / granuleBytes);
        final int size = (int) ((block.sizeBytes() - 1) / granuleBytes + 1);
        final Map.Entry<Integer, Integer> before = live.floorEntry(offset);
        final Map.Entry<Integer, Integer> after = live.higherEntry(offset);
        if (before != null && offset - before.getKey() < records[RECORD_INTS * before.getValue() + SIZE]) {
            throw overlap(block, before, granuleBytes);
        }
        if (after != null && after.getKey() - offset < size) {
            throw overlap(block, after, granuleBytes);
        }
        live.put(offset, number);
        final int record = RECORD_INTS * number;
        records[record + SIZE] = size;
        records[record + OFFSET] = offset;
        records[record + BEFORE] = before == null ? NO_BLOCK : before.getKey();
        records[record + NUMBER_BEFORE] = before == null ? NO_BLOCK : before.getValue();
    }

    private static IllegalArgumentException overlap(
            final Block block, final Map.Entry<Integer, Integer> other, final long granuleBytes) {
        return new IllegalArgumentException("offsetBytes=" + block.offsetBytes() + ", sizeBytes=" + block.sizeBytes()
                + " must not overlap what lives with it, and does block " + other.getValue() + " at "
                + other.getKey() * granuleBytes);
    }

    /**
     * Reads a plan.
     *
     * @param file what {@link #write} wrote, or {@code ./outboard plan --out}
     * @return the plan
     * @throws IllegalArgumentException if the file is no plan, or a wrong one: the message names file, line, value and
     *     rule
     * @throws IOException if it can't be read
     */
    public static Plan read(final Path file) throws IOException {
        final List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (final CharacterCodingException e) {
            throw new IllegalArgumentException(file + ", line 1: it must be \"" + MAGIC + "\", and is no text", e);
        }
        try {
            return parse(lines);
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ", " + e.getMessage(), e);
        }
    }

    private static Plan parse(final List<String> lines) {
        if (!lines.isEmpty() && lines.get(0).startsWith(BYTE_ORDER_MARK)) {
            // Some editors put a byte order mark there.
            lines.set(0, lines.get(0).substring(BYTE_ORDER_MARK.length()));
        }
        if (lines.isEmpty() || !lines.get(0).equals(MAGIC)) {
            throw new IllegalArgumentException("line 1: it must be \"" + MAGIC + "\", and is \""
                    + (lines.isEmpty()
                            ? ""
                            : lines.get(0)
                                    .substring(0, Math.min(40, lines.get(0).length()))) + "\"");
        }
        final long granuleBytes = header(lines, 2, "granuleBytes");
        final long regionBytes = header(lines, 3, "regionBytes");
        final long count = header(lines, 4, "blocks");
        if (lines.size() < HEADER_LINES || !lines.get(HEADER_LINES - 1).equals(COLUMNS)) {
            throw new IllegalArgumentException("line 5: it must be \"" + COLUMNS + "\"");
        }
        if (count != lines.size() - HEADER_LINES) {
            throw new IllegalArgumentException("line 4: blocks=" + count + " must be the lines that follow line 5, "
                    + (lines.size() - HEADER_LINES));
        }
        final Block[] blocks = new Block[(int) count];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = block(lines.get(HEADER_LINES + i), HEADER_LINES + 1 + i);
        }
        return make(granuleBytes, regionBytes, List.of(blocks), "line ", HEADER_LINES + 1);
    }

    private static long header(final List<String> lines, final int line, final String key) {
        final String text = lines.size() < line ? "" : lines.get(line - 1);
        if (!text.startsWith(key + ",")) {
            throw new IllegalArgumentException("line " + line + ": it must be \"" + key + ",\" and a number");
        }
        return number(text.substring(key.length() + 1), line, key, Long.MAX_VALUE);
    }

    private static Block block(final String text, final int line) {
        final String[] fields = text.split(",", -1);
        if (fields.length != 4) {
            throw new IllegalArgumentException("line " + line + ": fields=" + fields.length + " must be 4: " + COLUMNS);
        }
        return new Block(
                number(fields[0], line, "sizeBytes", Long.MAX_VALUE),
                number(fields[1], line, "offsetBytes", Long.MAX_VALUE),
                (int) number(fields[2], line, "start", Integer.MAX_VALUE),
                (int) number(fields[3], line, "end", Integer.MAX_VALUE));
    }

    private static long number(final String text, final int line, final String key, final long most) {
        try {
            final long number = Long.parseLong(text);
            if (number >= 0 && number <= most) {
                return number;
            }
        } catch (final NumberFormatException e) {
            // The text is refused like a number that is too large.
        }
        throw new IllegalArgumentException(
                "line " + line + ": " + key + "=" + text + " must be a whole number from 0 to " + most);
    }

    /**
     * Writes a plan, over whatever the file held.
     *
     * @param granuleBytes as for {@link #of}
     * @param regionBytes as for {@link #of}
     * @param blocks as for {@link #of}
     * @param file path, in a folder that exists
     * @throws IllegalArgumentException as {@link #of}; nothing is written
     * @throws IOException if the file can't be written; what it then holds is refused by {@link #read}
     */
    public static void write(final long granuleBytes, final long regionBytes, final List<Block> blocks, final Path file)
            throws IOException {
        of(granuleBytes, regionBytes, blocks);
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            writer.write(MAGIC + "\ngranuleBytes," + granuleBytes + "\nregionBytes," + regionBytes + "\nblocks,"
                    + blocks.size() + "\n" + COLUMNS + "\n");
            for (final Block block : blocks) {
                writer.write(
                        block.sizeBytes() + "," + block.offsetBytes() + "," + block.start() + "," + block.end() + "\n");
            }
        }
    }

    /**
     * Tells whether a request may have a place of a plan: one that is as large, or larger by a seventh of the
     * request or a granule at most. So a plan that was made with larger sizes than a step's has room for blocks
     * that grow.
     *
     * @param granules size of the request, {@code 0 < granules}
     * @param placeGranules size of the place, {@code 0 <= placeGranules}
     * @return whether it may
     */
    public static boolean fits(final long granules, final long placeGranules) {
        return granules <= placeGranules && placeGranules - granules <= Math.max(1, placeGranules >> 3);
    }

    /**
     * Tells what offsets are multiples of and sizes are rounded up to.
     *
     * @return bytes, a power of two
     */
    public long granuleBytes() {
        return granuleBytes;
    }

    /**
     * Tells the size of a region that has room for all of the plan, which a pool should take first.
     *
     * @return bytes
     */
    public long regionBytes() {
        return regionBytes;
    }

    /**
     * Counts the allocations of a step.
     *
     * @return how many, {@code 0 <=}
     */
    public int blocks() {
        return count;
    }

    /** Tells the records, by the constants above; nobody may write to them. */
    int[] records() {
        return records;
    }

    /**
     * Writes the plan as a person reads it.
     *
     * @return for example {@code 2 blocks in 1048576 bytes, granule 256}
     */
    @Override
    public String toString() {
        return count + " blocks in " + regionBytes + " bytes, granule " + granuleBytes;
    }
}
