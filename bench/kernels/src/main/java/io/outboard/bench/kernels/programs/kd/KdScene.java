package io.outboard.bench.kernels.programs.kd;

import io.outboard.bench.cli.trace.SplitMix64;

/**
 * A scene has triangles to build a k-d tree over: rolling terrain, and on it spheres of many triangles, towns of boxes,
 * whose sides are parallel to the axes, and small triangles in heaps. So a few places have many triangles, and flat
 * boxes are among them. Immutable once made, so safe for any number of threads; the arrays must not be written to.
 *
 * <p>The same number of triangles gives the same scene on every machine.
 */
final class KdScene {

    /** The floats of a triangle: three corners with x, y and z each. */
    static final int CORNER_FLOATS = 9;

    /** The floats of a box: the least x, y and z, one unused, then the greatest ones, and one unused. */
    static final int BOX_FLOATS = 8;

    static final int AXES = 3;

    /** The terrain's extent from 0 on x and z. */
    private static final double SIDE = 1000;

    private static final int TOWNS = 5;
    private static final int LEAST_SPHERES = 8;
    private static final double TERRAIN_SHARE = 0.35;
    private static final double SPHERES_SHARE = 0.5;
    private static final double BOXES_SHARE = 0.08;
    private static final int BOX_TRIANGLES = 12;
    /** The corners of a box by number: bits 0 to 2 say which end of x, y and z; two triangles for each side. */
    private static final int[] BOX_CORNERS = {
        0, 2, 4, 2, 6, 4, 1, 5, 3, 3, 5, 7, 0, 4, 1, 1, 4, 5, 2, 3, 6, 3, 7, 6, 0, 1, 2, 1, 3, 2, 4, 6, 5, 5, 6, 7
    };

    private final int triangles;
    private final float[] corners;
    private final float[] boxes;
    private final float[] bounds;
    private final SplitMix64 chance;
    private int made;

    private KdScene(final int triangles) {
        this.triangles = triangles;
        corners = new float[CORNER_FLOATS * triangles];
        boxes = new float[BOX_FLOATS * triangles];
        bounds = new float[2 * AXES];
        chance = new SplitMix64(triangles);
    }

    /**
     * Makes a scene.
     *
     * @param triangles how many, 1000 or more
     */
    static KdScene of(final int triangles) {
        if (triangles < 1000) {
            throw new IllegalArgumentException("triangles=" + triangles + " must be >= 1000");
        }
        final KdScene scene = new KdScene(triangles);
        scene.addTerrain((int) Math.sqrt(triangles * TERRAIN_SHARE / 2));
        final int spheres = Math.max(LEAST_SPHERES, (int) Math.cbrt(triangles) / 2);
        final int stacks = (int) Math.sqrt(triangles * SPHERES_SHARE / spheres / 4);
        for (int i = 0; i < spheres; i++) {
            scene.addSphere(stacks);
        }
        scene.addTowns((int) (triangles * BOXES_SHARE / BOX_TRIANGLES));
        scene.addHeaps();
        scene.bound();
        return scene;
    }

    int triangles() {
        return triangles;
    }

    /** Returns the corners, [triangles x {@value #CORNER_FLOATS}]. */
    float[] corners() {
        return corners;
    }

    /** Returns the box around each triangle, [triangles x {@value #BOX_FLOATS}]. */
    float[] boxes() {
        return boxes;
    }

    /** Returns the box around all triangles: the least x, y and z, then the greatest. */
    float[] bounds() {
        return bounds;
    }

    /**
     * Returns the height of the ground: octaves of waves, with less height in the higher octaves, which no grid of
     * triangles repeats.
     */
    private static double ground(final double x, final double z) {
        double height = 0;
        double wave = 0.011;
        double most = 40;
        for (int octave = 0; octave < 5; octave++) {
            height += most * StrictMath.sin(x * wave + 1.7 * octave) * StrictMath.cos(z * wave * 1.13 - 0.6 * octave);
            wave *= 2.3;
            most *= 0.42;
        }
        return height;
    }

    private void addTerrain(final int cells) {
        final double step = SIDE / cells;
        for (int row = 0; row < cells; row++) {
            for (int column = 0; column < cells; column++) {
                final double[] a = onGround(column * step, row * step);
                final double[] b = onGround((column + 1) * step, row * step);
                final double[] c = onGround(column * step, (row + 1) * step);
                final double[] d = onGround((column + 1) * step, (row + 1) * step);
                add(a, b, c);
                add(b, d, c);
            }
        }
    }

    private static double[] onGround(final double x, final double z) {
        return new double[] {x, ground(x, z), z};
    }

