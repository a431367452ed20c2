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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
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
                "\"\",\"thread 17, stream 0x7f00\",\"thread 18, stream 0x7f00\","
                        + "\"thread \\u003c/script\\u003e, stream 0x0\"",
                found("\"ownerNames\":\\[(.*?)]", data));
    }

    @Test
    void shouldHaveNoneWhereTheFileHasNone() throws IOException {
        final Path file = folder.resolve("mid");
        final Trace trace = Profiles.named("mid", 100);
        TraceWriter.writeHpTrace(trace, file);

        assertFalse(dataOf(file, trace.regionBytes()).contains("owner"));
    }
}
