package io.outboard.bench.cli.picture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.bench.cli.picture.Holders.Holder;
import io.outboard.bench.cli.picture.Holders.Part;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HoldersTest {

    @TempDir
    private Path folder;

    private Picture of(final String... rows) throws IOException {
        final Path log = Files.writeString(
                folder.resolve("log.csv"), "Thread,Time,Action,Pointer,Size,Stream\n" + String.join("\n", rows) + "\n");
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(log, owners);
        return new Picture(trace, owners, Strategies.named("hal-first-fit"), StrategyOptions.DEFAULTS, 1 << 20);
    }

    /** The peak is after the fifth operation; what was freed before, or is allocated later, isn't in it. */
    private Picture picture(final String second) throws IOException {
        return of(
                "1," + second + "1.000000,allocate,0x10,51200,0x7",
                "1," + second + "1.000100,free,0x10,51200,0x7",
                "1," + second + "1.000200,allocate,0x20,1000,0x7",
                "2," + second + "1.000300,allocate,0x30,102400,0x8",
                "1," + second + "1.000400,allocate,0x40,300,0x8",
                "1," + second + "1.000900,free,0x20,1000,0x7",
                "2," + second + "1.001300,free,0x30,102400,0x8",
                "1," + second + "1.001400,free,0x40,300,0x8",
                "3," + second + "1.001500,allocate,0x50,512,0x8");
    }

    @Test
    void shouldGroupWhatIsInUseAtThePeak() throws IOException {
        final Picture picture = picture("00:00:0");

        assertEquals(4, picture.peak);
        assertEquals(1024 + 102_400 + 512, picture.peakBytes);
        assertEquals(Optional.of(Part.THREAD), Holders.part(picture));
        assertEquals(
                List.of(new Holder("2", 102_400, 1, 1e6), new Holder("1", 1536, 2, 1e6)),
                Holders.atPeak(picture, Part.THREAD));
        assertEquals(
                List.of(new Holder("0x8", 102_912, 2, 1e6), new Holder("0x7", 1024, 1, 7e5)),
                Holders.atPeak(picture, Part.STREAM));
        assertEquals(
                List.of(
                        "peak: 101.5KiB in use after operation 4, at 400 us",
                        "    100KiB  99 %       1 blocks, median life 1.0 ms: thread 2",
                        "    1.5KiB   1 %       2 blocks, median life 1.0 ms: thread 1"),
                Holders.lines(picture));
    }

    @Test
    void shouldCountLivesInOperationsWhereTimesOnlyCount() throws IOException {
        assertEquals(
                List.of(new Holder("2", 102_400, 1, 3), new Holder("1", 1536, 2, 3)),
                Holders.atPeak(picture(""), Part.THREAD));
    }

    /** A median of two is the longer one, and a block that isn't freed lives longest. */
    @Test
    void shouldTellOfBlocksThatAreNeverFreed() throws IOException {
        final Picture picture = of(
                ",1,allocate,0x10,1000,",
                ",2,allocate,0x20,1000,",
                ",3,allocate,0x30,9000,",
                ",4,free,0x30,9000,",
                ",5,free,0x10,1000,");

        assertEquals(Optional.empty(), Holders.part(picture));
        assertEquals(List.of("peak: 11KiB in use after operation 2"), Holders.lines(picture));
        final Picture kept = of("1,1,allocate,0x10,1000,", "1,2,allocate,0x20,1000,", "1,3,free,0x10,1000,");
        assertEquals(List.of(new Holder("1", 2048, 2, Double.POSITIVE_INFINITY)), Holders.atPeak(kept, Part.THREAD));
    }

    @Test
    void shouldTellOfTheLargestGroupsOnly() throws IOException {
        final String[] rows = new String[12];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = "t" + i + "," + i + ",allocate,0x" + (i + 1) + "00," + (i + 1) * 256 + ",";
        }
        final List<String> lines = Holders.lines(of(rows));

        assertEquals(12, lines.size());
        assertEquals("      3KiB  15 %       1 blocks, median life to the end: thread t11", lines.get(1));
        assertEquals("           and 2 more", lines.get(11));
    }
}