    /** Adds a sphere, more often in one corner of the terrain than elsewhere; radii differ by a factor of some tens. */
    private void addSphere(final int stacks) {
        final double x = SIDE * chance.unit() * chance.unit();
        final double z = SIDE * chance.unit() * chance.unit();
        final double radius = 2 + 50 * StrictMath.pow(chance.unit(), 3);
        final double y = ground(x, z) + radius * chance.unit();
        final int slices = 2 * stacks;
        for (int stack = 0; stack < stacks; stack++) {
            for (int slice = 0; slice < slices; slice++) {
                final double[] a = onSphere(x, y, z, radius, Math.PI * stack / stacks, Math.PI * slice / stacks);
                final double[] b = onSphere(x, y, z, radius, Math.PI * (stack + 1) / stacks, Math.PI * slice / stacks);
                final double[] c = onSphere(x, y, z, radius, Math.PI * stack / stacks, Math.PI * (slice + 1) / stacks);
                final double[] d =
                        onSphere(x, y, z, radius, Math.PI * (stack + 1) / stacks, Math.PI * (slice + 1) / stacks);
                // At a pole, one of the two triangles would be a line.
                if (stack > 0) {
                    add(a, b, c);
                }
                if (stack < stacks - 1) {
                    add(b, d, c);
                }
            }
        }
    }

    private static double[] onSphere(
            final double x,
            final double y,
            final double z,
            final double radius,
            final double latitude,
            final double longitude) {
        final double ring = radius * StrictMath.sin(latitude);
        return new double[] {
            x + ring * StrictMath.cos(longitude),
            y + radius * StrictMath.cos(latitude),
            z + ring * StrictMath.sin(longitude)
        };
    }

    private void addTowns(final int houses) {
        for (int i = 0; i < houses; i++) {
            final int town = i % TOWNS;
            final double x = SIDE * (0.15 + 0.17 * town) + 60 * around();
            final double z = SIDE * (0.8 - 0.11 * town) + 60 * around();
            final double width = 0.5 + 4 * chance.unit();
            final double height = 1 + 20 * chance.unit() * chance.unit();
            final double depth = 0.5 + 4 * chance.unit();
            final double y = ground(x, z) - 1;
            for (int corner = 0; corner < BOX_CORNERS.length; corner += AXES) {
                final double[][] points = new double[AXES][];
                for (int j = 0; j < AXES; j++) {
                    final int bits = BOX_CORNERS[corner + j];
                    points[j] = new double[] {
                        x + (bits & 1) * width, y + (bits >> 1 & 1) * height, z + (bits >> 2 & 1) * depth
                    };
                }
                add(points[0], points[1], points[2]);
            }
        }
    }

    /** Adds as many small triangles as are missing, in ten places. */
    private void addHeaps() {
        while (made < triangles) {
            final int heap = made % 10;
            final double x = SIDE * (0.05 + 0.09 * heap) + 15 * around();
            final double z = SIDE * (0.05 + 0.07 * (heap * 7 % 10)) + 15 * around();
            final double y = ground(x, z) + 12 * chance.unit();
            final double[][] points = new double[AXES][AXES];
            for (final double[] point : points) {
                point[0] = x + 1.5 * chance.unit();
                point[1] = y + 1.5 * chance.unit();
                point[2] = z + 1.5 * chance.unit();
            }
            add(points[0], points[1], points[2]);
        }
    }

    /** Returns a number from -1 to 1, more often near 0. */
    private double around() {
        return chance.unit() + chance.unit() - 1;
    }

    private void add(final double[] a, final double[] b, final double[] c) {
        if (made == triangles) {
            throw new IllegalStateException("the shares must leave room: triangles=" + triangles);
        }
        for (int axis = 0; axis < AXES; axis++) {
            final float first = (float) a[axis];
            final float second = (float) b[axis];
            final float third = (float) c[axis];
            corners[CORNER_FLOATS * made + axis] = first;
            corners[CORNER_FLOATS * made + AXES + axis] = second;
            corners[CORNER_FLOATS * made + 2 * AXES + axis] = third;
            boxes[BOX_FLOATS * made + axis] = Math.min(first, Math.min(second, third));
            boxes[BOX_FLOATS * made + BOX_FLOATS / 2 + axis] = Math.max(first, Math.max(second, third));
        }
        made++;
    }

    private void bound() {
        for (int axis = 0; axis < AXES; axis++) {
            float least = Float.POSITIVE_INFINITY;
            float greatest = Float.NEGATIVE_INFINITY;
            for (int i = 0; i < triangles; i++) {
                least = Math.min(least, boxes[BOX_FLOATS * i + axis]);
                greatest = Math.max(greatest, boxes[BOX_FLOATS * i + BOX_FLOATS / 2 + axis]);
            }
            bounds[axis] = least;
            bounds[AXES + axis] = greatest;
        }
    }
}
