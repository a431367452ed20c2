package io.outboard.bench.kernels.programs.kd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KdTreeTest {

    private static final int PIXELS = 96 * 96;

    private final KdTree program = new KdTree();

    @Test
    void shouldGiveTheHeapSoManyTimesTheRootsList() {
        final List<ProgramCase> cases = program.cases(new Store("CMalloc"), false);

        assertEquals(
                List.of(
                        "20k-200x",
                        "80k-200x",
                        "280k-200x",
                        "870k-200x",
                        "2.2M-200x",
                        "280k-20x",
                        "2.2M-20x",
                        "3.3M-20x",
                        "7.2M-20x",
                        "12.7M-20x"),
                cases.stream().map(ProgramCase::size).toList());
        assertEquals(16_000_000L, cases.get(0).heapBytes());
        assertEquals(1_016_000_000L, cases.get(9).heapBytes());
    }

    /**
     * Vinkler and Havran (2014), section 7: with 200 times the root, scenes of up to 336 thousand triangles have less
     * than 256 MiB.
     */
    @Test
    void shouldTakeAsManyBytesForTheRootAsThePaper() {
        final long heapBytes = program.cases(new Store("CMalloc"), false).get(0).heapBytes();

        assertEquals(256L << 20, heapBytes / 20_000.0 * 336_000, 1e6);
    }

    /** The paper's scenes have 0.9 to 5.2 requests a triangle and 32 to 55 times the bytes of the root's list in all. */
    @Test
    void shouldAskForAsMuchAsThePaper() {
        final int triangles = 40_000;
        final KdDevice.Tally tally = KdBuilder.build(
                        KdScene.of(triangles), KdDevice.LEAF_REFERENCES, KdDevice.mostDepth(triangles))
                .requests();

        assertTrue(tally.requests() > 0.9 * triangles && tally.requests() < 5.2 * triangles, tally.toString());
        assertTrue(tally.bytes() > 32 * 4L * triangles && tally.bytes() < 55 * 4L * triangles, tally.toString());
        assertTrue(tally.meanBytes() > 40 && tally.meanBytes() < 168, tally.toString());
        assertTrue(tally.deviationBytes() > 335 && tally.deviationBytes() < 990, tally.toString());
    }

    @Test
    void shouldRunCudasAllocatorInSmallScenesOnly() {
        for (final String store : List.of("CudaMalloc", "CudaMalloc-buffered", "CudaMalloc-arena")) {
            assertEquals(
                    List.of("20k-200x", "80k-200x", "280k-200x"),
                    program.cases(new Store(store), false).stream()
                            .map(ProgramCase::size)
                            .toList());
        }
    }

    @Test
    void shouldAddUpWhatIsLeftUnlessItCannotBeTold() {
        final KdDevice.Leftover some = new KdDevice.Leftover(1L, 2L);

        assertEquals(new KdDevice.Leftover(4L, 2L), some.and(new KdDevice.Leftover(3L, 0L)));
        assertEquals(new KdDevice.Leftover(null, null), some.and(new KdDevice.Leftover(null, null)));
    }

    @Test
    void shouldRunWhatNeverFreesInTheLargerHeapOnly() {
        for (final String store : List.of("AtomicMalloc", "AWMalloc", "BitMalloc-arena")) {
            assertEquals(
                    List.of("20k-200x", "80k-200x", "280k-200x", "870k-200x", "2.2M-200x"),
                    program.cases(new Store(store), false).stream()
                            .map(ProgramCase::size)
                            .toList());
        }
    }

    @Test
    void shouldBeShortWhenAskedTo() {
        for (final Store store : program.stores()) {
            final List<ProgramCase> cases = program.cases(store, true);

            assertEquals(1, cases.size());
            assertEquals("20k-200x", cases.get(0).size());
            assertEquals(1, cases.get(0).steps());
            assertEquals(cases.get(0), ProgramCase.parse(cases.get(0).line()));
        }
    }

    /** A scene of millions takes seconds to make. */
    @Test
    void shouldRunAllStoresOfASceneTogether() {
        final List<String> scenes = program.cases(false).stream()
                .map(work -> work.size().replaceAll("-.*", ""))
                .toList();

        final List<String> runs = new ArrayList<>();
        for (final String scene : scenes) {
            if (runs.isEmpty() || !runs.get(runs.size() - 1).equals(scene)) {
                runs.add(scene);
            }
        }
        assertEquals(List.of("20k", "80k", "280k", "870k", "2.2M", "3.3M", "7.2M", "12.7M"), runs);
    }

    @Test
    void shouldDrawThingsOfDifferentShades() {
        final KdScene scene = KdScene.of(5000);

        final byte[] picture =
                KdTree.picture(scene, KdBuilder.build(scene, 8, 24).tree());

        assertEquals(PIXELS, picture.length);
        final boolean[] shades = new boolean[256];
        int different = 0;
        for (final byte pixel : picture) {
            different += shades[pixel & 0xFF] ? 0 : 1;
            shades[pixel & 0xFF] = true;
        }
        assertTrue(different > 50, "different=" + different);
    }
}
