package io.outboard.bench.kernels.programs.kd;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/**
 * A k-d tree as a kernel copies it has numbered nodes: the first is the root, and each node stands before those below
 * it. Immutable, so safe for any number of threads; the arrays must not be written to.
 *
 * <p>Each node is four ints: the axis, or {@value #LEAF} for a leaf; the bits of the plane, or how many references a
 * leaf has; the number of the first of both children, which stand side by side, or of the first reference; and one
 * unused.
 */
final class KdNodes {

    /** The value in place of an axis that marks a leaf. */
    static final int LEAF = 3;

    static final int NODE_INTS = 4;

    /** A bound that no tree's depth exceeds. */
    private static final int MOST_DEPTH = 128;

    /**
     * The share of the scene's extent by which a cell counts as larger where a ray passes it, which is more than
     * rounding errors.
     */
    private static final double SLACK = 1e-6;

    private final KdScene scene;
    private final int[] nodes;
    private final int[] references;
    private final double slack;

    /**
     * Makes a tree.
     *
     * @param scene what it is of
     * @param nodes [nodes x {@value #NODE_INTS}]
     * @param references triangles, of all leaves
     */
    KdNodes(final KdScene scene, final int[] nodes, final int[] references) {
        this.scene = scene;
        this.nodes = nodes;
        this.references = references;
        double extent = 0;
        for (int axis = 0; axis < KdScene.AXES; axis++) {
            extent = Math.max(extent, (double) scene.bounds()[KdScene.AXES + axis] - scene.bounds()[axis]);
        }
        slack = SLACK * extent;
    }

    int count() {
        return nodes.length / NODE_INTS;
    }

    int references() {
        return references.length;
    }

    int leaves() {
        return (count() + 1) / 2;
    }

    /** Returns the depth of the deepest leaf; 0 for a tree that is one leaf. */
    int depth() {
        final int[] depths = new int[count()];
        int deepest = 0;
        for (int i = 0; i < count(); i++) {
            deepest = Math.max(deepest, depths[i]);
            if (axis(i) != LEAF) {
                depths[first(i)] = depths[i] + 1;
                depths[first(i) + 1] = depths[i] + 1;
            }
        }
        return deepest;
    }

    /** Returns how many leaves don't have exactly the triangles whose boxes reach into them, by the planes above. */
    long faults() {
        final AtomicIntegerArray missing = new AtomicIntegerArray(count());
        final AtomicLongArray sums = new AtomicLongArray(count());
        long faults = 0;
        for (int node = 0; node < count(); node++) {
            if (axis(node) == LEAF) {
                missing.set(node, -value(node));
                for (int i = first(node); i < first(node) + value(node); i++) {
                    if (i < 0 || i >= references.length || !isTriangle(references[i])) {
                        faults++;
                        break;
                    }
                    sums.set(node, sums.get(node) - mixed(references[i]));
                }
            }
        }
        IntStream.range(0, scene.triangles()).parallel().forEach(triangle -> find(triangle, missing, sums));
        for (int node = 0; node < count(); node++) {
            if (missing.get(node) != 0 || sums.get(node) != 0) {
                faults++;
            }
        }
        return faults;
    }

    /** Adds a triangle to all leaves into which it reaches. */
    private void find(final int triangle, final AtomicIntegerArray missing, final AtomicLongArray sums) {
        final int[] stack = new int[MOST_DEPTH];
        int height = 1;
        while (height > 0) {
            final int node = stack[--height];
            final int axis = axis(node);
            if (axis == LEAF) {
                missing.incrementAndGet(node);
                sums.addAndGet(node, mixed(triangle));
                continue;
            }
            final int box = KdScene.BOX_FLOATS * triangle + axis;
            final float from = scene.boxes()[box];
            final float to = scene.boxes()[box + KdScene.BOX_FLOATS / 2];
            if (isLeft(from, to, plane(node))) {
                stack[height++] = first(node);
            }
            if (isRight(to, plane(node))) {
                stack[height++] = first(node) + 1;
            }
        }
    }

    /** Returns whether a triangle goes to the left child: {@code isLeft} in {@code kd_split.cuh}. */
    static boolean isLeft(final float from, final float to, final float plane) {
        return from < plane || to <= plane;
    }

    /** Returns whether a triangle goes to the right child. */
    static boolean isRight(final float to, final float plane) {
        return to > plane;
    }

    /** Returns what a ray hits first; {@link KdRays#MISSED} and -1 if nothing. */
    KdRays.Hit nearest(final KdRays.Ray ray) {
        final Walk walk = new Walk(ray);
        walk.visit(0, 0, KdRays.MISSED);
        return new KdRays.Hit(walk.nearest, walk.triangle);
    }

    /** A walk is the way of one ray through the tree. Confined to one thread. */
    private final class Walk {

        private final KdRays.Ray ray;
        private double nearest = KdRays.MISSED;
        private int triangle = -1;

        Walk(final KdRays.Ray ray) {
            this.ray = ray;
        }

        /** Visits a node whose cell the ray passes between two distances. */
        void visit(final int node, final double from, final double to) {
            if (from > to || from > nearest) {
                return;
            }
            final int axis = axis(node);
            if (axis == LEAF) {
                for (int i = first(node); i < first(node) + value(node); i++) {
                    final double distance = KdRays.distance(scene.corners(), references[i], ray);
                    if (distance < nearest) {
                        nearest = distance;
                        triangle = references[i];
                    }
                }
                return;
            }
            final double origin = ray.origin()[axis];
            final double direction = ray.direction()[axis];
            final double plane = plane(node);
            final int left = first(node);
            if (direction == 0) {
                if (origin <= plane + slack) {
                    visit(left, from, to);
                }
                if (origin >= plane - slack) {
                    visit(left + 1, from, to);
                }
            } else if (direction > 0) {
                visit(left, from, Math.min(to, (plane + slack - origin) / direction));
                visit(left + 1, Math.max(from, (plane - slack - origin) / direction), to);
            } else {
                visit(left + 1, from, Math.min(to, (plane - slack - origin) / direction));
                visit(left, Math.max(from, (plane + slack - origin) / direction), to);
            }
        }
    }

    private int axis(final int node) {
        return nodes[NODE_INTS * node];
    }

    private int value(final int node) {
        return nodes[NODE_INTS * node + 1];
    }

    private float plane(final int node) {
        return Float.intBitsToFloat(value(node));
    }

    private int first(final int node) {
        return nodes[NODE_INTS * node + 2];
    }

    private boolean isTriangle(final int reference) {
        return reference >= 0 && reference < scene.triangles();
    }

    /** Mixes a triangle's bits, so that sums over different triangles differ. */
    private static long mixed(final int triangle) {
        final long bits = (triangle + 1) * 0x9E3779B97F4A7C15L;
        return (bits ^ (bits >>> 29)) * 0xBF58476D1CE4E5B9L;
    }
}
