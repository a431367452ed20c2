package io.outboard.bench.kernels.programs.kd;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KdSceneTest {

    private static final int TRIANGLES = 20_000;

    @Test
    void shouldHaveAsManyTrianglesAsAskedFor() {
        for (final int triangles : new int[] {1000, 1001, TRIANGLES, 280_000}) {
            final KdScene scene = KdScene.of(triangles);

            assertEquals(triangles, scene.triangles());
            assertEquals(triangles * KdScene.CORNER_FLOATS, scene.corners().length);
            assertEquals(triangles * KdScene.BOX_FLOATS, scene.boxes().length);
        }
    }

    @Test
    void shouldBeTheSameEachTime() {
        assertArrayEquals(KdScene.of(TRIANGLES).corners(), KdScene.of(TRIANGLES).corners());
    }

    @Test
    void shouldHaveABoxAroundEachTriangle() {
        final KdScene scene = KdScene.of(TRIANGLES);

        for (int i = 0; i < TRIANGLES; i++) {
            for (int axis = 0; axis < KdScene.AXES; axis++) {
                final int at = KdScene.CORNER_FLOATS * i + axis;
                final float a = scene.corners()[at];
                final float b = scene.corners()[at + KdScene.AXES];
                final float c = scene.corners()[at + 2 * KdScene.AXES];
                assertEquals(Math.min(a, Math.min(b, c)), scene.boxes()[KdScene.BOX_FLOATS * i + axis]);
                assertEquals(Math.max(a, Math.max(b, c)), scene.boxes()[KdScene.BOX_FLOATS * i + 4 + axis]);
                assertTrue(scene.bounds()[axis] <= a && a <= scene.bounds()[KdScene.AXES + axis]);
            }
        }
    }

    /** A tree is deep where few places have many triangles. */
    @Test
    void shouldBeClustered() {
        final KdScene scene = KdScene.of(TRIANGLES);
        final int[] cells = new int[100];
        IntStream.range(0, TRIANGLES).forEach(i -> {
            final int column = Math.max(0, Math.min(9, (int) (scene.corners()[KdScene.CORNER_FLOATS * i] / 100)));
            final int row = Math.max(0, Math.min(9, (int) (scene.corners()[KdScene.CORNER_FLOATS * i + 2] / 100)));
            cells[10 * row + column]++;
        });

        assertTrue(IntStream.of(cells).max().orElse(0) > TRIANGLES / 100 * 5);
    }

    @Test
    void shouldRefuseScenesWithoutRoomForAllKindsOfThings() {
        assertThrows(IllegalArgumentException.class, () -> KdScene.of(999));
    }
}
