package io.outboard.bench.cli.picture;

import io.outboard.bench.cli.report.AtomicFile;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.Template;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.core.ByteSize;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * This class writes a page that needs no network. The page shows blocks as rectangles, operations to the right and
 * addresses upwards, below them what was free, and beside them who held the memory at the peak. Its script paints
 * pixels into a bitmap instead of drawing rectangles, so that a million blocks don't keep a browser busy. Safe for any
 * number of threads.
 */
public final class PicturePage {

    private static final long MICROSECOND_NANOS = 1_000;
    private static final int MORE_SHIFT = 7;
    private static final int MORE = 1 << MORE_SHIFT;

    private static final String FOLDER = "/io/outboard/bench/cli/picture/";

    private PicturePage() {}

    /**
     * Writes the page of a replayed trace, with some 21 bytes a block, 27 if owners are known, and 1 to 4
     * an operation if times are.
     *
     * @param picture the trace and where its blocks were
     * @param other another trace, to whose peak that of the first is compared; null for none
     * @param file the page; replaced if it exists
     * @throws IOException if the page can't be written
     */
    public static void write(final Picture picture, final @Nullable Picture other, final Path file) throws IOException {
        final String caption = String.format(
                Locale.ROOT,
                "%,d operations on %s in %s; at most %s live%s",
                picture.trace.operationCount(),
                picture.strategy,
                ByteSize.text(picture.regionBytes),
                ByteSize.text(picture.trace.peakLiveBytes()),
                picture.failures == 0
                        ? ""
                        : String.format(Locale.ROOT, "; %,d allocations found no memory", picture.failures));
        final String data = "{\"granuleBytes\":" + picture.granuleBytes + ",\"regionBytes\":" + picture.regionBytes
                + ",\"operations\":" + picture.trace.operationCount() + ",\"moments\":" + Html.json(picture.moments)
                + ",\"free\":" + Html.json(picture.free) + ",\"largestFree\":" + Html.json(picture.largestFree)
                + ",\"starts\":\"" + packed(picture.starts) + "\",\"ends\":\"" + packed(picture.ends)
                + "\",\"offsets\":\"" + packed(picture.offsets) + "\",\"sizes\":\"" + packed(picture.sizes) + "\""
                + ",\"peak\":" + picture.peak + times(picture) + owners(picture)
                + (other == null ? "" : other(other)) + "}";
        write(picture.trace.name(), caption, "trace", data, file);
    }

    /**
     * Writes the page of a dump that {@link io.outboard.pool.Pool#dump} wrote.
     *
     * @param name title of the page
     * @param dump text of the dump
     * @param file the page; replaced if it exists
     * @throws IOException if the page can't be written
     */
    public static void writeDump(final String name, final String dump, final Path file) throws IOException {
        write(name, "a pool at one moment", "dump", dump.replace("<", "\\u003c"), file);
    }

    private static void write(
            final String name, final String caption, final String kind, final String data, final Path file)
            throws IOException {
        AtomicFile.write(
                file,
                Template.fill(
                        FOLDER + "picture.html",
                        Map.of(
                                "title",
                                Html.escape(name),
                                "caption",
                                Html.escape(caption),
                                "kind",
                                kind,
                                "style",
                                Template.load("report.css") + Template.load(FOLDER + "picture.css"),
                                "script",
                                Template.load(FOLDER + "picture.js"),
                                "data",
                                data)));
    }

    /**
     * Formats the owners; nothing if all are unknown. Each owner is four numbers, of its site, thread and stream in a
     * table of texts, and of its stack; a stack is numbers in the table, too. Each block has the number of an owner.
     */
    private static String owners(final Picture picture) {
        final List<Owners.Owner> table = picture.known.table();
        if (table.size() == 1) {
            return "";
        }
        final Map<String, Integer> texts = new LinkedHashMap<>();
        final int[] parts = table.stream()
                .flatMapToInt(owner -> IntStream.of(
                        number(texts, owner.site()),
                        number(texts, owner.thread()),
                        number(texts, owner.stream()),
                        owner.stack()))
                .toArray();
        final String stacks = picture.known.stacks().stream()
                .map(stack -> stack.stream()
                        .map(frame -> Integer.toString(number(texts, frame)))
                        .collect(Collectors.joining(",", "[", "]")))
                .collect(Collectors.joining(",", "[", "]"));
        return ",\"texts\":" + texts.keySet().stream().map(Html::json).collect(Collectors.joining(",", "[", "]"))
                + ",\"parts\":\"" + packed(parts) + "\",\"stacks\":" + stacks + ",\"owners\":\""
                + packed(picture.owners) + "\"";
    }

    /** Formats who holds the memory at the peak of another picture, by each part that is known of owners. */
    private static String other(final Picture other) {
        return ",\"other\":{\"name\":" + Html.json(other.trace.name()) + ",\"bytes\":" + other.peakBytes
                + ",\"holders\":"
                + Arrays.stream(Holders.Part.values())
                        .map(part -> Holders.atPeak(other, part).stream()
                                .map(holder -> "[" + Html.json(holder.name()) + "," + holder.bytes() + "]")
                                .collect(Collectors.joining(",", "[", "]")))
                        .collect(Collectors.joining(",", "[", "]"))
                + "}";
    }

    private static int number(final Map<String, Integer> texts, final String text) {
        return texts.computeIfAbsent(text, same -> texts.size());
    }

    /**
     * Formats the times of operations, in microseconds from one to the next: seven bits a byte, the lowest first, and
     * the eighth bit if another byte follows. Nothing if there are no times.
     */
    private static String times(final Picture picture) {
        if (picture.nanos.length == 0) {
            return "";
        }
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream(2 * picture.nanos.length);
        long last = 0;
        for (final long nanos : picture.nanos) {
            final long micros = nanos / MICROSECOND_NANOS;
            long rest = micros - last;
            for (; rest >= MORE; rest >>>= MORE_SHIFT) {
                bytes.write((int) (rest | MORE));
            }
            bytes.write((int) rest);
            last = micros;
        }
        return ",\"times\":\"" + Base64.getEncoder().encodeToString(bytes.toByteArray()) + "\"";
    }

    /** Encodes numbers in base 64, little endian. */
    private static String packed(final int[] numbers) {
        final ByteBuffer bytes = ByteBuffer.allocate(Math.multiplyExact(Integer.BYTES, numbers.length))
                .order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(numbers);
        return Base64.getEncoder().encodeToString(bytes.array());
    }
}
