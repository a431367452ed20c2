package io.outboard.bench.kernels.programs.kd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The class builds the same tree as the kernel, by one thread of a CPU; {@code kd_split.cuh} states the rule. Confined
 * to one thread.
 */
final class KdBuilder {

    private static final int BINS = 32;
    private static final float TRAVERSAL = 1.5f;
    private static final float EMPTY_BONUS = 0.8f;

    private static final class Node {

        private final int number;
        private final int[] list;
        private final float[] box;
        private final int depth;

        Node(final int number, final int[] list, final float[] box, final int depth) {
            this.number = number;
            this.list = list;
            this.box = box;
            this.depth = depth;
        }
    }

    private record Split(int axis, float plane, int left, int right) {}

    private final KdScene scene;
    private final int leafReferences;
    private final int mostDepth;
    private final List<int[]> nodes = new ArrayList<>();
    private final List<int[]> lists = new ArrayList<>();
    private int references;
    private long requests;
    private long bytes;
    private double squares;

    private KdBuilder(final KdScene scene, final int leafReferences, final int mostDepth) {
        this.scene = scene;
        this.leafReferences = leafReferences;
        this.mostDepth = mostDepth;
    }

    static KdBuilder build(final KdScene scene, final int leafReferences, final int mostDepth) {
        final KdBuilder builder = new KdBuilder(scene, leafReferences, mostDepth);
        builder.build();
        return builder;
    }

    KdNodes tree() {
        final int[] all = nodes.stream().flatMapToInt(Arrays::stream).toArray();
        return new KdNodes(
                scene, all, lists.stream().flatMapToInt(Arrays::stream).toArray());
    }

    /** Returns what the heap is asked for. */
    KdDevice.Tally requests() {
        return new KdDevice.Tally(requests, bytes, (long) squares, 0, 0);
    }

    private void build() {
        final int[] all = new int[scene.triangles()];
        Arrays.setAll(all, i -> i);
        final List<Node> waiting = new ArrayList<>();
        nodes.add(new int[KdNodes.NODE_INTS]);
        waiting.add(new Node(0, all, scene.bounds(), 0));
        while (!waiting.isEmpty()) {
            final Node node = waiting.remove(waiting.size() - 1);
            final boolean isTask = node.list.length > leafReferences && node.depth < mostDepth;
            final Split split = isTask ? choose(node) : new Split(KdNodes.LEAF, 0, 0, 0);
            if (split.axis == KdNodes.LEAF) {
                nodes.set(node.number, new int[] {KdNodes.LEAF, node.list.length, references, 0});
                lists.add(node.list);
                references += node.list.length;
                continue;
            }
            final int first = nodes.size();
            nodes.set(node.number, new int[] {split.axis, Float.floatToRawIntBits(split.plane), first, 0});
            nodes.add(new int[0]);
            nodes.add(new int[0]);
            countList(split.left);
            countList(split.right);
            waiting.add(child(node, split, first, true));
            waiting.add(child(node, split, first + 1, false));
        }
    }

    private void countList(final int length) {
        if (length > 0 && length <= KdDevice.MOST_REFERENCES) {
            requests++;
            bytes += 4L * length;
            squares += 16.0 * length * length;
        }
    }

    private Node child(final Node node, final Split split, final int number, final boolean isLeft) {
        final int[] list = Arrays.stream(node.list)
                .filter(triangle -> isLeft
                        ? KdNodes.isLeft(from(triangle, split.axis), to(triangle, split.axis), split.plane)
                        : KdNodes.isRight(to(triangle, split.axis), split.plane))
                .toArray();
        if (list.length != (isLeft ? split.left : split.right)) {
            throw new AssertionError("counted=" + split + " must be what there is: " + list.length);
        }
        final float[] box = node.box.clone();
        box[isLeft ? KdScene.AXES + split.axis : split.axis] = split.plane;
        return new Node(number, list, box, node.depth + 1);
    }

    private Split choose(final Node node) {
        final float[] box = node.box;
        final float[] extents = {box[3] - box[0], box[4] - box[1], box[5] - box[2]};
        final float area = extents[0] * extents[1] + extents[1] * extents[2] + extents[2] * extents[0];
        float least = node.list.length * area;
        Split best = new Split(KdNodes.LEAF, 0, 0, 0);
        for (int axis = 0; axis < KdScene.AXES; axis++) {
            final float lo = box[axis];
            final float hi = box[KdScene.AXES + axis];
            final float width = (hi - lo) / BINS;
            final int[] starts = new int[BINS + 1];
            final int[] ends = new int[BINS + 1];
            for (final int triangle : node.list) {
                final float from = from(triangle, axis);
                final float to = to(triangle, axis);
                final int end = before(lo, width, to, false);
                starts[1 + (from == to ? end : before(lo, width, from, true))]++;
                ends[1 + end]++;
            }
            Arrays.parallelPrefix(starts, Integer::sum);
            Arrays.parallelPrefix(ends, Integer::sum);
            final float one = extents[(axis + 1) % KdScene.AXES];
            final float other = extents[(axis + 2) % KdScene.AXES];
            for (int i = 1; i < BINS; i++) {
                final float plane = lo + i * width;
                final int left = starts[i];
                final int right = node.list.length - ends[i];
                final float ofLeft = left * (one * other + (plane - lo) * (one + other));
                final float ofRight = right * (one * other + (hi - plane) * (one + other));
                final float both = left == 0 || right == 0 ? EMPTY_BONUS * (ofLeft + ofRight) : ofLeft + ofRight;
                final float cost = TRAVERSAL * area + both;
                if (plane > lo && plane < hi && cost < least) {
                    least = cost;
                    best = new Split(axis, plane, left, right);
                }
            }
        }
        return best;
    }

    /** Returns how many planes are less than a value, or not greater. */
    private static int before(final float lo, final float width, final float value, final boolean orAt) {
        int number = 0;
        while (number < BINS - 1) {
            final float plane = lo + (number + 1) * width;
            if (orAt ? plane > value : plane >= value) {
                break;
            }
            number++;
        }
        return number;
    }

    private float from(final int triangle, final int axis) {
        return scene.boxes()[KdScene.BOX_FLOATS * triangle + axis];
    }

    private float to(final int triangle, final int axis) {
        return scene.boxes()[KdScene.BOX_FLOATS * triangle + KdScene.BOX_FLOATS / 2 + axis];
    }
}
