package io.outboard.bench.kernels.programs.kd;

import io.outboard.bench.cli.trace.SplitMix64;
import java.util.stream.IntStream;

/**
 * Rays go through a scene, and find the nearest hit of each by a tree, and by all triangles one after the other. Both
 * compute a hit in the same way, in doubles, so the hits are equal unless the tree is wrong. Immutable, so safe for any
 * number of threads.
 */
final class KdRays {

    /** The distance of a ray that hits nothing. */
    static final double MISSED = Double.POSITIVE_INFINITY;

    private static final long SEED = 20140401;

    /** A ray has an origin and a direction of any length. Immutable; the arrays must not be written to. */
    static final class Ray {

        private final double[] origin;
        private final double[] direction;

        Ray(final double[] origin, final double[] direction) {
            this.origin = origin;
            this.direction = direction;
        }

        double[] origin() {
            return origin;
        }

        double[] direction() {
            return direction;
        }
    }

    /**
     * A hit is what a ray hits first: the distance in multiples of the ray's direction, or {@link #MISSED}; and the
     * triangle.
     */
    record Hit(double distance, int triangle) {}

    private final KdScene scene;

    KdRays(final KdScene scene) {
        this.scene = scene;
    }

    /**
     * Returns a ray between two random places within the scene's bounds.
     *
     * @param number the same gives the same ray
     */
    Ray ray(final int number) {
        final SplitMix64 chance = new SplitMix64(SEED + number);
        final float[] bounds = scene.bounds();
        final double[] origin = new double[KdScene.AXES];
        final double[] direction = new double[KdScene.AXES];
        for (int axis = 0; axis < KdScene.AXES; axis++) {
            final double extent = (double) bounds[KdScene.AXES + axis] - bounds[axis];
            origin[axis] = bounds[axis] + chance.unit() * extent;
            direction[axis] = bounds[axis] + chance.unit() * extent - origin[axis];
        }
        return new Ray(origin, direction);
    }

    /**
     * Returns how many rays have their nearest hit at another distance by a tree than by all triangles.
     *
     * @param rays how many are tried
     */
    long mismatches(final KdNodes tree, final int rays) {
        return IntStream.range(0, rays)
                .parallel()
                .filter(i -> nearest(ray(i)) != tree.nearest(ray(i)).distance())
                .count();
    }

    /** Returns the nearest hit's distance, by all triangles. */
    double nearest(final Ray ray) {
        double nearest = MISSED;
        for (int i = 0; i < scene.triangles(); i++) {
            nearest = Math.min(nearest, distance(scene.corners(), i, ray));
        }
        return nearest;
    }

    /** Returns the distance at which a ray meets a triangle (Moeller and Trumbore 1997), or {@link #MISSED}. */
    static double distance(final float[] corners, final int triangle, final Ray ray) {
        final int at = KdScene.CORNER_FLOATS * triangle;
        final double[] o = ray.origin();
        final double[] d = ray.direction();
        final double x1 = (double) corners[at + 3] - corners[at];
        final double y1 = (double) corners[at + 4] - corners[at + 1];
        final double z1 = (double) corners[at + 5] - corners[at + 2];
        final double x2 = (double) corners[at + 6] - corners[at];
        final double y2 = (double) corners[at + 7] - corners[at + 1];
        final double z2 = (double) corners[at + 8] - corners[at + 2];
        final double px = d[1] * z2 - d[2] * y2;
        final double py = d[2] * x2 - d[0] * z2;
        final double pz = d[0] * y2 - d[1] * x2;
        final double determinant = x1 * px + y1 * py + z1 * pz;
        if (determinant == 0) {
            return MISSED;
        }
        final double tx = o[0] - corners[at];
        final double ty = o[1] - corners[at + 1];
        final double tz = o[2] - corners[at + 2];
        final double u = (tx * px + ty * py + tz * pz) / determinant;
        if (!(u >= 0 && u <= 1)) {
            return MISSED;
        }
        final double qx = ty * z1 - tz * y1;
        final double qy = tz * x1 - tx * z1;
        final double qz = tx * y1 - ty * x1;
        final double v = (d[0] * qx + d[1] * qy + d[2] * qz) / determinant;
        if (!(v >= 0 && u + v <= 1)) {
            return MISSED;
        }
        final double distance = (x2 * qx + y2 * qy + z2 * qz) / determinant;
        return distance >= 0 ? distance : MISSED;
    }

    /** Returns the cosine of the angle between a ray and a triangle's normal, 0 to 1. */
    static double facing(final float[] corners, final int triangle, final Ray ray) {
        final int at = KdScene.CORNER_FLOATS * triangle;
        final double[] first = new double[KdScene.AXES];
        final double[] second = new double[KdScene.AXES];
        for (int axis = 0; axis < KdScene.AXES; axis++) {
            first[axis] = (double) corners[at + KdScene.AXES + axis] - corners[at + axis];
            second[axis] = (double) corners[at + 2 * KdScene.AXES + axis] - corners[at + axis];
        }
        double product = 0;
        double normal = 0;
        double length = 0;
        for (int axis = 0; axis < KdScene.AXES; axis++) {
            final int next = (axis + 1) % KdScene.AXES;
            final int last = (axis + 2) % KdScene.AXES;
            final double component = first[next] * second[last] - first[last] * second[next];
            product += component * ray.direction()[axis];
            normal += component * component;
            length += ray.direction()[axis] * ray.direction()[axis];
        }
        return normal == 0 ? 0 : Math.abs(product) / Math.sqrt(normal * length);
    }
}
