package io.outboard.bench.kernels.papers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.CommandRun;
import io.outboard.bench.cli.paper.Paper;
import io.outboard.bench.cli.paper.PaperOutput;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.kernels.programs.ProgramCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PapersTest {

    private static final long HEAP = 2L << 30;

    @TempDir
    private Path folder;

    private final List<String> kernels = new ArrayList<>();
    private final List<String> programs = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {"vinkler", "huang", "springer"})
    void shouldSayOfEachOutputThatItNeedsAGpu(final String name) {
        final CommandRun run = CommandRun.of("paper", name, "--device", "none");

        assertEquals(0, run.exitCode(), run.err());
        for (final PaperOutput output : paper(name).outputs()) {
            assertTrue(
                    run.out().contains(output.name() + ": left out, since it needs a GPU: device=none was asked for"),
                    run.out());
        }
    }

    @Test
    void shouldNameOutputsAfterTheirPapers() {
        final List<String> names = new ArrayList<>();
        for (final Paper paper : Paper.all()) {
            for (final PaperOutput output : paper.outputs()) {
                assertTrue(output.name().startsWith(paper.name() + "/"), output.name());
                names.add(output.name());
            }
        }

        assertEquals(
                List.of("bell", "huang", "springer", "vinkler"),
                Paper.all().stream().map(Paper::name).toList());
        assertEquals(names.size(), new HashSet<>(names).size(), names.toString());
    }

    @Test
    void shouldPutRegistersOverThoseOfNoAllocatorBesideTable1() throws IOException {
        registers("Empty", "no", 14);
        registers("CMalloc", "no", 28);
        registers("CMalloc", "yes", 31);
        kernels.add(kernels.get(1).replace("\"registers\":28", "\"registers\":99,\"linked\":\"yes\""));

        final List<JsonObject> values = values("vinkler");

        assertValue(values, "vinkler/table-1", "CMalloc", "uncoalesced", 18, 14);
        assertValue(values, "vinkler/table-1", "CMalloc", "coalesced", 18, 17);
        assertValue(values, "vinkler/table-1", "Halloc", "coalesced", 56, Double.NaN);
    }

    @Test
    void shouldDrawFiguresOverWhatTheyVary() throws IOException {
        test("ADF", "CMalloc", 30720, 4, 1, HEAP, 10);
        test("ADF", "CMalloc", 30720, 128 << 10, 1, HEAP, 20);
        test("ADF", "CudaMalloc", 30720, 4, 1, HEAP, 5000);
        test("ACD", "CMalloc", 30720, 4, 10, HEAP, 200);
        test("ACD", "CMalloc", 30720, 4, 10, 128 << 10, 150);
        test("ACD", "CMalloc", 30720, 4, 100, HEAP, 1800);
        test("ACD", "CMalloc", 102400, 4, 10, HEAP, 7);
        test("P", "CMalloc", 256, 4, 10, HEAP, 80);
        test("P", "CMalloc", 30720, 4, 10, HEAP, 240);
        registers("CMalloc", "no", 28);

        final List<JsonObject> values = values("vinkler");

        assertValue(values, "vinkler/figure-3a", "CMalloc", "128 KiB", Double.NaN, 20_000);
        assertValue(values, "vinkler/figure-3b", "CMalloc", "128 KiB", Double.NaN, 150_000);
        assertValue(values, "vinkler/figure-3b", "CMalloc", "2.00 GiB", Double.NaN, 200_000);
        assertValue(values, "vinkler/figure-3c", "CMalloc", "100", Double.NaN, 1_800_000);
        assertValue(values, "vinkler/figure-3d", "CMalloc", "30,720", Double.NaN, 240_000);
        assertValue(values, "vinkler/figure-4", "CMalloc", "4 B", Double.NaN, 200_000);
        assertValue(values, "vinkler/table-5", "CMalloc", "variable requests", Double.NaN, 2);
        assertValue(values, "vinkler/table-5", "CMalloc", "successive requests", Double.NaN, 9);
        assertValue(values, "vinkler/table-5", "CMalloc", "scaling", Double.NaN, 3);
        assertValue(values, "vinkler/table-5", "CMalloc", "overall speed", Double.NaN, 500);
        assertEquals(4, value(values, "vinkler/figure-3a", "CMalloc", "4 B").number("x"));
        assertEquals("120", value(values, "vinkler/table-2", "3(a)", "blocks").text("oursText"));
    }

    /** What the authors' code took in the same case stands below ours. */
    @Test
    void shouldShowThePublishedCodesPointsBelowOurs() throws IOException {
        test("ADF", "CFMMalloc", 30720, 16, 1, HEAP, 7);
        kernels.add(kernels.remove(0).replaceFirst("\"name\":\"[^\"]*\"", "\"name\":\"AD fused W30k 16 B\""));

        final List<JsonObject> values = values("vinkler");

        assertValue(values, "vinkler/figure-3a", "CFMMalloc", "16 B", Double.NaN, 7_000);
        assertValue(values, "vinkler/figure-3a", "CFMMalloc, published code", "16 B", Double.NaN, 22_000);
        assertValue(values, "vinkler/figure-3a", "Gallatin, published code", "16 B", Double.NaN, 10_000);
        assertEquals(
                "yes",
                value(values, "vinkler/figure-3a", "Gallatin, published code", "16 B")
                        .text("elsewhere"));
        assertEquals("", value(values, "vinkler/figure-3a", "CFMMalloc", "16 B").text("elsewhere"));
    }

    @Test
    void shouldNotTimeAPointWhereRequestsFailed() throws IOException {
        test("ADF", "CMalloc", 30720, 4, 1, HEAP, 10);
        kernels.add(kernels.remove(0).replace("\"nulls\":0", "\"nulls\":7"));

        final JsonObject point = value(values("vinkler"), "vinkler/figure-3a", "CMalloc", "4 B");

        assertTrue(Double.isNaN(point.number("ours")), point.text("oursText"));
        assertEquals("refused", point.text("oursText"));
    }

    @Test
    void shouldPutScenesBesideThoseOfAboutAsManyTriangles() throws IOException {
        tree("AtomicMalloc", "20k-200x", 20_000, 2);
        tree("CMalloc", "20k-200x", 20_000, 3);
        tree("CMalloc", "90k-200x", 90_000, 3);
        tree("CMalloc", "3.3M-20x", 3_300_000, 30);
        tree("CFMalloc", "3.3M-20x", 3_300_000, 45);
        programs.add(run("kdtree", "CMMalloc", "3.3M-20x", "TIME", "refused", ""));

        final List<JsonObject> values = values("vinkler");

        assertValue(values, "vinkler/table-3", "AtomicMalloc", "Hand Stand", 8.55e6, 2e6);
        assertValue(values, "vinkler/table-3", "CMalloc", "Hand Stand", 1.48, 1.5);
        assertValue(values, "vinkler/table-3", "triangles", "Hand Stand", 20_000, 20_000);
        assertEquals(
                "3.00\u00A0ms",
                value(values, "vinkler/table-3", "CMalloc", "90k-200x").text("oursText"));
        assertValue(values, "vinkler/table-4", "CMalloc", "House 3x3", 0.64 * 4.94e9, 30e6);
        assertValue(values, "vinkler/table-4", "CFMalloc", "House 3x3", 0.65 / 0.64, 1.5);
        assertEquals(
                "refused",
                value(values, "vinkler/table-4", "CMMalloc", "House 3x3").text("oursText"));
    }

    @Test
    void shouldCompareTwoCards() throws IOException {
        test("ADF", "CMalloc", 30720, 4, 1, HEAP, 1);
        final String coalesced = kernels.remove(0).replace("\"coalesced\":\"no\"", "\"coalesced\":\"yes\"");
        kernels.addAll(List.of(coalesced, coalesced));
        test("ADF", "CMalloc", 30720, 4, 1, HEAP, 10);
        write(folder.resolve("this"), "This card");
        kernels.clear();
        kernels.add(coalesced);
        test("ADF", "CMalloc", 30720, 4, 1, HEAP, 25);
        write(folder.resolve("that"), "That card");

        final List<JsonObject> values =
                values("vinkler", "--beside", folder.resolve("that").toString());

        assertValue(values, "vinkler/claim-cards", "CMalloc", "That card over This card", 0.5, 2.5);
    }

    @Test
    void shouldCompareXMallocWithCudasAllocator() throws IOException {
        workers("CudaMalloc", "2 5", "T1M-1", 1, 0, 6000);
        workers("CudaMalloc", "2", "T1M-16", 16, 0, 940);
        workers("CudaMalloc", "2", "T1M-8", 8, 0, 1);
        programs.add(programs.remove(2).replace("\"status\":\"ok\"", "\"status\":\"refused\""));
        workers("CudaMalloc", "2 5 workers", "T1M-32", 32, 0, 960);
        workers("XMalloc", "2 workers", "T1M-32", 32, 0, 24);
        workers("XMalloc", "workers", "T10-32", 32, 0, 500);
        workers("CudaMalloc coalesced", "5", "T1M-32", 32, 0, 32);
        workers("CudaMalloc coalesced", "6", "T100k-1", 1, 0, 6600);
        workers("XMalloc", "6 filled", "T100k-1", 1, 0, 1100);
        workers("XMalloc", "6 filled", "T100k-32", 32, 0, 26);
        workers("CudaMalloc", "filled", "T100k-32", 32, 0, 1040);
        workers("CudaMalloc", "filled", "T100k-32-filled", 32, 131072, 7000);
        workers("XMalloc", "filled", "T100k-32-filled", 32, 131072, 1000);

        final List<JsonObject> values = values("huang");

        assertValue(values, "huang/figure-2", "CudaMalloc", "32", Double.NaN, 960);
        assertValue(values, "huang/figure-2", "CudaMalloc", "best", 900, 940);
        assertValue(values, "huang/figure-2", "XMalloc", "best", 24, 24);
        assertValue(values, "huang/figure-2-workers", "XMalloc", "10", Double.NaN, 500);
        assertValue(values, "huang/figure-5", "CudaMalloc coalesced", "32", Double.NaN, 32);
        assertValue(values, "huang/figure-6", "XMalloc", "32", Double.NaN, 26 * 32);
        assertValue(values, "huang/claim-48-times", "XMalloc over CudaMalloc", "32 a warp", 48, 40);
        assertValue(values, "huang/claim-coalescing", "CudaMalloc coalesced over CudaMalloc", "32 a warp", 50, 30);
        assertValue(values, "huang/claim-16-buffers", "XMalloc over CudaMalloc coalesced", "1 a warp", 5, 6);
        assertValue(values, "huang/claim-filled-heap", "XMalloc over CudaMalloc", "32 a warp, filled", 6, 7);
        assertValue(values, "huang/claim-filled-heap", "XMalloc over CudaMalloc", "32 a warp", Double.NaN, 40);
    }

    /** The root of 15 million requests' squares of 144.3 and 799.8 bytes. */
    @Test
    void shouldSayHowLargeThePapersGreatestRequestCanBe() throws IOException {
        tree("CMalloc", "12.7M-20x", 12_700_000, 400);

        final JsonObject most = value(values("vinkler"), "vinkler/table-4", "greatest", "Powerplant");

        assertEquals("at most 3.00\u00A0MiB", most.text("paperText"));
    }

    /** Results of other commands are shown as far as they are a paper's, but not beside the paper's own values. */
    @Test
    void shouldShowOnOtherPagesWhatIsOfAPaper() throws IOException {
        tree("AtomicMalloc", "20k-200x", 20_000, 2);
        registers("Empty", "no", 14);
        registers("CMalloc", "no", 28);
        write(folder.resolve("this"), "This card");

        assertEquals(
                0, CommandRun.of("report", folder.resolve("this").toString()).exitCode());

        final String page = Files.readString(folder.resolve("this").resolve("report.html"));
        assertEquals(2, page.split("<h3>vinkler/table-1: ", -1).length, "once, though of two files");
        assertTrue(page.contains("<h3>vinkler/table-3: "));
        assertFalse(page.contains("huang/"), "nothing is of it");
        Files.writeString(
                folder.resolve("this").resolve("paper.jsonl"), "{\"output\":\"huang/figure-2\",\"leftOut\":\"x\"}\n");
        assertEquals(
                0, CommandRun.of("report", folder.resolve("this").toString()).exitCode());
        final String own = Files.readString(folder.resolve("this").resolve("report.html"));
        assertTrue(own.contains("<h3>huang/figure-2: ") && !own.contains("<h3>vinkler/table-1: "));
    }

    @Test
    void shouldSayWhereDynaSoarIsntBetter() throws IOException {
        step("wator", "ObjectHeap", 100);
        step("wator", "BitMalloc", 150);
        step("wator", "ObjectHeap paper", 75);
        step("life", "ObjectHeap", 100);
        step("life", "BitMalloc", 80);
        step("nbody", "ObjectHeap", 100);
        step("nbody", "BitMalloc", 300);
        step("nbody", "Aos", 210);
        step("nbody", "Soa", 70);
        programs.add(run("wator", "ObjectHeap", "8", "MEMORY", "ok", ",\"leastHeapOverLive\":1.25"));
        programs.add(run("wator", "BitmapAlloc", "largest", "LARGEST", "ok", ",\"elements\":4000000"));
        step("sugarscape", "Aos", 70);
        step("sugarscape", "Soa", 70);

        final List<JsonObject> values = values("springer");

        final String claim = "springer/claim-always-better";
        assertEquals(
                1.5, value(values, claim, "wator 8, 5 steps", "times faster").number("ours"));
        assertEquals(
                2,
                value(values, claim, "wator 8, 5 steps, ObjectHeap paper", "times faster")
                        .number("ours"));
        assertEquals(
                0.8, value(values, claim, "life 8, 5 steps", "times faster").number("ours"));
        assertEquals(
                3, value(values, claim, "nbody 8, 5 steps", "times faster").number("ours"), "arrays aren't allocators");
        assertEquals(
                "BitMalloc", value(values, claim, "life 8, 5 steps", "than").text("oursText"));
        assertEquals(
                3,
                value(values, "springer/claim-soa", "nbody 8, 5 steps", "times faster")
                        .number("ours"));
        assertEquals(
                1.25,
                value(values, "springer/figure-8-least-heap", "wator 8", "ObjectHeap")
                        .number("ours"));
        assertEquals(
                4e6,
                value(values, "springer/figure-8", "wator largest", "BitmapAlloc")
                        .number("ours"));
        assertEquals(
                80_000,
                value(values, "springer/figure-7-work", "life 8, 5 steps", "BitMalloc")
                        .number("ours"));
        assertEquals(
                160_000,
                value(values, "springer/figure-7", "life 8, 5 steps", "BitMalloc")
                        .number("ours"));
        assertEquals(
                100,
                value(values, "springer/figure-6", "life 8, 5 steps", "live").number("ours"));
        assertEquals(
                300,
                value(values, "springer/figure-6", "life 8, 5 steps", "held").number("ours"));
        assertEquals(
                "> 1",
                value(values, "springer/claim-soa", "nbody 8, 5 steps", "times faster")
                        .text("paperText"));
        assertEquals(
                "1 or less",
                value(values, "springer/claim-soa", "sugarscape 8, 5 steps", "times faster")
                        .text("paperText"));
    }

    @Test
    void shouldTellWhatIsWrongFromWhatIsRefused() throws IOException {
        registers("CMalloc", "no", 28);
        test("ADF", "CMalloc", 30720, 4, 1, HEAP, 10);
        kernels.add(kernels.get(1).replace("\"nulls\":0", "\"nulls\":9"));
        kernels.add(kernels.get(1).replace("\"nulls\":0", "\"mismatches\":2"));
        step("wator", "ObjectHeap", 100);
        programs.add(run("kdtree", "CMMalloc", "3.3M-20x", "TIME", "refused", ",\"refused\":3"));
        programs.add(run("life", "CudaMalloc", "8", "TIME", "hang", ",\"message\":\"not done after 320 s\""));
        kernels.add(
                kernels.get(1).replace("\"status\":\"ok\"", "\"status\":\"hang\",\"message\":\"not done after 20 s\""));
        // Others' code may fail: that is a result.
        kernels.add(kernels.get(3).replace("CMalloc", "Halloc"));
        programs.add(run("life", "mallocMC", "8", "TIME", "crash", ""));
        programs.add(run("wator", "ObjectHeap", "8", "LONG", "ok", ",\"steps\":9,\"checksum\":1"));
        programs.add(run("wator", "BitMalloc", "8", "LONG", "ok", ",\"steps\":9,\"checksum\":2"));

        assertEquals(
                List.of(
                        "CMalloc, ADF 30720 4 1 2147483648: mismatches 2",
                        "CMalloc, ADF 30720 4 1 2147483648: hang: not done after 20 s",
                        "CudaMalloc, life 8: hang: not done after 320 s",
                        "ObjectHeap, wator 8: another run came to another result",
                        "BitMalloc, wator 8: another run came to another result"),
                PaperCases.faults(kernels, programs));
    }

    @Test
    void shouldRunWhatTakesLongOnlyIfAskedTo() {
        final List<ProgramCase> few = SpringerPaper.cases(false);
        final List<ProgramCase> whole = SpringerPaper.cases(true);

        assertTrue(few.stream().anyMatch(work -> work.mode() == ProgramCase.Mode.LARGEST));
        assertTrue(few.stream().anyMatch(work -> work.store().name().equals("ObjectHeap-paper")));
        for (final String store : List.of("ObjectHeap-active", "CMalloc-coalesced")) {
            assertFalse(few.stream().anyMatch(work -> work.store().name().equals(store)), store);
            assertTrue(whole.stream().anyMatch(work -> work.store().name().equals(store)), store);
        }
        assertFalse(few.stream().anyMatch(work -> work.mode() == ProgramCase.Mode.MEMORY));
        assertTrue(whole.stream().anyMatch(work -> work.mode() == ProgramCase.Mode.MEMORY));
        assertFalse(whole.stream().anyMatch(work -> work.mode() == ProgramCase.Mode.LONG));
        for (final String program : List.of("wator", "traffic", "life", "nbody", "collision")) {
            assertEquals(1, timedSizes(few, program), program);
            assertTrue(timedSizes(whole, program) > 1, program);
        }
        assertFalse(whole.stream().anyMatch(work -> work.program().equals("kdtree")));
        assertTrue(
                VinklerPaper.cases(false).stream().anyMatch(work -> work.size().equals("3.3M-20x")));
        assertFalse(
                VinklerPaper.cases(false).stream().anyMatch(work -> work.size().equals("12.7M-20x")));
        assertTrue(
                VinklerPaper.cases(true).stream().anyMatch(work -> work.size().equals("12.7M-20x")));
    }

    private static long timedSizes(final List<ProgramCase> cases, final String program) {
        return cases.stream()
                .filter(work -> work.program().equals(program) && work.mode() == ProgramCase.Mode.TIME)
                .map(ProgramCase::size)
                .distinct()
                .count();
    }

    private static Paper paper(final String name) {
        return Paper.all().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private void registers(final String allocator, final String coalesced, final int count) {
        kernels.add("{\"name\":\"registers\",\"allocator\":\"" + allocator + "\",\"coalesced\":\"" + coalesced
                + "\",\"case\":\"REGISTERS\",\"status\":\"ok\",\"registers\":" + count + "}");
    }

    private void test(
            final String test,
            final String allocator,
            final int threads,
            final int bytes,
            final int iterations,
            final long heapBytes,
            final int microseconds) {
        kernels.add(String.format(
                Locale.ROOT,
                "{\"name\":\"%s %d %d %d %d\",\"allocator\":\"%s\",\"coalesced\":\"no\",\"case\":\"%s\",\"threads\":%d,"
                        + "\"allocatingThreads\":%d,\"leastBytes\":%d,\"mostBytes\":%d,\"iterations\":%d,\"heapBytes\":%d,"
                        + "\"preSplit\":\"default\",\"status\":\"ok\",\"nulls\":0,\"allocateUs\":%d,\"freeUs\":null}",
                test,
                threads,
                bytes,
                iterations,
                heapBytes,
                allocator,
                test,
                threads,
                threads / 32,
                bytes,
                bytes,
                iterations,
                heapBytes,
                microseconds));
    }

    private void tree(final String store, final String size, final int triangles, final int milliseconds) {
        programs.add(run(
                "kdtree", store, size, "TIME", "ok", ",\"triangles\":" + triangles + ",\"buildMs\":" + milliseconds));
    }

    private void workers(
            final String store,
            final String figures,
            final String size,
            final int lanes,
            final int blocksBefore,
            final int ns) {
        programs.add(run(
                "xmalloc",
                store,
                size,
                "TIME",
                "ok",
                ",\"figures\":\"" + figures + "\",\"workers\":"
                        + size.replaceAll("^T|-.*", "").replace("M", "000000").replace("k", "000")
                        + ",\"lanes\":" + lanes + ",\"blocksBefore\":" + blocksBefore + ",\"nsPerRequest\":" + ns
                        + ",\"nsPerWarp\":" + ns * lanes));
    }

    private void step(final String program, final String store, final int microseconds) {
        programs.add(run(
                program,
                store,
                "8",
                "TIME",
                "ok",
                ",\"steps\":5,\"objects\":9,\"liveBytes\":100,\"heldBytes\":300,\"stepUs\":" + 2 * microseconds
                        + ",\"workUs\":" + microseconds));
    }

    private static String run(
            final String program,
            final String store,
            final String size,
            final String mode,
            final String status,
            final String more) {
        return "{\"program\":\"" + program + "\",\"store\":\"" + store + "\",\"size\":\"" + size + "\",\"mode\":\""
                + mode + "\",\"status\":\"" + status + "\"" + more + "}";
    }

    private void write(final Path to, final String gpu) throws IOException {
        Files.createDirectories(to);
        Files.write(to.resolve("kernels.jsonl"), kernels);
        Files.write(to.resolve("programs.jsonl"), programs);
        Files.writeString(to.resolve("environment.json"), "{\"gpu\":\"" + gpu + "\"}\n");
    }

    private List<JsonObject> values(final String paper, final String... options) throws IOException {
        final Path from = folder.resolve("this");
        if (!Files.exists(from)) {
            write(from, "This card");
        }
        final Path out = folder.resolve("out");
        final List<String> words =
                new ArrayList<>(List.of("paper", paper, "--from", from.toString(), "--out", out.toString()));
        words.addAll(List.of(options));
        final CommandRun run = CommandRun.of(words.toArray(String[]::new));
        assertEquals(0, run.exitCode(), run.err());
        final List<JsonObject> values = new ArrayList<>();
        for (final String line : Files.readAllLines(out.resolve("paper.jsonl"))) {
            values.add(JsonReader.read("paper.jsonl", values.size() + 1, line));
        }
        return values;
    }

    private static JsonObject value(
            final List<JsonObject> values, final String output, final String row, final String column) {
        return values.stream()
                .filter(line -> line.text("output").equals(output)
                        && line.text("row").equals(row)
                        && line.text("column").replace('\u00A0', ' ').equals(column))
                .findFirst()
                .orElseThrow(() -> new AssertionError(output + ", " + row + ", " + column + " must be there"));
    }

    private static void assertValue(
            final List<JsonObject> values,
            final String output,
            final String row,
            final String column,
            final double paper,
            final double ours) {
        final JsonObject line = value(values, output, row, column);
        assertClose(paper, line.number("paper"), output);
        assertClose(ours, line.number("ours"), output);
    }

    private static void assertClose(final double expected, final double actual, final String output) {
        if (Double.isNaN(expected)) {
            assertTrue(Double.isNaN(actual), output);
        } else {
            assertEquals(expected, actual, expected * 1e-5, output);
        }
    }
}
