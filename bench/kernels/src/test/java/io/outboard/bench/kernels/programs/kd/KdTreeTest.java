package io.outboard.bench.kernels.programs.kd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import java.util.List;
import org.junit.jupiter.api.Test;

class KdTreeTest {

    private static final int PIXELS = 96 * 96;

    private final KdTree program = new KdTree();

    @Test
    void shouldGiveTheHeapSoManyTimesTheRootsList() {
        final List<ProgramCase> cases = program.cases(new Store("CMalloc"), false);

        assertEquals(
                List.of("20k-200x", "20k-20x", "280k-200x", "280k-20x", "2.2M-200x", "2.2M-20x"),
                cases.stream().map(ProgramCase::size).toList());
        assertEquals(
                List.of(16_000_000L, 1_600_000L, 224_000_000L, 22_400_000L, 1_760_000_000L, 176_000_000L),
                cases.stream().map(ProgramCase::heapBytes).toList());
    }

    @Test
    void shouldRunCudasAllocatorInTheSmallSceneOnly() {
        for (final String store : List.of("CudaMalloc", "CudaMalloc-buffered")) {
            assertEquals(
                    List.of("20k-200x"),
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
        for (final String store : List.of("AtomicMalloc", "AWMalloc")) {
            assertEquals(
                    List.of("20k-200x", "280k-200x", "2.2M-200x"),
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
