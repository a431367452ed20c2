package io.outboard.cuda.kernels;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.core.Effort;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests BitMalloc, for one thread and for the threads of a warp that come together, with the accesses of its
 * threads in thousands of orders, each fixed by a seed ({@code bit_interleavings.cpp}), of which each run tries a part:
 * see {@link io.outboard.core.Effort}.
 */
@Tag("thorough")
class BitMallocInterleavingsTest {

    private static final Path FOLDER = Path.of("target/bit-interleavings");
    private static final String WARPS = "warps";
    /** The limit of scenarios that take up to 35 seconds where nothing else runs. */
    private static final long LIMIT_SECONDS = 240;

    private static CpuProgram unchecked;
    private static CpuProgram checked;

    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest
    @ValueSource(strings = {"alone", WARPS})
    @interface TestOfBoth {}

    @BeforeAll
    static void compile() {
        unchecked = new CpuProgram("bit_interleavings.cpp", FOLDER.resolve("unchecked"), CpuProgram.OPTIMISATION);
        checked = new CpuProgram(
                "bit_interleavings.cpp", FOLDER.resolve("checked"), CpuProgram.OPTIMISATION, "-DOUTBOARD_CHECKED");
    }

    @TestOfBoth
    void shouldKeepBlocksApartAndLoseNothing(final String threads) {
        run(unchecked, threads, "mix", 1_500, 300);
    }

    @TestOfBoth
    void shouldAlign(final String threads) {
        run(unchecked, threads, "aligned", 700, 150);
        run(checked, threads, "aligned", 500, 100);
    }

    @TestOfBoth
    void shouldFindWhatIsFreeWhenAllIsQuiet(final String threads) {
        run(unchecked, threads, "null", 1_000, 400);
    }

    /** The search finds blocks over the ends of words and hints, and behind tails, wherever it begins. */
    @TestOfBoth
    void shouldFindWhatIsThere(final String threads) {
        run(unchecked, threads, "pattern", 20_000, 2_000);
    }

    /**
     * A block that one search missed because it was freed meanwhile is found by the next search, so such requests
     * aren't refused for good.
     */
    @TestOfBoth
    void shouldNotRefuseForGoodWhatIsFreedBesideASearch(final String threads) {
        run(unchecked, threads, "hopeless", 10_000, 1_000);
    }

    @TestOfBoth
    void shouldNotTakeALostRowForNone(final String threads) {
        run(unchecked, threads, "rows", 2_500, 250);
    }

    /** A search doesn't miss a full word that another search promotes to the level above at the same time. */
    @Test
    void shouldNotMissWhatAnotherSearchPromotes() {
        unchecked.run(LIMIT_SECONDS, "alone", "promoted", "24401", "24600");
    }

    /** Loads may read what has been overwritten, unless an acquire forbids it. */
    @ParameterizedTest
    @CsvSource({"mix, 3000", "null, 3000", "hopeless, 5000", "rows, 2000"})
    void shouldHoldInAWeakMemory(final String scenario, final long seeds) {
        unchecked.trySeeds(LIMIT_SECONDS, "alone", "weak-" + scenario, seeds);
    }

    @TestOfBoth
    void shouldEndThoughOthersNeverDo(final String threads) {
        run(unchecked, threads, "bound", 500, 100);
    }

    /**
     * Long-lived blocks lie beside short-lived ones. Formerly all granules were divided in the end, and lists were
     * refused though most of the heap was free.
     */
    @ParameterizedTest
    @CsvSource({"0, small, 3, 6", "1, large, 1, 1", "2, apart, 1, 20"})
    void shouldServeWhatIsLargeInAHeapThatIsMostlyFree(
            final int index, final String scenario, final long first, final long last) {
        assumeTrue(Effort.isInTurn(index, 3), "skipped, one of three for seconds; -Plong has all");
        final Effort.Seeds part = Effort.seeds(last - first + 1);
        new CpuProgram("trees.cpp", FOLDER.resolve("trees-" + scenario), "-O2")
                .run(
                        LIMIT_SECONDS * Effort.times(),
                        WARPS,
                        scenario,
                        Long.toString(first - 1 + part.first()),
                        Long.toString(first - 1 + part.last()));
    }

    @Test
    void shouldSearchOnceForWhatIsNotThere() {
        unchecked.trySeeds(LIMIT_SECONDS, "alone", "comb", 3);
    }

    /** A refusal is remembered, even if it was noted for another size. */
    @TestOfBoth
    void shouldNotSearchAgainForWhatWasRefused(final String threads) {
        run(unchecked, threads, "refused", 300, 100);
    }

    @TestOfBoth
    void shouldRefuseTheSecondOfTwoFreesAtOnce(final String threads) {
        run(checked, threads, "double-free", 500, 200);
    }

    @TestOfBoth
    void shouldCountWhatIsNoBlock(final String threads) {
        run(unchecked, threads, "misuse", 1_000, 250);
        run(checked, threads, "misuse", 1_000, 250);
    }

    /**
     * The seeds showed bugs that were fixed, in this order: units of a claim that didn't exist; a search that hid a
     * hint for a moment; a search that ended early and noted that nothing was there; a lost row; a block over the end
     * of a granule; a thread refused for what others wanted; the rest of a granule that nobody was told of; a word that
     * stayed whole out of sight, twice; a null after words had been promoted. The last was the test's own: another slot
     * guessed between the calls that the test counted. Where accesses have changed since, these seeds are like any
     * others.
     */
    @ParameterizedTest
    @CsvSource({
        "alone, mix, 1491",
        "alone, hopeless, 6981",
        "alone, hopeless, 1039445",
        "alone, rows, 7843",
        "warps, mix, 21",
        "warps, null, 7475",
        "warps, bound, 4902",
        "alone, weak-null, 119",
        "alone, weak-mix, 5",
        "warps, rows, 1",
        "alone, refused, 3102"
    })
    void shouldPassSeedsThatFailed(final String threads, final String scenario, final String seed) {
        unchecked.run(LIMIT_SECONDS, threads, scenario, seed, seed);
        checked.run(LIMIT_SECONDS, threads, scenario, seed, seed);
    }

    /** Tries seeds, fewer for warps, since the threads of a warp wait for each other on fibers, which takes long. */
    private static void run(
            final CpuProgram program,
            final String threads,
            final String scenario,
            final long seeds,
            final long warpsSeeds) {
        program.trySeeds(LIMIT_SECONDS, threads, scenario, threads.equals(WARPS) ? warpsSeeds : seeds);
    }
}
