package io.outboard.bench.kernels.programs.simulation;

import java.util.stream.IntStream;

/**
 * The reference simulates traffic on the CPU with the same steps as {@code traffic.cu}, and arrays over cells. Confined
 * to one thread.
 */
final class TrafficReference implements Simulation.Reference {

    private static final int MOST_SPEED = 5;
    private static final int LIGHTS = 8;
    private static final int NONE = -1;
    private static final int A_CROSSING = 1 + 2 * Traffic.LENGTH;
    private static final int VISITED = 1 << 28;

    private final int width;
    private final boolean[] hasCar;
    private final int[] states;
    private final int[] speeds;
    private final int[] targets;
    private final int[] sourceStates;
    private final boolean[] isSource;
    private final boolean[] isDrain;
    private int step;

    TrafficReference(final int width) {
        this.width = width;
        final int cells = Traffic.cells(width);
        hasCar = new boolean[cells];
        states = new int[cells];
        speeds = new int[cells];
        targets = new int[cells];
        sourceStates = new int[cells];
        isSource = new boolean[cells];
        isDrain = new boolean[cells];
        for (int place = 0; place < cells; place++) {
            sourceStates[place] = Dice.next(Dice.seed(~place));
            final int chance = Dice.below(sourceStates[place], 64);
            isDrain[place] = chance == 0;
            isSource[place] = chance == 1;
        }
    }

    @Override
    public void step() {
        step++;
        IntStream.range(0, hasCar.length)
                .parallel()
                .filter(place -> isSource[place])
                .forEach(this::produce);
        final boolean[] before = hasCar.clone();
        IntStream.range(0, before.length)
                .parallel()
                .filter(place -> before[place])
                .forEach(this::plan);
        IntStream.range(0, before.length)
                .parallel()
                .filter(place -> before[place])
                .forEach(this::drive);
    }

    private void produce(final int place) {
        sourceStates[place] = Dice.next(sourceStates[place]);
        final int chance = Dice.value(sourceStates[place]);
        if (chance >>> 30 == 0 && !hasCar[place]) {
            hasCar[place] = true;
            states[place] = chance;
            speeds[place] = 0;
        }
    }

    private void plan(final int place) {
        final int limit = 3 + Integer.remainderUnsigned(Dice.seed(place), MOST_SPEED - 2);
        final int speed = Math.min(speeds[place] + 1, limit);
        final int[] path = new int[MOST_SPEED];
        int cell = place;
        int way = 0;
        int state = states[place];
        for (; way < speed; way++) {
            int next = next(cell);
            if (isCrossing(cell)) {
                state = Dice.next(state);
                if (Dice.value(state) >>> 31 != 0) {
                    next = cell + 1 + Traffic.LENGTH;
                }
            }
            if (hasCar[next] || (isCrossing(next) && isOpenDownwards(next) != isDownwards(cell))) {
                break;
            }
            path[way] = next;
            cell = next;
        }
        if (way != 0) {
            state = Dice.next(state);
            way -= Dice.below(state, 5) == 0 ? 1 : 0;
        }
        states[place] = state;
        speeds[place] = way;
        targets[place] = way == 0 ? NONE : path[way - 1];
    }

    private void drive(final int place) {
        final int target = targets[place];
        if (target == NONE) {
            return;
        }
        hasCar[place] = false;
        if (!isDrain[target]) {
            hasCar[target] = true;
            states[target] = states[place];
            speeds[target] = speeds[place];
        }
    }

    private static boolean isCrossing(final int place) {
        return place % A_CROSSING == 0;
    }

    private static boolean isDownwards(final int place) {
        return place % A_CROSSING > Traffic.LENGTH;
    }

    /** Returns the cell after a cell; for a crossing, the one to the right. */
    private int next(final int place) {
        final int within = place % A_CROSSING;
        final int crossing = place / A_CROSSING;
        if (within == Traffic.LENGTH) {
            return (crossing / width * width + (crossing + 1) % width) * A_CROSSING;
        }
        if (within == 2 * Traffic.LENGTH) {
            return (crossing + width) % (width * width) * A_CROSSING;
        }
        return place + 1;
    }

    private boolean isOpenDownwards(final int place) {
        return ((step / LIGHTS + Dice.seed(place)) & 1) != 0;
    }

    @Override
    public int[] picture() {
        return IntStream.range(0, hasCar.length)
                .map(place -> hasCar[place] ? (1 | speeds[place] << 1 | (states[place] & 0xffffff) << 4) + VISITED : 0)
                .toArray();
    }

    @Override
    public long[] counts() {
        return new long[] {hasCar.length, countOf(hasCar)};
    }

    private static long countOf(final boolean... all) {
        return IntStream.range(0, all.length).filter(i -> all[i]).count();
    }
}
