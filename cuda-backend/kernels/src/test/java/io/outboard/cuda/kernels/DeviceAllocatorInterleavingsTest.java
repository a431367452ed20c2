package io.outboard.cuda.kernels;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests the in-kernel allocators with the accesses of their threads in thousands of orders, each fixed by a
 * seed ({@code interleavings.cpp}), of which each run tries a part: see {@link io.outboard.core.Effort}.
 */
@Tag("thorough")
class DeviceAllocatorInterleavingsTest {

    private static final Path FOLDER = Path.of("target/interleavings");
    private static final long LIMIT_SECONDS = 60;

    private static CpuProgram unchecked;
    private static CpuProgram checked;

    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest
    @EnumSource(names = {"C_MALLOC", "CF_MALLOC", "CM_MALLOC", "CFM_MALLOC"})
    @interface TestOfEachList {}

    @BeforeAll
    static void compile() {
        unchecked = new CpuProgram("interleavings.cpp", FOLDER.resolve("unchecked"), CpuProgram.OPTIMISATION);
        checked = new CpuProgram(
                "interleavings.cpp", FOLDER.resolve("checked"), CpuProgram.OPTIMISATION, "-DOUTBOARD_CHECKED");
    }

    @TestOfEachList
    void shouldKeepBlocksApartAndLoseNothing(final DeviceAllocator allocator) {
        run(unchecked, allocator, "mix", 40_000);
    }

    @TestOfEachList
    void shouldRefuseTheSecondOfTwoFreesAtOnce(final DeviceAllocator allocator) {
        run(checked, allocator, "double-free", 10_000);
    }

    @TestOfEachList
    void shouldFindWhatNobodyElseCanTake(final DeviceAllocator allocator) {
        run(unchecked, allocator, "null", 10_000);
    }

    /** Searches once missed free memory that was joined with the chunk before it. */
    @TestOfEachList
    void shouldFindWhatBecomesPartOfAChunkBeforeIt(final DeviceAllocator allocator) {
        run(unchecked, allocator, "joined", 50_000);
    }

    /** The upper levels once didn't show free memory whose word had been empty for a moment. */
    @TestOfEachList
    void shouldFindWhatIsOpenedInAWordThatBecameEmpty(final DeviceAllocator allocator) {
        run(unchecked, allocator, "emptied", 100_000);
    }

    /**
     * The free memory is in a word whose bit in the level above a thread clears, since the thread uses up what was open
     * there.
     */
    @TestOfEachList
    void shouldFindWhatIsOpenedInAWordThatIsUsedUp(final DeviceAllocator allocator) {
        run(unchecked, allocator, "moved", 100_000);
    }

    /** A single call once found out that thousands of words had been used up, which took 8,000 accesses and more. */
    @TestOfEachList
    void shouldNotNeedMoreAccessesWhileAHeapFills(final DeviceAllocator allocator) {
        run(unchecked, allocator, "fill", 5);
    }

    /** Memory orders are tested: loads may read what was overwritten, unless an acquire forbids it. */
    @TestOfEachList
    void shouldHoldWhereLoadsReadWhatWasOverwritten(final DeviceAllocator allocator) {
        run(unchecked, allocator, "weak-mix", 10_000);
        run(unchecked, allocator, "weak-null", 10_000);
        run(unchecked, allocator, "weak-joined", 20_000);
        run(unchecked, allocator, "weak-emptied", 20_000);
        run(unchecked, allocator, "weak-moved", 20_000);
    }

    /** All threads once waited for a thread that had added too much and not subtracted it again. */
    @ParameterizedTest
    @EnumSource(names = {"ATOMIC_MALLOC", "AW_MALLOC"})
    void shouldNotWaitForAStalledThread(final DeviceAllocator allocator) {
        run(unchecked, allocator, "stalled", 20_000);
    }

    /** A search once came by a chunk's new end before the chunk there could be seen. */
    @ParameterizedTest
    @CsvSource({"C_MALLOC, 151472", "CM_MALLOC, 309718"})
    void shouldPassSeedsThatFailed(final DeviceAllocator allocator, final String seed) {
        unchecked.run(LIMIT_SECONDS, allocator.paperName(), "mix", seed, seed);
    }

    /**
     * A free that joined a block with the one before, which another thread had freed just then, once took it out of
     * sight.
     */
    @ParameterizedTest
    @CsvSource({
        "mix, 20000",
        "null, 5000",
        "joined, 10000",
        "emptied, 10000",
        "moved, 10000",
        "weak-mix, 5000",
        "weak-null, 5000",
        "weak-joined, 5000"
    })
    void shouldHoldWithADoublyLinkedList(final String scenario, final long seeds) {
        unchecked.trySeeds(LIMIT_SECONDS, "DoubleCMalloc", scenario, seeds);
        unchecked.trySeeds(LIMIT_SECONDS, "DoubleCFMMalloc", scenario, seeds);
    }

    @ParameterizedTest
    @ValueSource(strings = {"CMalloc", "CFMMalloc", "DoubleCMalloc", "DoubleCFMMalloc"})
    void shouldJoinFreedBlocksWithADoublyLinkedListAlone(final String allocator) {
        unchecked.trySeeds(LIMIT_SECONDS, allocator, "back", 300);
    }

    private static void run(
            final CpuProgram program, final DeviceAllocator allocator, final String scenario, final long seeds) {
        program.trySeeds(LIMIT_SECONDS, allocator.paperName(), scenario, seeds);
    }
}
