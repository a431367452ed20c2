package io.outboard.bench.cli.picture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.bench.cli.trace.TraceWriter;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests check the data that the page's script gets. */
class PicturePageTest {

    @TempDir
    private Path folder;

    /** Returns the content of the page's data element. */
    private String dataOf(final Path file, final long regionBytes) throws IOException {
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(file, owners);
        final Path page = folder.resolve("page.html");
        PicturePage.write(
                new Picture(trace, owners, Strategies.named("hal-first-fit"), StrategyOptions.DEFAULTS, regionBytes),
                null,
                page);
        return found("data-kind=\"trace\">(.*?)</script>", Files.readString(page));
    }

    private static String found(final String pattern, final String text) {
        final Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertTrue(matcher.find(), () -> pattern + " in " + text);
        return matcher.group(1);
    }

    private static int[] numbers(final String key, final String data) {
        final byte[] bytes = Base64.getDecoder().decode(found("\"" + key + "\":\"([^\"]*)\"", data));
        final int[] numbers = new int[bytes.length / Integer.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(numbers);
        return numbers;
    }

    /**
     * The page has each name once, and one number for each block, also after an allocation that finds no memory and so
     * makes no block.
     */
    @Test
    void shouldHaveATableOfOwnersAndANumberForEachBlock() throws IOException {
        final Path log = Files.writeString(folder.resolve("rmm.csv"), """
                Thread,Time,Action,Pointer,Size,Stream
                17,1,allocate,0x100000,1024,0x7f00
                18,2,allocate,0x200000,1048576,0x7f00
                </script>,3,allocate,0x300000,1024,0x0
                17,4,free,0x100000,1024,0x0
                ,5,allocate,0x400000,1024,
                17,6,allocate,0x500000,1024,0x7f00
                """);

        final String data = dataOf(log, 1 << 20);

        assertArrayEquals(new int[] {0, 2, 4, 5}, numbers("starts", data));
        assertArrayEquals(new int[] {1, 3, 0, 1}, numbers("owners", data));
        assertEquals(
                "\"\",\"17\",\"0x7f00\",\"18\",\"\\u003c/script\\u003e\",\"0x0\"", found("\"texts\":\\[(.*?)]", data));
        assertArrayEquals(new int[] {0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 2, 0, 0, 4, 5, 0}, numbers("parts", data));
        assertEquals("[]", found("\"stacks\":\\[(.*?)],\"", data));
        assertFalse(data.contains("times"), "the log's times only count");
    }

    /** A stack is the numbers of its frames, and its site is one of them. */
    @Test
    void shouldHaveEachFrameOnce() throws IOException {
        final Path file = folder.resolve("memory_snapshot.pickle");
        try (InputStream in = Objects.requireNonNull(TraceReader.class.getResourceAsStream("torch-2.11.pickle"))) {
            Files.copy(in, file);
        }

        final String data = dataOf(file, 1 << 30);

        final String[] texts = found("\"texts\":\\[(.*?)],\"parts", data).split(",(?=\")", -1);
        assertEquals(texts.length, Set.of(texts).size());
        final int[] parts = numbers("parts", data);
        final int[] owners = numbers("owners", data);
        final int site = Arrays.asList(texts).indexOf("\"train.py:9 run\"");
        final int owner = Arrays.stream(owners)
                .filter(i -> parts[4 * i] == site)
                .findFirst()
                .orElseThrow();
        final String stack = found("\"stacks\":\\[(.*)],\"owners", data).split("],\\[", -1)[parts[4 * owner + 3]];
        assertTrue(List.of(stack.split(",", -1)).contains(Integer.toString(site)), stack);
    }

    /** Times are whole microseconds from one operation to the next, in groups of seven bits. */
    @Test
    void shouldHaveTheTimesOfAllOperations() throws IOException {
        final Path log = Files.writeString(folder.resolve("rmm.csv"), """
                Thread,Time,Action,Pointer,Size,Stream
                17,00:00:01.000000,allocate,0x100000,1024,0x7f00
                17,00:00:01.000127,allocate,0x200000,1024,0x7f00
                17,00:00:01.000255,free,0x100000,1024,0x7f00
                17,00:00:01.016639,free,0x200000,1024,0x7f00
                """);

        final String data = dataOf(log, 1 << 20);

        assertArrayEquals(
                new byte[] {0, 127, (byte) 0x80, 1, (byte) 0x80, (byte) 0x80, 1},
                Base64.getDecoder().decode(found("\"times\":\"([^\"]*)\"", data)));
        assertEquals("1", found("\"peak\":(\\d+)", data));
    }

    @Test
    void shouldHaveNoneWhereTheFileHasNone() throws IOException {
        final Path file = folder.resolve("mid");
        final Trace trace = Profiles.named("mid", 100);
        TraceWriter.writeHpTrace(trace, file);

        assertFalse(dataOf(file, trace.regionBytes()).contains("owner"));
    }
}
