package io.outboard.bench.kernels.programs.kd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KdNodesTest {

    private static final int RAYS = 200;
    private static final KdScene SCENE = KdScene.of(5000);

    @Test
    void shouldFindTheSameHitsAsAllTrianglesOneAfterTheOther() {
        final KdNodes tree = KdBuilder.build(SCENE, 8, 24).tree();
        final KdRays rays = new KdRays(SCENE);
        long hits = 0;
        for (int i = 0; i < RAYS; i++) {
            hits += rays.nearest(rays.ray(i)) == KdRays.MISSED ? 0 : 1;
        }

        assertEquals(0, rays.mismatches(tree, RAYS));
        assertTrue(hits > RAYS / 4, "hits=" + hits);
    }

    @Test
    void shouldFindTheSameHitsAlongTheAxes() {
        final KdNodes tree = KdBuilder.build(SCENE, 8, 24).tree();
        final KdRays rays = new KdRays(SCENE);
        for (int i = 0; i < RAYS; i++) {
            final double[] direction = new double[KdScene.AXES];
            direction[i % KdScene.AXES] = i % 2 == 0 ? 1 : -1;
            final KdRays.Ray ray = new KdRays.Ray(rays.ray(i).origin(), direction);

            assertEquals(rays.nearest(ray), tree.nearest(ray).distance());
        }
    }

    @Test
    void shouldHaveEachTriangleInTheLeavesThatItReachesInto() {
        final KdNodes tree = KdBuilder.build(SCENE, 8, 24).tree();

        assertEquals(0, tree.faults());
        assertTrue(tree.depth() > 10 && tree.depth() <= 24, "depth=" + tree.depth());
        assertTrue(tree.references() >= SCENE.triangles());
        assertEquals(tree.count(), 2 * tree.leaves() - 1);
    }

    @Test
    void shouldTellATriangleThatIsInTheWrongLeaf() {
        final int[] references = new int[SCENE.triangles()];
        Arrays.setAll(references, i -> i);
        final int[] root = {KdNodes.LEAF, references.length, 0, 0};
        assertEquals(0, new KdNodes(SCENE, root, references.clone()).faults());

        references[17] = 16;
        assertEquals(1, new KdNodes(SCENE, root, references.clone()).faults());
        references[17] = references.length;
        assertTrue(new KdNodes(SCENE, root, references).faults() > 0);
    }
}
