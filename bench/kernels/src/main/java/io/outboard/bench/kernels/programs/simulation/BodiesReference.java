package io.outboard.bench.kernels.programs.simulation;

import java.util.stream.IntStream;

/**
 * The reference simulates bodies on the CPU with the same operations as {@code bodies.cuh}, so with the same bits.
 * Bodies that have merged into others have no mass. Confined to one thread.
 */
final class BodiesReference implements Simulation.Reference {

    private static final float STEP = 0.005f;
    private static final float SOFTENING = 1e-4f;
    private static final float SCALE = (float) (1L << 44);
    private static final float GRAVITY = 1e-6f;
    private static final int NONE = -1;

    private final float radius;
    private final float[] x;
    private final float[] y;
    private final float[] mass;
    private final float[] speedX;
    private final float[] speedY;
    private final long[] forceX;
    private final long[] forceY;

    /**
     * Makes the bodies at the start.
     *
     * @param radius squared distance below which they merge; negative if never
     */
    BodiesReference(final int bodies, final float radius) {
        this.radius = radius;
        x = new float[bodies];
        y = new float[bodies];
        mass = new float[bodies];
        speedX = new float[bodies];
        speedY = new float[bodies];
        forceX = new long[bodies];
        forceY = new long[bodies];
        for (int i = 0; i < bodies; i++) {
            final int[] state = {Dice.seed(i)};
            x[i] = unit(state);
            y[i] = unit(state);
            mass[i] = unit(state) + 0.5f;
            speedX[i] = (unit(state) - 0.5f) * 0.1f;
            speedY[i] = (unit(state) - 0.5f) * 0.1f;
        }
    }

    private static float unit(final int[] state) {
        state[0] = Dice.next(state[0]);
        return (Dice.value(state[0]) >>> 8) * (1.0f / (1 << 24));
    }

    @Override
    public void step() {
        IntStream.range(0, x.length).parallel().filter(this::lives).forEach(this::attract);
        IntStream.range(0, x.length).filter(this::lives).forEach(this::advance);
        if (radius >= 0) {
            merge(IntStream.range(0, x.length).parallel().map(this::target).toArray());
        }
    }

    private boolean lives(final int body) {
        return mass[body] > 0;
    }

    private void attract(final int body) {
        long sumX = 0;
        long sumY = 0;
        for (int other = 0; other < x.length; other++) {
            if (mass[other] > 0) {
                final float dx = x[other] - x[body];
                final float dy = y[other] - y[body];
                final float force = mass[other] * GRAVITY * (1 / (dx * dx + dy * dy + SOFTENING));
                sumX += whole(force * dx);
                sumY += whole(force * dy);
            }
        }
        forceX[body] = sumX;
        forceY[body] = sumY;
    }

    /**
     * Returns a force in units of 1 / SCALE. An int is too small for a heavy body, as one is that many have merged
     * into.
     */
    static long whole(final float force) {
        return (long) (force * SCALE);
    }

    private void advance(final int body) {
        speedX[body] += forceX[body] * (1.0f / SCALE) * STEP;
        x[body] += speedX[body] * STEP;
        if (x[body] < 0 || x[body] > 1) {
            speedX[body] = -speedX[body];
        }
        speedY[body] += forceY[body] * (1.0f / SCALE) * STEP;
        y[body] += speedY[body] * STEP;
        if (y[body] < 0 || y[body] > 1) {
            speedY[body] = -speedY[body];
        }
    }

    private int target(final int body) {
        int target = NONE;
        if (lives(body)) {
            float most = mass[body];
            int number = body;
            for (int other = 0; other < x.length; other++) {
                final float dx = x[other] - x[body];
                final float dy = y[other] - y[body];
                if (mass[other] > 0
                        && dx * dx + dy * dy < radius
                        && mass[other] >= most
                        && (mass[other] > most || other > number)) {
                    most = mass[other];
                    number = other;
                    target = other;
                }
            }
        }
        return target;
    }

    /**
     * Merges bodies into their targets. A target that has no target itself takes one body, that with the lowest number.
     */
    private void merge(final int... targets) {
        final boolean[] taken = new boolean[x.length];
        for (int body = 0; body < x.length; body++) {
            final int target = targets[body];
            if (target == NONE || targets[target] != NONE || taken[target]) {
                continue;
            }
            taken[target] = true;
            final float mine = mass[body];
            final float its = mass[target];
            final float sum = mine + its;
            speedX[target] = (speedX[target] * its + speedX[body] * mine) / sum;
            speedY[target] = (speedY[target] * its + speedY[body] * mine) / sum;
            mass[target] = sum;
            mass[body] = 0;
        }
    }

    @Override
    public int[] picture() {
        final int[] picture = new int[3 * x.length];
        for (int body = 0; body < x.length; body++) {
            if (lives(body)) {
                picture[3 * body] = Float.floatToRawIntBits(x[body]);
                picture[3 * body + 1] = Float.floatToRawIntBits(y[body]);
                picture[3 * body + 2] = Float.floatToRawIntBits(mass[body]);
            }
        }
        return picture;
    }

    @Override
    public long[] counts() {
        return new long[] {IntStream.range(0, x.length).filter(this::lives).count()};
    }
}
