package io.outboard.bench.kernels.programs.simulation;

import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The reference pulls the plate on the CPU with the same operations as {@code structure.cu}, so with the same bits, and
 * arrays over nodes. Confined to one thread.
 */
final class StructureReference implements Simulation.Reference {

    private static final int SPRINGS_AT = 16;
    private static final float DIAGONAL = 1.4142135f;
    private static final float STRETCH = 1.06f;
    private static final float LEAST_STRETCH = 1.02f;
    private static final float MORE_STRETCH = 0.1f;
    private static final float STIFFNESS = 0.5f;
    private static final float STEP = 0.25f;
    private static final float DAMPING = 0.995f;
    private static final float PULL = 0.05f;
    private static final int DIRECTIONS = Structure.DIRECTIONS;

    private final int columns;
    private final float[] x;
    private final float[] y;
    private final float[] speedX;
    private final float[] speedY;
    private final boolean[] exists;
    /** Springs are numbered by their first nodes and directions. */
    private final boolean[] holds;

    private final float[] longest;
    private final float[] forceX;
    private final float[] forceY;
    private int step;

    StructureReference(final int columns) {
        this.columns = columns;
        final int nodes = columns * Structure.ROWS;
        x = new float[nodes];
        y = new float[nodes];
        speedX = new float[nodes];
        speedY = new float[nodes];
        exists = new boolean[nodes];
        Arrays.fill(exists, true);
        holds = new boolean[DIRECTIONS * nodes];
        longest = new float[holds.length];
        forceX = new float[holds.length];
        forceY = new float[holds.length];
        for (int node = 0; node < nodes; node++) {
            final int row = node / columns;
            x[node] = node % columns * STRETCH;
            y[node] = row * STRETCH;
        }
        for (int spring = 0; spring < holds.length; spring++) {
            final int column = spring / DIRECTIONS % columns + columnsTo(spring % DIRECTIONS);
            final int row = spring / DIRECTIONS / columns + rowsTo(spring % DIRECTIONS);
            holds[spring] = column >= 0 && column < columns && row < Structure.ROWS;
            final int chance = Dice.value(Dice.next(Dice.seed(spring)));
            longest[spring] = rest(spring) * (LEAST_STRETCH + (chance >>> 8) * (MORE_STRETCH / (1 << 24)));
        }
    }

    private static int columnsTo(final int direction) {
        return direction == 0 || direction == 3 ? 1 : direction == 1 ? -1 : 0;
    }

    private static int rowsTo(final int direction) {
        return direction == 0 ? 0 : 1;
    }

    private static float rest(final int spring) {
        return spring % 2 == 0 ? 1 : DIAGONAL;
    }

    private int second(final int spring) {
        final int direction = spring % DIRECTIONS;
        return spring / DIRECTIONS + rowsTo(direction) * columns + columnsTo(direction);
    }

    /** Returns the spring to a node from the one before it in a direction; negative if there is no such place. */
    private int before(final int node, final int direction) {
        final int column = node % columns - columnsTo(direction);
        final int first = node - rowsTo(direction) * columns - columnsTo(direction);
        return column < 0 || column >= columns || first < 0 ? -1 : first * DIRECTIONS + direction;
    }

    private boolean isFree(final int node) {
        return node / columns != 0 && node / columns != Structure.ROWS - 1;
    }

    private static void each(final boolean[] there, final IntConsumer action) {
        IntStream.range(0, there.length).parallel().filter(i -> there[i]).forEach(action);
    }

    @Override
    public void step() {
        step++;
        each(holds, this::stretch);
        each(exists, this::move);
        if (step % Structure.STEPS_A_SEARCH == 0) {
            final boolean[] reached = reached();
            each(holds, spring -> holds[spring] = reached[spring / DIRECTIONS]);
            each(exists, node -> exists[node] = reached[node]);
        }
    }

    private void stretch(final int spring) {
        final int first = spring / DIRECTIONS;
        final int second = second(spring);
        final float dx = x[second] - x[first];
        final float dy = y[second] - y[first];
        final float length = (float) Math.sqrt(dx * dx + dy * dy);
        holds[spring] = length <= longest[spring];
        final float force = (length - rest(spring)) * STIFFNESS / length;
        forceX[spring] = force * dx;
        forceY[spring] = force * dy;
    }

    private void move(final int node) {
        if (!isFree(node)) {
            y[node] += node < columns ? 0 : PULL;
            return;
        }
        float sumX = 0;
        float sumY = 0;
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            final int after = node * DIRECTIONS + direction;
            if (holds[after]) {
                sumX += forceX[after];
                sumY += forceY[after];
            }
            final int before = before(node, direction);
            if (before >= 0 && holds[before]) {
                sumX -= forceX[before];
                sumY -= forceY[before];
            }
        }
        speedX[node] = (speedX[node] + sumX * STEP) * DAMPING;
        x[node] += speedX[node] * STEP;
        speedY[node] = (speedY[node] + sumY * STEP) * DAMPING;
        y[node] += speedY[node] * STEP;
    }

    /** Returns which nodes springs join to an edge. */
    private boolean[] reached() {
        final boolean[] reached = new boolean[exists.length];
        final int[] waiting = new int[exists.length];
        int count = 0;
        for (int node = 0; node < reached.length; node++) {
            if (!isFree(node)) {
                reached[node] = true;
                waiting[count++] = node;
            }
        }
        while (count > 0) {
            final int node = waiting[--count];
            for (int direction = 0; direction < DIRECTIONS; direction++) {
                final int after = node * DIRECTIONS + direction;
                final int before = before(node, direction);
                final int[] others = {
                    holds[after] ? second(after) : node, before >= 0 && holds[before] ? before / DIRECTIONS : node
                };
                for (final int other : others) {
                    if (!reached[other]) {
                        reached[other] = true;
                        waiting[count++] = other;
                    }
                }
            }
        }
        return reached;
    }

    @Override
    public int[] picture() {
        final int[] picture = new int[Structure.NUMBERS_A_NODE * exists.length];
        for (int node = 0; node < exists.length; node++) {
            if (exists[node]) {
                int seen = 1;
                for (int direction = 0; direction < DIRECTIONS; direction++) {
                    final int before = before(node, direction);
                    seen += holds[node * DIRECTIONS + direction] ? (1 << (1 + direction)) + (1 << SPRINGS_AT) : 0;
                    seen += before >= 0 && holds[before] ? 1 << (1 + DIRECTIONS + direction) : 0;
                }
                picture[Structure.NUMBERS_A_NODE * node] = Float.floatToRawIntBits(x[node]);
                picture[Structure.NUMBERS_A_NODE * node + 1] = Float.floatToRawIntBits(y[node]);
                picture[Structure.NUMBERS_A_NODE * node + 2] = seen;
            }
        }
        return picture;
    }

    @Override
    public long[] counts() {
        return new long[] {countOf(exists), countOf(holds)};
    }

    private static long countOf(final boolean... all) {
        return IntStream.range(0, all.length).filter(i -> all[i]).count();
    }
}
